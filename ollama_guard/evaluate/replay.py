"""One run, and where the verdict fell, to be read in a terminal."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ollama_guard.evaluate.found import file_or_folder, labels_beside, odd
from ollama_guard.evaluate.healthy import CUT, read, wrap
from ollama_guard.evaluate.labelled import Content, InputError, RunFile, content
from ollama_guard.evaluate.plain import one_line, visible
from ollama_guard.evaluate.play import Played
from ollama_guard.evaluate.samples import Sample, Truth

AROUND, LINES = 400, 6
"""Characters and lines shown before the repetition, after the verdict, and of each end of what is long."""


def find(file: Path, wanted: str | None, wrapping: str, cut: int = CUT) -> Sample:
    """The run of a file, or the file itself as a text. Raises InputError, which lists the runs to choose
    from, and OSError.
    """
    if not file_or_folder(file):
        raise InputError(f"{file}: a folder; name one of its files (`ollama-guard eval` plays folders)")
    holds = content(file)
    if holds is Content.LABELS:
        raise InputError(f"{file}: labels and no text; name the file with the runs")
    if (fault := odd(file, holds)) is not None:
        raise fault
    return _run(file, wanted) if holds is Content.RUNS else _text(file, wanted, wrapping, cut)


def _text(file: Path, wanted: str | None, wrapping: str, cut: int) -> Sample:
    if wanted is not None:
        raise InputError(f"{file}: a plain text, which has no run {wanted!a}; leave out --id")
    text = read(file, cut + 1)
    if text is None:
        raise InputError(f"{file}: no text, but binary data, or not to be read by this user")
    if not text:
        raise InputError(f"{file}: empty; there is nothing to show")
    return replace(wrap(file.name, text[:cut], wrapping), cut=len(text) > cut)


def _run(file: Path, wanted: str | None) -> Sample:
    labels = labels_beside(file)
    names = []
    for sample in RunFile(file, labels).samples():
        if sample.name == wanted:
            return sample
        names.append(f"  {sample.label.truth:8} {one_line(sample.label.kind):18} {one_line(sample.name)}")
        last = sample
    if wanted is None and len(names) == 1:
        return last
    told = f"no run {wanted!a}" if wanted is not None else "several runs; choose one with --id"
    raise InputError(f"{file}: {told}", tuple(names))


def describe(sample: Sample, played: Played) -> Iterator[tuple[str, str]]:
    """Pieces of text with what each is: "fact", "text", "repeated", "mark", "dropped"."""
    label = sample.label
    size = f"{'the first ' if sample.cut else ''}{len(sample.text):,} characters"
    yield "fact", f"{one_line(sample.name)}  [{sample.channel}, {size}]\n"
    if label.truth is not Truth.HEALTHY:
        known = (
            f"a {label.truth} of kind {one_line(label.kind) or 'unknown'}, unit {label.period or 'not fixed'}"
        )
        yield (
            "fact",
            f"label:   {known}, degenerate from {label.begins:,}, second copy from {label.onset:,}\n",
        )
    if played.hit is None:
        yield "fact", "verdict: none\n\n"
        yield from _elided("text", sample.text)
        yield "text", "\n"
        return
    hit = played.hit
    onset = hit.at if hit.onset is None else hit.onset
    yield (
        "fact",
        f"verdict: {hit.rule} at {hit.at:,}{_delay(sample, played)}\n         {visible(hit.detail)}\n\n",
    )
    before = _end(sample.text[:onset])
    if len(before) < onset:
        yield "fact", f"[... {onset - len(before):,} characters]\n"
    yield "text", visible(before)
    yield "mark", f"<< repeats from {onset:,} >>"
    yield from _elided("repeated", sample.text[onset : hit.at])
    yield "mark", f"<< {hit.rule} at {hit.at:,} >>"
    rest = len(sample.text) - hit.at
    yield "dropped", visible(_start(sample.text[hit.at :]))
    yield "fact", f"\n\n[{rest:,} characters more were cut off]\n" if rest else "\n\n"


def _delay(sample: Sample, played: Played) -> str:
    """How that compares with the label."""
    label, hit = sample.label, played.hit
    if label.truth is Truth.HEALTHY or hit is None:
        return " - a false verdict, if this text is as it should be" if played.false else ""
    after = hit.at - label.onset
    copies = f" ({after / label.period:.1f} copies)" if label.period else ""
    early = " - a false verdict: it did not loop yet" if played.false else ""
    return f", {after:,} characters{copies} after the second copy began{early}"


def _elided(kind: str, text: str) -> Iterator[tuple[str, str]]:
    """The text, or both of its ends."""
    start, end = _start(text), _end(text)
    left = len(text) - len(start) - len(end)
    if left <= AROUND // 10:
        yield kind, visible(text)
        return
    yield kind, visible(start)
    yield "fact", f"\n[... {left:,} characters]\n"
    yield kind, visible(end)


def _start(text: str) -> str:
    return "".join(text[:AROUND].splitlines(keepends=True)[:LINES])


def _end(text: str) -> str:
    return "".join(text[-AROUND:].splitlines(keepends=True)[-LINES:]) if text else ""
