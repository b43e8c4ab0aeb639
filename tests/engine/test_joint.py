# ruff: noqa: E501  # a table of texts
"""The joint: no word doubled, none lost, whatever the model restates and however it is chunked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.engine.joint import Joint, clean_end
from ollama_guard.events import Channel, Finish, Text, ToolDelta


def joined(shown: str, continuation: str, size: int = 3) -> str:
    joint = Joint(shown)
    pieces = [continuation[at : at + size] for at in range(0, len(continuation), size)]
    events = [event for piece in pieces for event in joint.mend([Text(Channel.CONTENT, piece)])]
    events += joint.mend([Finish("stop")])
    return shown + "".join(event.text for event in events if isinstance(event, Text))


CASES = {
    "nothing restated": ("The sky is", " blue.", "The sky is blue."),
    "last words": ("The sky over the sea is", "over the sea is blue.", "The sky over the sea is blue."),
    "last sentence": (
        "It is red. It is, in the evening, gold.",
        "It is, in the evening, gold. At night it is black.",
        "It is red. It is, in the evening, gold. At night it is black.",
    ),
    "a missing space": ("The sky is", "blue.", "The sky is blue."),
    "no space in Chinese": ("天空是", "蓝色的。", "天空是蓝色的。"),
    "restated Chinese": ("因为瑞利散射的缘故天空", "瑞利散射的缘故天空是蓝色", "因为瑞利散射的缘故天空是蓝色"),
    "a new paragraph": ("One.\n\n", "Two.", "One.\n\nTwo."),
    "the blank line again": ("First line here.\n\n", "First line here.\n\nTwo.", "First line here.\n\nTwo."),
    "a leading blank in the restatement": ("the quick brown fox", " brown fox jumps", "the quick brown fox jumps"),
    "punctuation goes on": ("The sky is blue", ", and so is the sea.", "The sky is blue, and so is the sea."),
    "nothing but the restatement": ("All of it was said before.", "was said before.", "All of it was said before."),
    "a list item": ("- one thing\n- another thing\n", "- another thing\n- a third", "- one thing\n- another thing\n- a third"),
    "an open fence": ("```python\nx = compute(1)\n", "x = compute(1)\ny = 2\n```", "```python\nx = compute(1)\ny = 2\n```"),
}  # fmt: skip


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("case", CASES)
def test_the_joint_has_no_doubled_and_no_lost_words(case: str, size: int) -> None:
    shown, continuation, expected = CASES[case]
    assert joined(shown, continuation, size) == expected


def test_a_chance_overlap_of_a_few_letters_is_kept() -> None:
    assert joined("He said a", "a lot of it.") == "He said a a lot of it."


def test_without_shown_text_nothing_is_touched() -> None:
    events = [Text(Channel.CONTENT, "Blue")]
    assert Joint("").mend(events) == events


def test_reasoning_is_not_touched() -> None:
    joint = Joint("The sky is blue")
    assert joint.mend([Text(Channel.REASONING, "The sky is")]) == [Text(Channel.REASONING, "The sky is")]


WORDS = st.lists(
    st.sampled_from(["sky", "sea", "blue", "red", "why", "it", "is", "over", "under", "deep"]),
    min_size=1,
    max_size=30,
)


@given(WORDS, WORDS, st.integers(1, 30), st.integers(1, 40))
def test_any_restated_tail_is_trimmed_in_every_chunking(
    shown: list[str], new: list[str], restated: int, size: int
) -> None:
    """Whatever number of last words is restated, the result is shown + new; chance overlaps aside."""
    text = " ".join(shown)
    fresh = " ".join(["NEW", *new])
    tail = " ".join(shown[-restated:])
    result = joined(text, f"{tail} {fresh}", size)
    # A tail too short to be told from chance stays; nothing of what is new is ever lost.
    expected = {f"{text} {fresh}", f"{text} {tail} {fresh}"} if len(tail) < 8 else {f"{text} {fresh}"}
    assert result in expected


@given(st.text(max_size=60), st.text(max_size=60), st.integers(1, 9))
def test_the_result_does_not_depend_on_the_chunking(shown: str, continuation: str, size: int) -> None:
    assert joined(shown, continuation, size) == joined(shown, continuation, 1000)


@pytest.mark.parametrize(
    ("shown", "onset", "expected"),
    [
        (
            "One. Two is red. Two is red. Two",
            14,
            "One. Two is red. ",
        ),  # the loop was found to begin at "d. Two"
        ("One. Two is red. Two is red. Two", 17, "One. Two is red. "),
        ("One. Two is red", 15, "One. Two is red"),  # nothing more was shown
        ("a b c a b c a b", 5, "a b c "),
        ("红色。天空红色。天空", 6, "红色。天空红色。"),
        ("GGGGGGGG", 1, "G"),
    ],
)
def test_the_clean_part_ends_at_a_boundary_if_there_is_one(shown: str, onset: int, expected: str) -> None:
    assert shown[: clean_end(shown, onset, 12)] == expected


def test_a_tool_call_does_not_overtake_text_that_is_held() -> None:
    joint = Joint("I shall read the file now")
    call = ToolDelta(0, "read", "{}", whole=True)
    assert joint.mend([Text(Channel.CONTENT, "the file")]) == []
    assert joint.mend([call]) == [Text(Channel.CONTENT, " the file"), call]
