"""What each of the known rules catches, and what it misses or stops by mistake."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.evaluate.detector import Hit
from ollama_guard.evaluate.peers import PEERS
from ollama_guard.evaluate.peers.consecutive import Consecutive

SENTENCE = "I will look at the file once more, and then I will be done. "  # 60 characters


def words(count: int, seed: int = 1) -> str:
    dice = random.Random(seed)
    made = (
        "".join(dice.choice("aeiou" if i % 2 else "bdklmnprst") for i in range(dice.randint(3, 9)))
        for _ in range(count)
    )
    return " ".join(made)


def play(name: str, text: str, *, channel: str = "content", delta: int = 4) -> Hit | None:
    detector = PEERS[name].make()
    for begin in range(0, len(text), delta):
        hit = detector.feed(channel, text[begin : begin + delta])
        if hit is not None:
            return hit
    return None


PARAGRAPH = words(60)[:300] + "\n"
LONG = words(700, 2)[:3000] + "\n"

CATCHES = [
    ("regex", SENTENCE * 4, "content"),
    ("regex", "Okay then. Okay then! Okay then - okay then? " * 3, "reasoning"),
    ("reversed-z", PARAGRAPH * 2, "content"),
    ("reversed-z", LONG * 2 + LONG[:50], "tool:0"),
    ("ten-units", "court " * 12, "reasoning"),
    ("ten-units", "```\n" + "x = 1\n" * 60, "content"),
    ("chunks-250", SENTENCE * 15, "content"),
    ("chunks-75", SENTENCE * 15, "reasoning"),
    ("chunks-75", PARAGRAPH * 8, "content"),
    ("ratio", PARAGRAPH * 6, "tool:0"),
    ("ratio", "".join(f"Step {n}: check the value again.\n" for n in range(60)), "content"),
    ("equal-30", "abcd" * 31, "content"),
    ("equal-100", "abcd" * 101, "content"),
    ("blocks-exact", SENTENCE * 6, "reasoning"),
    ("blocks-exact", PARAGRAPH * 6, "content"),
    ("blocks-calm", PARAGRAPH * 6, "reasoning"),
    ("blocks-calm", words(800)[:4000] + SENTENCE * 60, "content"),
]
MISSES = [
    ("regex", PARAGRAPH * 10, "content"),  # a unit over 200
    ("regex", SENTENCE * 10, "tool:0"),  # it does not look there
    ("reversed-z", "".join(f"Step {n}: check the value again and again.\n" for n in range(99)), "content"),
    ("ten-units", (words(30)[:120] + " ") * 30, "content"),  # a unit over 80
    ("chunks-250", PARAGRAPH * 30, "content"),  # a unit over 250
    ("chunks-250", SENTENCE * 30, "reasoning"),  # it does not look there
    ("chunks-250", "- Check the cable first of all, please.\n- Then restart the router.\n" * 30, "content"),
    ("chunks-75", f"```\n{SENTENCE * 30}", "content"),  # a fence that is never closed
    ("ratio", words(1000), "content"),
    ("equal-30", SENTENCE * 100, "content"),  # the deltas differ
    ("blocks-exact", "?!" * 2000, "reasoning"),  # neither letter nor pictograph
    ("blocks-exact", LONG * 6, "reasoning"),  # a unit over 1,024
    ("blocks-calm", SENTENCE * 12, "content"),  # too early for it
]
FALSE = [
    ("regex", "=" * 120, "content"),
    ("reversed-z", "0.000000000000000000000", "content"),
    ("ten-units", "Chapter one . . . . . . . . . . . . . 12", "content"),
    (
        "chunks-75",
        "".join(f"projects/acme-production/locations/europe-west4/instances/{n}\n" for n in range(20)),
        "content",
    ),
    ("ratio", "".join(f'  {{"id": {n}, "name": "user"}},\n' for n in range(40)), "content"),
    ("equal-30", "V" * 124, "content"),
    ("blocks-exact", "I must not talk in class.\n" * 12, "content"),
]


@pytest.mark.parametrize(("name", "text", "channel"), CATCHES)
def test_catches(name: str, text: str, channel: str) -> None:
    hit = play(name, text, channel=channel)
    assert hit is not None
    assert 0 < hit.at <= len(text)


@pytest.mark.parametrize(("name", "text", "channel"), MISSES)
def test_misses(name: str, text: str, channel: str) -> None:
    assert play(name, text, channel=channel) is None


@pytest.mark.parametrize(("name", "text", "channel"), FALSE)
def test_stops_what_is_healthy(name: str, text: str, channel: str) -> None:
    assert play(name, text, channel=channel) is not None


@pytest.mark.parametrize("name", PEERS)
def test_leaves_prose_alone_but_for_nothing(name: str) -> None:
    for channel in ("content", "reasoning", "tool:0"):
        assert play(name, words(1500, 3), channel=channel) is None


@pytest.mark.parametrize("name", [name for name in PEERS if not name.startswith("equal")])
def test_channels_are_judged_apart(name: str) -> None:
    detector = PEERS[name].make()
    for channel in ("reasoning", "content"):
        assert detector.feed(channel, words(20, 5)) is None


def test_three_equal_deltas_of_thought_are_enough_for_one() -> None:
    assert play("chunks-75", "Hm.Hm.Hm.", channel="reasoning", delta=3) is not None
    assert play("chunks-75", "Hm.Hm.Hm.", channel="reasoning", delta=4) is None


def test_the_breaker_of_equal_deltas_depends_on_how_the_text_was_split() -> None:
    text = "go on " * 100
    assert play("equal-30", text, delta=6) is not None
    assert play("equal-30", text, delta=4) is None


def test_a_threshold_in_the_wrong_place_counts_one_too_few() -> None:
    assert play("equal-30", "abcd" * 30) is None
    hit = play("equal-30", "abcd" * 31)
    assert hit is not None
    assert (hit.at, hit.repeats) == (124, 31)


LITERAL = re.compile(r"(.{8,200})\1{2,}", re.DOTALL)


@given(
    st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=6),
    st.lists(st.integers(0, 5), max_size=40),
    st.integers(1, 9),
)
def test_following_runs_is_the_regular_expression(parts: list[str], order: list[int], delta: int) -> None:
    """At the same delta as the search on the last 4,096 (letters alone: each unit has its core)."""
    text = "".join(parts[index % len(parts)] for index in order) * 2
    ends = [min(end, len(text)) for end in range(delta, len(text) + delta, delta)]
    expected = next((end for end in ends if LITERAL.search(text[max(0, end - 4096) : end])), None)
    watch = Consecutive(answer=False)
    pieces = (text[begin : begin + delta] for begin in range(0, len(text), delta))
    hit = next((hit for piece in pieces if (hit := watch.feed(piece))), None)
    assert (hit.at if hit else None) == expected
