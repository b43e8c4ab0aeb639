"""Runs of models with what is known about them, from JSON lines.

A line is a run when it has `id` and `text`, a label when it has `id` and `class`, `kind` or an onset; it may
be both. Labels may stand in a file of their own, or in `labels.jsonl` beside the runs; they are joined by
`id`.

    id, text          as they are; text is what was streamed on one channel
    channel           "reasoning", "content" (default) or "tool:<index>"
    prompt            the conversation's text, if it is known
    chunks            lengths of the deltas in characters, in order
    class             "loop", "healthy", "gray"; without it a run with an onset is a loop, all others are
    healthy kind              the kind of loop, counted apart
    onset             (or loop_onset) where the second copy begins; degenerate_from: a verdict is right from
    there on period            characters in one unit
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ollama_guard.evaluate.samples import Label, Sample, Truth

RUNS = "runs"
BESIDE = "labels.jsonl"
Row = dict[str, Any]


class InputError(Exception):
    """A file cannot be used. The text names it and says why."""


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file of runs, and the labels that were found for it elsewhere."""

    path: Path
    labels: dict[str, Row]

    def samples(self) -> Iterator[Sample]:
        """One run at a time. Raises InputError for what is no run."""
        for number, row in rows(self.path):
            if "text" in row:
                yield _sample(row, self.labels.get(str(row.get("id"))), f"{self.path}:{number}")


def is_runs(path: Path) -> bool:
    """Whether the file's first line is a run."""
    first = _first(path)
    return first is not None and "id" in first and isinstance(first.get("text"), str)


def is_labels(path: Path) -> bool:
    """Whether the file's first line is a label without a run."""
    first = _first(path)
    return first is not None and "id" in first and "text" not in first and _says(first)


def read_labels(path: Path) -> dict[str, Row]:
    """The labels of a file by id."""
    return {str(row["id"]): row for _, row in rows(path) if "id" in row}


def rows(path: Path) -> Iterator[tuple[int, Row]]:
    """The objects of a file of JSON lines with their line numbers. Raises InputError."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InputError(f"{path}:{number}: not JSON: {error}") from None
            if not isinstance(row, dict):
                raise InputError(f"{path}:{number}: not an object")
            yield number, row


def _first(path: Path) -> Row | None:
    if path.suffix not in {".jsonl", ".ndjson"}:
        return None
    try:
        return next((row for _, row in rows(path)), None)
    except (InputError, UnicodeDecodeError):
        return None


def _says(row: Row) -> bool:
    return any(key in row for key in ("class", "kind", "onset", "loop_onset"))


def _sample(row: Row, label: Row | None, where: str) -> Sample:
    name, text, chunks = row.get("id"), row["text"], row.get("chunks")
    if name is None or not isinstance(text, str):
        raise InputError(f"{where}: a run needs an id, and text that is a string")
    if chunks is not None and not _lengths(chunks):
        raise InputError(f"{where}: chunks must be a list of lengths of at least 1")
    return Sample(
        name=str(name),
        group=RUNS,
        channel=str(row.get("channel") or "content"),
        text=text,
        label=_label(label if label is not None else row, where),
        prompt=_prompt(row.get("prompt")),
        chunks=tuple(chunks) if chunks else None,
        first_line=None,
    )


def _label(row: Row, where: str) -> Label:
    onset = row.get("onset", row.get("loop_onset"))
    said = row.get("class")
    if said is None:
        said = Truth.HEALTHY if onset is None else Truth.LOOP
    try:
        truth = Truth(said)
    except ValueError:
        raise InputError(f"{where}: class {said!r} is none of {', '.join(Truth)}") from None
    if truth is Truth.HEALTHY:
        return Label(truth)
    begins = row.get("degenerate_from")
    first = _offset(begins if onset is None else onset)
    start = _offset(onset if begins is None else begins)
    period = _offset(row.get("period") or 0)
    if first is not None and start is not None and period is not None:
        return Label(truth, str(row.get("kind") or "loop"), first, min(first, start), period)
    if truth is Truth.GRAY:
        return Label(truth, str(row.get("kind") or ""))
    raise InputError(f"{where}: a loop needs an onset, and offsets that are numbers")


def _offset(value: object) -> int | None:
    return int(value) if isinstance(value, (int, float)) and value >= 0 else None


def _lengths(chunks: object) -> bool:
    return isinstance(chunks, list) and all(type(length) is int and length > 0 for length in chunks)


def _prompt(said: object) -> str:
    return said if isinstance(said, str) else "" if said is None else json.dumps(said, ensure_ascii=False)
