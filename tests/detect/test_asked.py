import pytest

from ollama_guard.detect.asked import Asked
from ollama_guard.detect.fold import Text
from ollama_guard.detect.rules import BALANCED
from ollama_guard.detect.watch import Watch


@pytest.mark.parametrize(
    ("prompt", "unit", "wants", "allowance"),
    [
        ("", "spam ", False, 0),
        ("Tell me a story.", "spam ", False, 0),
        ("Write 'I must not talk' 100 times", "I must not talk\n", True, 1600),
        ("Write 'I must not talk' one hundred times", "I must not talk\n", True, 1600),
        ("Write 'I must not talk' a thousand times", "I must not talk\n", True, 16_000),
        ("Say hello 1,000 times", "hello ", True, 6000),
        ("Say hello forever", "hello ", True, 0),
        ("Repeat the word ocean", "ocean ", True, 0),
        ("请重复“你好”", "你好", True, 0),
        ("把“好”写50遍", "好", True, 50),
        ("Print 600 zeros", "0", True, 600),
        ("Give me 600 random bases", "ATCG", True, 600),
        ("Write 'I must not talk' 100 times", "Something else\n", False, 1600),
        ("Retry up to 3 times and tell me", "Let me check. ", False, 0),
        ("Say nothing in a hundred words", "Let me check that again. ", False, 0),
        ("Say hello 99999999 times", "hello ", True, 600_000),
    ],
)
def test_a_wish_is_read_from_the_request(prompt: str, unit: str, wants: bool, allowance: int) -> None:
    asked = Asked(prompt)
    assert asked.wants(unit) is wants
    if wants:
        assert asked.allowance(unit) == allowance


def test_what_stands_repeated_in_the_prompt_may_be_copied_at_any_phase() -> None:
    asked = Asked("A log:\n" + "all is well\n" * 5)
    assert asked.wants("is well\nall ")
    assert asked.wants("all is well ", Text.MARKS)
    assert not asked.wants("all is lost\n")


def test_a_log_with_numbers_is_known_again_when_numbers_are_folded() -> None:
    asked = Asked("".join(f"job {n} done\n" for n in range(5)))
    assert not asked.wants("job 0 done\n")
    assert asked.wants("job 0 done ", Text.NUMBERS)


def test_a_wish_far_back_in_the_conversation_is_over() -> None:
    assert not Asked("Repeat the word ocean forever." + " more talk about other things" * 500).wants("ocean ")


REPEATED_BY_NATURE = {
    "Write the chant Om mani padme hum, thirty times.": "Om mani padme hum. " * 30,
    "Write the lyrics of Around the World by Daft Punk.": "Around the world, around the world\n" * 20,
    "Sing Hey Jude.": "Na na na na na na na, na na na na, hey Jude\n" * 10,
    "Show what ping prints when the host is down, 20 packets.": "Request timed out.\n" * 20,
    "Guide me through box breathing, 8 rounds.": "Inhale, four counts. Hold. Exhale, four counts. Hold.\n"
    * 8,
    "Give me 5 paragraphs of lorem ipsum.": "Lorem ipsum dolor sit amet, consectetur adipiscing elit, "
    "sed do eiusmod tempor incididunt ut labore et dolore magna aliqua. " * 5,
    "Write a NOP sled of 64 instructions.": "    nop\n" * 64,
}


@pytest.mark.parametrize("prompt", REPEATED_BY_NATURE)
def test_what_repeats_by_its_nature_is_left_alone_when_it_was_asked_for(prompt: str) -> None:
    watch = Watch(BALANCED, prompt=prompt)
    text = REPEATED_BY_NATURE[prompt] + "\nThat is all of it."
    assert [
        found for at in range(0, len(text), 4) if (found := watch.feed("content", text[at : at + 4]))
    ] == []


@pytest.mark.parametrize("prompt", ["A train goes 240 km in 3 hours. How fast?", "How long are 60 minutes?"])
def test_a_time_in_the_question_asks_for_no_repetition(prompt: str) -> None:
    assert not Asked(prompt).wants("Wait, let me check that once more. ")


def test_a_song_that_never_ends_is_a_loop_all_the_same() -> None:
    watch = Watch(BALANCED, prompt="Sing Hey Jude.")
    line = "Na na na na na na na, na na na na, hey Jude\n"
    assert any(watch.feed("content", line) for _ in range(200))
