"""What the detectors do for a text, counted rather than timed: bounds that hold on any machine."""

from collections import Counter
from collections.abc import Callable

import pytest

from ollama_guard.detect import tracker
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.rules import BALANCED
from ollama_guard.detect.tracker import CANDIDATES, FAR, NEAR, Tracker
from ollama_guard.detect.watch import Watch
from tests.bench.hostile import TEXTS
from tests.detect.material import words

SIZE = 6000
SEARCHES = 300
"""In a thousand characters, all families: 125, but for letters that fold to two (208) or three (292)."""


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts searches, runs measured and units judged."""
    counts: Counter[str] = Counter()

    def counting(name: str, call: Callable[..., object]) -> Callable[..., object]:
        def counted(*given: object, **named: object) -> object:
            counts[name] += 1
            return call(*given, **named)

        return counted

    monkeypatch.setattr(tracker, "common_suffix", counting("measured", tracker.common_suffix))
    monkeypatch.setattr(Tracker, "_search", counting("searches", Tracker._search))
    monkeypatch.setattr(Measure, "goal", counting("judged", Measure.goal))
    return counts


def feed(text: str) -> int:
    """Characters taken in up to the verdict."""
    watch = Watch(BALANCED)
    for begin in range(0, len(text), 16):
        if watch.feed("content", text[begin : begin + 16]) is not None:
            return begin + 16
    return len(text)


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_text_makes_no_more_work_than_so_much_a_character(name: str, work: Counter[str]) -> None:
    fed = feed(TEXTS[name](SIZE)[:SIZE])
    each_thousand = {what: count * 1000 / fed for what, count in work.items()}
    assert each_thousand["searches"] <= SEARCHES
    assert each_thousand.get("measured", 0) <= 450  # 1,125 with all candidates of all searches
    assert each_thousand.get("judged", 0) <= 150


def test_the_bound_of_runs_measured_is_that_of_candidates(work: Counter[str]) -> None:
    feed(TEXTS["thue-morse"](SIZE))
    assert 500 < work["measured"] <= 3 * CANDIDATES * (SIZE / NEAR.stride + SIZE / FAR.stride)


def test_prose_without_repetition_is_searched_and_no_more(work: Counter[str]) -> None:
    feed(words(SIZE))
    assert work["searches"] > 2 * SIZE / NEAR.stride
    assert work["measured"] <= 20
    assert work["judged"] == 0


def test_the_request_is_not_read_before_a_verdict_is_near() -> None:
    watch = Watch(BALANCED, prompt="Write it 100 times. " * 500)
    watch.feed("content", words(3000))
    assert set(vars(watch._asked)) == {"_tail", "_talk_of", "_forms"}
    assert watch._asked._forms == {}
