"""A whole evaluation: every text through every detector, on one process or several.

Memory is bounded: texts are read where they are played, a few at a time, and only figures are kept.
"""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol

from ollama_guard.detect.rules import WatchRules
from ollama_guard.evaluate.detector import GUARD, Detector, Guard
from ollama_guard.evaluate.found import Found, file_or_folder, labels_beside, odd
from ollama_guard.evaluate.healthy import CUT, TextFile, walk
from ollama_guard.evaluate.labelled import BESIDE, Content, RunFile, content
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
    """The figures of all detectors, in the plan's order. skipped: files that are no text. cut: texts
    that are the beginning of a longer file."""

    scores: dict[str, Score]
    texts: int = 0
    chars: int = 0
    skipped: int = 0
    cut: int = 0
    complete: bool = True
    false: int = field(default=0)

    def add(self, played: Played) -> None:
        self.scores[played.detector].add(played)


def sources(paths: Sequence[Path], plan: Plan, found: Found | None = None) -> Iterator[Source]:
    """Everything that is to be played. Raises InputError for what cannot be, and OSError.

    found: takes what is to be said about it afterwards. A file that is named has to be what its name says; in
    a folder, JSON lines that are no runs are texts like others.
    """
    found = Found() if found is None else found
    for path in paths:
        if file_or_folder(path) and _labels(path, content(path)):
            found.given.add(path)
    for path in paths:
        if path.is_dir():
            for file in walk(path):
                yield from _source(file, plan, found, named=False)
        else:
            yield from _source(path, plan, found, named=True)


def _source(file: Path, plan: Plan, found: Found, *, named: bool) -> Iterator[Source]:
    """The file as what it is; nothing for labels."""
    try:
        holds = content(file)
    except PermissionError:
        if named:
            raise
        holds = Content.TEXT  # counted as left out, like any other
    if named and _labels(file, holds):
        return
    if named or holds is Content.ODD:
        fault = odd(file, holds)
        if fault is not None and named:
            raise fault
        found.odd += [str(fault)] * (fault is not None)
    if holds is Content.RUNS:
        one = RunFile(file, labels_beside(file, found))
        found.runs.append(one)
        yield one
    elif holds is Content.LABELS:
        found.unused += [file] * (file.name != BESIDE)
    else:
        yield TextFile(file, plan.wrappings, plan.cut)


def _labels(path: Path, holds: Content) -> bool:
    """Whether a file that is named is to be read as labels, to which its name is enough."""
    return holds is Content.LABELS or (path.name == BESIDE and holds is not Content.RUNS)


def run(
    found: Iterable[Source], plan: Plan, *, jobs: int = 1, progress: Callable[[Result], None] | None = None
) -> Result:
    """Play everything. Ended by the keyboard, what was done until then is the result, not `complete`."""
    result = Result({name: Score(name) for name in plan.names})
    batches = _batches(found)
    try:
        with closing(_in_order(batches, plan, jobs)) as done:
            for batch in done:
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
    result.cut += played[0].cut
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
) -> Generator[list[list[Played]], None, None]:
    if jobs <= 1:
        for batch in batches:
            for item in batch:  # one by one: progress is told more often
                yield _play([item], plan)
        return
    waiting: deque[Future[list[list[Played]]]] = deque()
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(jobs, initializer=_deaf) as pool:
        try:
            for batch in batches:
                waiting.append(pool.submit(_play, batch, plan))
                if len(waiting) >= AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:  # the keyboard, an input that cannot be used: nobody waits for the rest
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - others:
                worker.kill()
            raise


def _deaf() -> None:
    """Ctrl-C reaches all processes of a terminal. A worker that it ends while it holds the lock of the queue
    would leave the others waiting for ever; so it is this process alone that listens, and ends them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


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
