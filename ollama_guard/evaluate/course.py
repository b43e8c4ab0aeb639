"""A whole evaluation: every text through every detector, on one process or several.

Memory is bounded: texts are read where they are played, a few at a time, and only figures are kept.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol

from ollama_guard.detect.rules import WatchRules
from ollama_guard.evaluate.detector import GUARD, Detector, Guard
from ollama_guard.evaluate.healthy import CUT, TextFile, walk
from ollama_guard.evaluate.labelled import BESIDE, InputError, Row, RunFile, is_labels, is_runs, read_labels
from ollama_guard.evaluate.peers import PEERS
from ollama_guard.evaluate.play import Played, play
from ollama_guard.evaluate.samples import Sample
from ollama_guard.evaluate.score import Score

BATCH = 16
AHEAD = 4
"""Batches that are under way or waiting, for each process."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done. chunk: characters a delta, None for the recorded ones."""

    rules: WatchRules
    compared: tuple[str, ...] = ()
    chunk: int | None = None
    wrappings: tuple[str, ...] = ("content",)
    cut: int = CUT

    def detectors(self, prompt: str) -> Iterator[tuple[str, Detector]]:
        """A fresh one of each."""
        yield GUARD, Guard(self.rules, prompt)
        for name in self.compared:
            yield name, PEERS[name].make()

    @property
    def names(self) -> tuple[str, ...]:
        return (GUARD, *self.compared)


class Source(Protocol):
    """A place that texts come from."""

    def samples(self) -> Iterator[Sample]: ...


@dataclass(slots=True)
class Result:
    """The figures of all detectors, in the plan's order. skipped: files that are no text."""

    scores: dict[str, Score]
    texts: int = 0
    chars: int = 0
    skipped: int = 0
    complete: bool = True
    false: int = field(default=0)

    def add(self, played: Played) -> None:
        self.scores[played.detector].add(played)


def sources(paths: Sequence[Path], plan: Plan) -> Iterator[Source]:
    """Everything that is to be played. Raises InputError for a path that cannot be read."""
    labels: dict[str, Row] = {}
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        if path.is_file() and is_labels(path):
            labels |= read_labels(path)
        else:
            found.append(path)
    for path in found:
        for file in walk(path) if path.is_dir() else (path,):
            if is_labels(file):
                continue
            if is_runs(file):
                beside = file.with_name(BESIDE)
                own = read_labels(beside) if beside.is_file() and is_labels(beside) else {}
                yield RunFile(file, own | labels)
            else:
                yield TextFile(file, plan.wrappings, plan.cut)


def run(
    found: Iterable[Source], plan: Plan, *, jobs: int = 1, progress: Callable[[Result], None] | None = None
) -> Result:
    """Play everything. Ended by the keyboard, what was done until then is the result, not `complete`."""
    result = Result({name: Score(name) for name in plan.names})
    batches = _batches(found)
    try:
        for batch in _in_order(batches, plan, jobs):
            for one in batch:
                _count(result, one)
            if progress is not None:
                progress(result)
    except KeyboardInterrupt:
        result.complete = False
    return result


def _count(result: Result, played: list[Played]) -> None:
    """One text (or, of an empty list, one file that is none)."""
    if not played:
        result.skipped += 1
        return
    result.texts += 1
    result.chars += played[0].size
    result.false += played[0].false
    for one in played:
        result.add(one)


def _batches(found: Iterable[Source]) -> Iterator[list[Source | Sample]]:
    """Runs are read here, one at a time; files where they are played."""
    flat = (
        item for source in found for item in (source.samples() if isinstance(source, RunFile) else (source,))
    )
    while batch := list(islice(flat, BATCH)):
        yield batch


def _in_order(
    batches: Iterator[list[Source | Sample]], plan: Plan, jobs: int
) -> Iterator[list[list[Played]]]:
    if jobs <= 1:
        for batch in batches:
            for item in batch:  # one by one: progress is told more often
                yield _play([item], plan)
        return
    waiting: deque[Future[list[list[Played]]]] = deque()
    with ProcessPoolExecutor(jobs) as pool:
        try:
            for batch in batches:
                waiting.append(pool.submit(_play, batch, plan))
                if len(waiting) >= AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _play(batch: Sequence[Source | Sample], plan: Plan) -> list[list[Played]]:
    """One list for each text, with what each detector made of it; an empty one for a file that is none."""
    done = []
    for item in batch:
        texts = [item] if isinstance(item, Sample) else list(item.samples())
        done += [
            [play(text, name, detector, plan.chunk) for name, detector in plan.detectors(text.prompt)]
            for text in texts
        ] or [[]]
    return done
