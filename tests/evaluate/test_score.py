import pytest

from ollama_guard.evaluate.detector import Hit
from ollama_guard.evaluate.play import Played
from ollama_guard.evaluate.samples import HEALTHY, Label, Truth
from ollama_guard.evaluate.score import Score, percentile


def played(label: Label, at: int | None, group: str = "runs", name: str = "x") -> Played:
    hit = None if at is None else Hit("rule", at)
    return Played("toy", name, group, label, hit, "", 100, at or 100, 25, 0.0001)


def loop(period: int, onset: int = 50, kind: str = "exact") -> Label:
    return Label(Truth.LOOP, kind, onset, onset - 10, period)


@pytest.fixture
def score() -> Score:
    """Eight texts: 4 loops (one missed, one stopped too early), 3 healthy (one stopped), 1 gray."""
    made = Score("toy")
    for one in (
        played(loop(10), 70),
        played(loop(4), 45),
        played(loop(50), None, name="lost"),
        played(loop(300, kind="drift"), 20),
        played(HEALTHY, None),
        played(HEALTHY, 7, "content", "stopped"),
        played(HEALTHY, None, "content"),
        played(Label(Truth.GRAY, "exact"), 9),
    ):
        made.add(one)
    return made


def test_loops_are_counted_as_caught_missed_and_stopped_too_early(score: Score) -> None:
    assert (score.loops.runs, score.loops.caught, score.premature) == (4, 2, 1)
    assert [one.name for one in score.missed] == ["lost"]
    assert score.loops.recall == 0.5


def test_recall_is_kept_by_kind_and_by_length_of_unit(score: Score) -> None:
    assert {kind: (c.runs, c.caught) for kind, c in score.kinds.items()} == {"exact": (3, 2), "drift": (1, 0)}
    bands = {band: (c.runs, c.caught) for band, c in score.bands.items()}
    assert bands == {"1-40": (2, 2), "41-200": (1, 0), "201-1000": (1, 0)}


def test_delays_are_in_characters_and_in_copies_and_may_be_early(score: Score) -> None:
    assert sorted(score.loops.chars) == [-5, 20]
    assert sorted(score.loops.copies) == [-1.25, 2.0]
    assert score.loops.early == 1


def test_false_verdicts_are_those_on_healthy_texts_and_before_a_loop(score: Score) -> None:
    assert score.false_total == 2
    assert score.false_rules == {"rule": 2}
    assert {group: (h.texts, h.stopped) for group, h in score.healthy.items()} == {
        "runs": (1, 0),
        "content": (2, 1),
    }
    assert score.healthy["content"].per_10k == 5000


def test_gray_runs_are_neither(score: Score) -> None:
    assert (score.gray, score.gray_stopped) == (1, 1)


def test_time_is_per_delta(score: Score) -> None:
    assert score.per_delta == pytest.approx(4.0)
    assert Score("none").per_delta == 0


def test_percentiles_are_nearest_rank() -> None:
    values = [15, 20, 35, 40, 50]
    assert [percentile(values, share) for share in (0.05, 0.3, 0.4, 0.5, 1.0)] == [15, 20, 20, 35, 50]
    assert percentile([7], 0.9) == 7
    assert percentile([], 0.5) is None


def test_the_list_of_false_verdicts_is_bounded_but_the_count_is_not() -> None:
    score = Score("toy")
    for _ in range(1500):
        score.add(played(HEALTHY, 3))
    assert (len(score.false), score.false_total) == (1000, 1500)
