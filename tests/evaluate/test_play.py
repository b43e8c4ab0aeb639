import pytest

from ollama_guard.detect.rules import BALANCED
from ollama_guard.evaluate.detector import Guard
from ollama_guard.evaluate.play import play
from ollama_guard.evaluate.samples import HEALTHY, Label, Sample, Truth

from .toy import Finds

LOOP = Label(Truth.LOOP, "exact", onset=10, begins=8, period=2)


def sample(text: str, label: Label = HEALTHY) -> Sample:
    return Sample("s", "runs", "content", text, label)


def test_playing_ends_at_the_first_verdict() -> None:
    played = play(sample("abcdefgh#jklmnop"), "toy", Finds("#"))
    assert played.hit is not None
    assert (played.hit.at, played.deltas, played.chars, played.size) == (12, 3, 12, 16)
    assert played.place == "s:1"


def test_a_text_without_a_verdict_is_played_to_its_end() -> None:
    played = play(sample("abcdefg"), "toy", Finds("#"), 2)
    assert (played.hit, played.deltas, played.chars, played.place) == (None, 4, 7, "")
    assert not played.false
    assert not played.caught


@pytest.mark.parametrize(
    ("marker_at", "false", "caught"),
    [(3, True, False), (6, True, False), (7, False, True), (14, False, True)],
)
def test_a_verdict_before_the_text_degenerates_is_false(marker_at: int, *, false: bool, caught: bool) -> None:
    text = "." * marker_at + "#" + "." * (20 - marker_at)
    played = play(sample(text, LOOP), "toy", Finds("#"), 1)
    assert (played.false, played.caught) == (false, caught)


def test_any_verdict_on_a_healthy_text_is_false_and_none_on_a_gray_one() -> None:
    assert play(sample("a#"), "toy", Finds("#")).false
    gray = play(sample("a#", Label(Truth.GRAY)), "toy", Finds("#"))
    assert not gray.false
    assert not gray.caught


def test_the_guard_is_the_watch_of_the_proxy() -> None:
    text = "All is well here. " + "I will look at the file once more. " * 40
    played = play(sample(text), "guard", Guard(BALANCED))
    assert played.hit is not None
    assert played.hit.rule == "periodic"
    assert played.hit.unit in "I will look at the file once more. " * 3
    assert played.hit.onset is not None
    assert 18 <= played.hit.onset <= played.hit.at


def test_the_guard_is_told_what_was_asked_for() -> None:
    text = "I must not talk in class.\n" * 100
    asked = "Write 'I must not talk in class.' a hundred times."
    assert play(sample(text), "guard", Guard(BALANCED)).hit is not None
    assert play(sample(text), "guard", Guard(BALANCED, asked)).hit is None
