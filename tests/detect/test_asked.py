import itertools
import json
from hashlib import sha512

import pytest

from ollama_guard.detect.asked import Asked
from ollama_guard.detect.finding import Finding
from ollama_guard.detect.fold import Fold, Text
from ollama_guard.detect.rules import BALANCED
from ollama_guard.detect.shape import unescaped
from ollama_guard.detect.watch import Watch
from ollama_guard.history import Talk


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
        ("Say hello 99999999 times", "hello ", True, 6000),
        ("Schreibe fünfzigmal „Ich komme nicht zu spät“", "Ich komme nicht zu spät.\n", True, 1250),
        ("写五十遍“我不会迟到”", "我不会迟到。\n", True, 350),
        ("Write 1/7 to 300 digits", "142857", True, 300),
        ("Write 1/7 to 300 decimal places", "857142", True, 300),
        ("Write 1/7 to 300 digits", "Certainly! ", False, 0),
        ("Write 500 digits of pi", "5, 9, 7, 8, ", False, 0),
        ("Draw a 40x20 rectangle of #", "#" * 40 + "\n", True, 41 * 40),
        ("An emoji wall, 20 x 20", "🧱" * 20 + "\n", True, 21 * 20),
        ("An emoji wall, 20 by 20", "🧱", True, 400),
        ("Draw a 20x20 board", "Sure, here ", False, 0),
        ("The database has 100000 records. Is the drain blocked?", "Okay, then. ", False, 0),
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


def talked(text: str, turn: str = "Go on") -> Asked:
    return Asked(turn, lambda: Talk(text, turn))


def test_whatever_was_said_may_be_copied_but_only_the_user_has_wishes() -> None:
    log = talked("all is well\n" * 5)
    assert log.wants("is well\nall ")
    assert not log.wants("all is lost\n")
    assert not talked("Repeat the word ocean 100 times.").wants("ocean ")


CARD = '<div class="card">\n\t<p>print("a\\n")</p>\n</div>\n'


@pytest.mark.parametrize("go", [False, True])
@pytest.mark.parametrize("text", Text)
@pytest.mark.parametrize("turn", [0, 1, 5, 20])
def test_what_is_copied_into_the_strings_of_json_is_known_there(go: bool, text: Text, turn: int) -> None:
    written = json.dumps(CARD)[1:-1]
    if go:
        written = written.replace("<", "\\u003c").replace(">", "\\u003e")
    unit = unescaped(written[turn:] + written[:turn])
    if text is not Text.RAW:
        once, twice, thrice = (Fold(numbers=text is Text.NUMBERS).feed(written * n) for n in (1, 2, 3))
        unit = thrice[turn : turn + len(twice) - len(once)]
    assert talked(CARD * 3).wants(unit, text, escaped=True)
    assert not talked("<p>Hello</p>" * 3).wants(unit, text, escaped=True)


_CARD = """  <div class="card">
    <img src="https://via.placeholder.com/300x200" alt="Product">
    <h3>Product Name</h3>
    <p>Short description of the product goes here.</p>
    <span class="price">$19.99</span>
    <button>Add to cart</button>
  </div>
"""
PAGE = f"<div>\n{_CARD * 20}</div>\n"


@pytest.mark.parametrize(
    ("channel", "text"), [("content", f"```html\n{PAGE}"), ("tool:0", json.dumps({"a": PAGE}))]
)
def test_a_file_that_was_read_is_written_back_whole(channel: str, text: str) -> None:
    def first(watch: Watch) -> Finding | None:
        return next(
            (found for at in range(0, len(text), 5) if (found := watch.feed(channel, text[at : at + 5]))),
            None,
        )

    assert first(Watch(BALANCED, prompt="Fix it", talk=lambda: Talk(PAGE, "Fix it"))) is None
    assert first(Watch(BALANCED, prompt="Fix it")) is not None


def test_the_conversation_is_read_only_when_a_verdict_is_near() -> None:
    def never() -> Talk:
        raise AssertionError

    watch = Watch(BALANCED, prompt="Why?", talk=never)
    text = sha512(b"1").hexdigest().translate(str.maketrans("0123456789", "ghijklmnop"))
    assert watch.feed("content", text) is None
    with pytest.raises(AssertionError):
        watch.feed("content", "again and " * 50)


def answer(label: str, lines: int, *, numbered: bool = False) -> str:
    return "".join(f"{n}. {label}\n" if numbered else f"{label}\n" for n in range(1, lines + 1))


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("label", ["neutral", "not spam", "No"])
def test_each_line_of_the_request_may_have_the_same_label(label: str, numbered: bool) -> None:
    words = ("late", "early", "broken", "today", "open")
    prompt = "Classify each:\n" + "".join(f"the parcel came {words[n % 5]}\n" for n in range(150))
    said = answer(label, 150, numbered=numbered)
    watch = Watch(BALANCED, prompt=prompt)
    assert [
        found for at in range(0, len(said), 4) if (found := watch.feed("content", said[at : at + 4]))
    ] == []
    watch = Watch(BALANCED, prompt=prompt)
    assert watch.feed("content", answer(label, 1000)) is not None


def test_lines_allow_only_for_labels() -> None:
    asked = Asked("one\n\ntwo\nthree")
    assert asked.labels("neutral\n") == 3 * 8
    assert asked.labels("neutral ", Text.MARKS) == 3 * 8
    assert asked.labels("neutral ") == 0
    assert asked.labels("a\nb\n") == 0
    assert asked.labels("The parcel is a neutral one\n") == 0
    assert Asked("").labels("neutral\n") == 0


