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
CHARACTERS_A_SECOND = 160
"""Forty deltas of four characters: what delays of held-back text are reckoned with."""


@dataclass(frozen=True)
class Played:
    label: dict[str, Any]
    finding: Finding | None
    suspected: int | None  # where the suspicion began that led to the verdict
    held: int  # characters that were suspicious, all together

    @property
    def delay(self) -> int:
        assert self.finding is not None
        return self.finding.at - int(self.label["loop_onset"])

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
            held += size
            suspected = suspected or place
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
    assert len(found) >= 0.3 * len(drift)


def test_verdicts_on_exact_loops_fall_in_time() -> None:
    exact = [one for one in loops("exact") if one.finding]
    # What was asked for (song lyrics, lorem ipsum) has a higher bar.
    exact = [one for one in exact if "chorus" not in one.label["id"] and "lorem" not in one.label["id"]]
    delays = [float(one.delay) for one in exact]
    late = {one.label["id"]: (one.label["period"], one.delay) for one in exact if one.delay > one.limit}
    print(f"delay after onset: median {percentile(delays, 0.5):.0f}, p90 {percentile(delays, 0.9):.0f}")
    print("over the limit:", late)
    assert percentile(delays, 0.5) <= 250
    assert percentile([one.delay / one.limit for one in exact], 0.9) <= 1
    assert len(late) <= 0.1 * len(exact)


def test_suspicion_begins_early_and_healthy_text_is_hardly_held() -> None:
    exact = [one for one in loops("exact") if one.finding]
    seen = [
        float((one.suspected or one.finding.at) - one.label["loop_onset"]) for one in exact if one.finding
    ]
    held = {one.label["id"]: one.held for one in played() if one.label["class"] == "healthy" and one.held}
    print(f"seen before suspicion: median {percentile(seen, 0.5):.0f}, p90 {percentile(seen, 0.9):.0f}")
    print("healthy text held:", held)
    assert percentile(seen, 0.5) <= 120
    assert max(held.values(), default=0) <= 0.3 * CHARACTERS_A_SECOND
