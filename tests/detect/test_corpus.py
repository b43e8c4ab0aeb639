"""The recorded runs of real models, played delta by delta through the watch that the proxy uses."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ollama_guard.detect.finding import Finding
from ollama_guard.detect.rules import BALANCED
from ollama_guard.detect.watch import Watch

FOLDER = Path(__file__).parents[3] / "shared" / "corpus"
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not (FOLDER / "labels.jsonl").exists(), reason="no corpus beside the project"),
]
DELTAS_A_SECOND = 30
"""What delays of held-back text are reckoned with."""


@dataclass(frozen=True)
class Played:
    label: dict[str, Any]
    finding: Finding | None
    unseen: int | None  # where the text begins that was held back up to the verdict
    held: int  # deltas that were suspicious, all together

    @property
    def delay(self) -> int:
        assert self.finding is not None
        return self.finding.at - int(self.label["loop_onset"])

    @property
    def seen(self) -> int:
        """Characters of repetition that went out before it was held back."""
        assert self.finding is not None
        return (self.finding.at if self.unseen is None else self.unseen) - int(self.label["loop_onset"])

    @property
    def limit(self) -> int:
        period = int(self.label["period"])
        if period <= 40:
            return 250
        return period * (4 if period <= 200 else 3 if period <= 1000 else 2)


def lines(name: str) -> Iterator[dict[str, Any]]:
    with (FOLDER / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def play(run: dict[str, Any], label: dict[str, Any]) -> Played:
    prompt = (
        run["prompt"] if isinstance(run["prompt"], str) else json.dumps(run["prompt"], ensure_ascii=False)
    )
    channel = "reasoning" if run["channel"] == "reasoning" else "content"
    watch, place, held, suspected, finding = Watch(BALANCED, prompt=prompt), 0, 0, None, None
    for size in run["chunks"]:
        finding = watch.feed(channel, run["text"][place : place + size])
        place += size
        if finding is not None:
            break
        if watch.suspect(channel):
            held += 1
            suspected = place - size if suspected is None else suspected
        else:
            suspected = None
    return Played(label, finding, suspected, held)


@cache
def played() -> list[Played]:
    labels = {label["id"]: label for label in lines("labels.jsonl")}
    return [play(run, labels[run["id"]]) for run in lines("real_runs.jsonl") if run["id"] in labels]


def loops(*kinds: str) -> list[Played]:
    return [one for one in played() if one.label["class"] == "loop" and one.label["kind"] in kinds]


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def test_every_exact_loop_is_found() -> None:
    exact = loops("exact")
    assert exact
    assert [one.label["id"] for one in exact if one.finding is None] == []


def test_no_healthy_run_is_stopped() -> None:
    healthy = [one for one in played() if one.label["class"] == "healthy"]
    assert healthy
    assert [(one.label["id"], one.finding) for one in healthy if one.finding] == []


def test_no_run_is_stopped_before_it_degenerates() -> None:
    early = [
        (one.label["id"], one.finding)
        for one in played()
        if one.label["class"] == "loop" and one.finding and one.finding.at < one.label["degenerate_from"]
    ]
    assert early == []


def test_most_drifting_counters_in_prose_are_found() -> None:
    drift = loops("drifting counter")
    found = [one for one in drift if one.finding]
    print(
        f"drift: {len(found)} of {len(drift)}; missed:", [one.label["id"] for one in drift if not one.finding]
    )
    # These loops were cut after some thousand characters. A song that counts down from 99, forty years of
    # interest and sixty numbered cases look just like them: a verdict waits for more than most runs have.
    assert len(found) >= 0.95 * len(drift)


def test_lists_that_say_nothing_new_and_small_edits_are_found() -> None:
    others = loops("enumeration", "paraphrase")
    assert others
    assert [one.label["id"] for one in others if one.finding is None] == []


def test_verdicts_on_exact_loops_fall_in_time() -> None:
    exact = [one for one in loops("exact") if one.finding]
    exact = [one for one in exact if "chorus" not in one.label["id"]]  # was asked for
    delays = [float(one.delay) for one in exact]
    late = {one.label["id"]: (one.label["period"], one.delay) for one in exact if one.delay > one.limit}
    print(f"delay after onset: median {percentile(delays, 0.5):.0f}, p90 {percentile(delays, 0.9):.0f}")
    print("over the limit:", late)
    assert percentile(delays, 0.5) <= 250
    assert percentile([one.delay / one.limit for one in exact], 0.9) <= 1
    assert len(late) <= 0.1 * len(exact)


def test_suspicion_of_exact_loops_begins_early() -> None:
    exact = [one for one in loops("exact") if one.finding]
    seen = {one.label["id"]: (float(one.label["period"]), one.seen) for one in exact}
    print(f"seen before suspicion: median {percentile([n for _, n in seen.values()], 0.5):.0f}")
    assert percentile([n for _, n in seen.values()], 0.5) <= 50
    in_time = sum(n <= max(period, 120) for period, n in seen.values())
    assert in_time >= 0.9 * len(seen)


def test_no_more_than_one_unit_of_a_long_exact_loop_is_seen() -> None:
    long = [one for one in loops("exact") if one.finding and one.label["period"] > 100]
    assert long
    assert [one.label["id"] for one in long if one.seen > one.label["period"]] == []


def test_healthy_text_is_hardly_held() -> None:
    held = {one.label["id"]: one.held for one in played() if one.label["class"] == "healthy" and one.held}
    print("healthy deltas held:", held)
    assert max(held.values(), default=0) <= 0.3 * DELTAS_A_SECOND