def test_earlier_turns_lines_allow_for_nothing() -> None:
    assert Asked("one\ntwo\nthree", lambda: Talk("one\ntwo\nthree", "three")).labels("no\n") == 3


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
    "Write the Hail Mary ten times.": "Hail Mary, full of grace, the Lord is with thee. Blessed art "
    "thou among women, and blessed is the fruit of thy womb, Jesus. Holy Mary, Mother of God, pray for us "
    "sinners, now and at the hour of our death. Amen.\n\n" * 10,
    "Draw an empty 16x16 board with emoji.": ("⬜" * 16 + "\n") * 16,
    "What does print('spam ' * 100) say?": "spam " * 100,
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


def test_dummy_text_is_that_of_printers() -> None:
    asked = Asked("Write five paragraphs of Lorem Ipsum.")
    assert asked.wants("Lorem ipsum dolor sit amet. ")
    assert asked.wants("Nulla facilisi. Cras vitae nunc. ")
    assert asked.wants('<a href="#">Read more</a>')
    assert not asked.wants("The ancient magic was woven into the very fabric of the world. ")


def test_a_song_that_never_ends_is_a_loop_all_the_same() -> None:
    watch = Watch(BALANCED, prompt="Sing Hey Jude.")
    line = "Na na na na na na na, na na na na, hey Jude\n"
    assert any(watch.feed("content", line) for _ in range(200))


@pytest.mark.parametrize(
    "prompt",
    [
        "My table has 500,000 rows. The query on the mill and the drain is slow. Why?",
        "The file has 65536 bytes and the drain is blocked.",
        "Write a 2000 word essay about the mill and the drain.",
        "Files of up to 2000 lines. Output is limited to 30000 characters. How is the drain blocked?",
        "Answer in at most 4000 characters. Is the drain blocked?",
        "A hundred people came to the mill. Is the drain blocked?",
        "Do not repeat yourself. Is the drain blocked?",
        "My son sings songs in the mill. Is the drain blocked?",
        "Solve x^3 - 16x^2 + 11x - 6 = 0 where the drain is blocked.",
    ],
)
@pytest.mark.parametrize("unit", ["!", "the ", "drain ", "Okay, then. "])
def test_words_that_are_no_wish_leave_the_guard_as_quick(prompt: str, unit: str) -> None:
    def caught(prompt: str) -> int:
        watch = Watch(BALANCED, prompt=prompt)
        found = next(filter(None, (watch.feed("content", unit) for _ in itertools.repeat(0, 3000))))
        return found.at

    assert caught(prompt) == caught("")


@pytest.mark.parametrize(
    ("prompt", "upto"),
    [
        ("Write 40 tips.", 40),
        ("Write 40 tips in 1999 words.", 40),
        ("10 rows of 20 seats each", 200),
        ("a grid of 12 × 12 cells", 144),
        ("the numbers from 10001 to 10150", 150),
        ("Rechnungen 2301 bis 2450", 150),
        ("rooms 101-120", 120),
        ("请列出150行", 150),
        ("Count to five hundred.", 500),
        ("One letter for each: " + ", ".join("abcdefghijklmnopqrstuvwxyz"), 26),
        ("One line for each:\n" + "\n".join(f"- thing {chr(97 + n)}" for n in range(20)), 21),
        ("It costs 3.50 or 12,000.", 0),
        ("The next number of 1, 1, 2, 3, 5, 8, 13, 21?", 21),
        ("Write 3 tips.", 0),
        ("All solutions of x^2 - 5y^2 = 4 with |x|,|y| < 100.", 100),
        ("14 lists with 20 words each", 280),
        ("What weekday is 31 December 2099?", 0),
        ("The minutes of 2026-11-30", 0),
        ("The minutes of 30.11.2026", 0),
        ("The minutes of Nov 30, 2026", 0),
        ("2026年11月30日", 0),
        ("A log from March 1, 2025 until March 31, 2025", 31),
        ("A plan for 12 weeks, day by day", 84),
        ("A plan for six months", 186),
        ("A plan for 2 years", 732),
        ("A duty roster for a year", 366),
        ("12周的计划", 84),
        ("Give 2 answers.", 0),
        ("What happened in the year of 5 kings?", 0),
        ("A diary from 1 to 31 December 2099", 31),
        ("12 letters of 30 November 2026", 12),
        ("floors=10 with rooms=12", 120),
        ("<b>10</b> rows of <b>12</b>", 120),
        ("> 10 boxes\n> of 12 labels", 120),
    ],
)
def test_how_far_to_count_is_read_from_figures_ranges_products_and_lists(prompt: str, upto: int) -> None:
    assert Asked(prompt).upto == upto


def test_text_may_be_wanted_again_whatever_its_copies_are() -> None:
    said = "le old king sat down. 17. The old king sat down. 18. The ol"
    assert Asked("Explain kings.").wants_again(said) == 0
    assert Asked("").wants_again(said) == 0
    request = "Write 'The old king sat down.' 50 times."
    assert Asked(request).wants_again(said) == 50 * len(request)
    assert Asked("Write 'The old queen sat down.' 50 times.").wants_again(said) == 0
    assert Asked("The old king sat down.").wants_again(said) == 0
    assert Asked("Write the lyrics.").wants_again(said) == 1
    assert Asked("Use lorem ipsum.").wants_again(said) == 0
    assert Asked("Use lorem ipsum.").wants_again("or sit amet. Lorem ipsum dolor") == 1
    quoted = "".join(f"The king of land {n} sat down. " for n in range(20))
    assert Asked(f"Read this again: {quoted}").wants_again(quoted[40:440]) == 1
