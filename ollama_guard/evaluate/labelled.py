"""Runs of models with what is known about them, from JSON lines.

A line is a run when it has `id` and `text`, a label when it has `id` and `class`, `kind` or an onset; it may
be both. Labels may stand in a file of their own, or in `labels.jsonl` beside the runs; they are joined by
`id`.

    id, text      as they are; text is what was streamed on one channel
    channel       "reasoning", "content" (default) or "tool:<index>"
    prompt        the conversation's text, if it is known
    chunks        lengths of the deltas in characters, in order; together as long as the text
    class         "loop", "healthy", "gray"; without it a run with an onset is a loop, all others are healthy
    kind          the kind of loop, counted apart
    onset         (or loop_onset) where the second copy begins
    degenerate_from   a verdict is right from there on
    period        characters in one unit
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from pathlib import Path

from ollama_guard.evaluate.jsonlines import InputError, Row, lines, parsed, rows
from ollama_guard.evaluate.runrow import RUNS, ident, sample_of, says
from ollama_guard.evaluate.samples import Sample

__all__ = ["BESIDE", "RUNS", "Content", "InputError", "Labels", "RunFile", "content"]

BESIDE = "labels.jsonl"
LOOKED_AT = 20
"""Lines by which files are told apart: a mistake in the first must not make another file of it."""
_SUFFIXES = frozenset({".jsonl", ".ndjson"})


class Content(Enum):
    """What a file holds. ODD: JSON lines, or what was meant to be some, none of them a run or a label."""

    RUNS = "runs"
    LABELS = "labels"
    ODD = "odd"
    TEXT = "text"


@dataclass(slots=True)
class Labels:
    """What is known by id: the row, and the place it was read from. used: ids that a run had."""

    known: dict[str, tuple[Row, str]] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    missed: str = ""

    def add(self, path: Path) -> None:
        """Take those of a file. Raises InputError for a line that is none, and an id that has one already."""
        if path in self.files:
            return
        before = len(self.known)
        for number, row in rows(path):
            where = f"{path}:{number}"
            name = ident(row, where)
            if not says(row):
                raise InputError(f"{where}: not a label; one needs id, and class, kind or onset")
            if name in self.known:
                raise InputError(
                    f"{where}: id {name!a} has a label in {self.known[name][1]} already; keep one"
                )
            self.known[name] = row, where
        if len(self.known) == before:
            raise InputError(f"{path}: no labels in it; write some, or move the file away")
        self.files.append(path)

    @property
    def unmatched(self) -> str | None:
        """What is wrong when runs were there, and none of them is known here."""
        if self.used or not self.missed or not self.known:
            return None
        files = " and ".join(map(str, self.files))
        there = next(iter(self.known))
        return (
            f"{files}: none of the {len(self.known):,} labels is for a run: an id there is {there!a}, one of "
            f"a run is {self.missed!a}; give the labels of these runs, or move the file away"
        )


@dataclass(slots=True)
class RunFile:
    """A file of runs, and the labels that were found for it elsewhere, of which the first win.

    unlabelled: runs of which nothing is said, once they have been read; read: all runs.
    """

    path: Path
    labels: Sequence[Labels] = ()
    unlabelled: int = 0
    read: int = 0

    def samples(self) -> Iterator[Sample]:
        """One run at a time. Raises InputError for what is no run, and for an id that comes again."""
        seen: dict[str, int] = {}
        for number, row in rows(self.path):
            where = f"{self.path}:{number}"
            if "text" not in row:
                raise InputError(
                    f"{where}: text is missing; a run needs one, and labels of their own belong in {BESIDE}"
                )
            name = ident(row, where)
            if name in seen:
                raise InputError(
                    f"{where}: id {name!a} is that of line {seen[name]} too; give each run its own"
                )
            seen[name] = number
            label, place = self._known(name)
            self.read += 1
            self.unlabelled += label is None and not says(row)
            yield sample_of(row, label, where, place)

    def _known(self, name: str) -> tuple[Row | None, str]:
        """The label of a run from elsewhere, and its place."""
        for labels in self.labels:
            if name in labels.known:
                labels.used.add(name)
            else:
                labels.missed = labels.missed or name
        return next((one.known[name] for one in self.labels if name in one.known), (None, ""))

    @property
    def note(self) -> str | None:
        """What is doubtful: there are labels, but not for all runs."""
        if not self.unlabelled or not self.labels:
            return None
        return (
            f"{self.path}: {self.unlabelled:,} of {self.read:,} runs have no label and count as healthy; "
            'if they are, write class "healthy"'
        )


def content(path: Path) -> Content:
    """What a file holds, by its name and its first lines. Raises OSError."""
    if path.suffix.lower() not in _SUFFIXES:
        return Content.TEXT
    found = Content.ODD
    for number, line in islice(lines(path), LOOKED_AT):
        if b"\0" in line:
            return Content.TEXT  # binary data, whatever its name
        try:
            row = parsed(line, f"{path}:{number}")
        except InputError:
            continue
        if "id" in row and "text" in row:
            return Content.RUNS
        if "id" in row and says(row):
            found = Content.LABELS
    return found


def is_one_run(path: Path) -> bool:
    """Whether the first line is a sound run, whatever the file's name. Raises OSError."""
    for number, line in islice(lines(path), 1):
        try:
            sample_of(parsed(line, f"{path}:{number}"), None, str(path))
        except InputError:
            return False
        return True
    return False
