"""The figures of an evaluation, for people and for programs."""

from collections.abc import Iterator
from typing import Any

from ollama_guard.evaluate.course import Result
from ollama_guard.evaluate.plain import one_line
from ollama_guard.evaluate.play import Played
from ollama_guard.evaluate.samples import Truth
from ollama_guard.evaluate.score import BANDS, Caught, Score, percentile

LISTED = 20
"""False verdicts and misses that are printed; --json has up to a thousand."""
Row = dict[str, Any]
_HEADS = "  runs  caught  recall  early   delay: chars (median, 90 %, most)  copies (the same)"
_ORDER = [name for _, name in BANDS]


def as_text(result: Result) -> str:
    """One block for each detector, the table that compares them last."""
    lines = [f"{result.texts:,} texts, {result.chars / 1e6:,.1f} million characters"]
    if result.skipped:
        lines[0] += f"; {result.skipped:,} files left out (no text)"
    if result.cut:
        lines[0] += f"; {result.cut:,} of the texts cut (--cut)"
    if not result.complete:
        lines.append("Interrupted: these are the figures up to there.")
    for score in result.scores.values():
        lines += ["", *_block(score)]
    if len(result.scores) > 1:
        lines += ["", *comparison(result)]
    return "\n".join(map(one_line, lines))


def as_json(result: Result) -> Row:
    """All figures: delays in characters and in copies after the onset, times in microseconds."""
    return {
        "texts": result.texts,
        "chars": result.chars,
        "skipped": result.skipped,
        "cut": result.cut,
        "complete": result.complete,
        "detectors": {name: _score(score) for name, score in result.scores.items()},
    }


def comparison(result: Result) -> Iterator[str]:
    """A Markdown table, one row a detector."""
    yield "| detector | loops caught | false verdicts | delay, median | delay, 90 % | µs a delta |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for score in result.scores.values():
        loops, false = score.loops, score.false_total
        texts = sum(group.texts for group in score.healthy.values()) + loops.runs
        delays = " | ".join(_number(percentile(loops.chars, share)) for share in (0.5, 0.9))
        caught = f"{loops.caught} of {loops.runs}"
        yield f"| {score.detector} | {caught} | {false} of {texts:,} | {delays} | {score.per_delta:.1f} |"


def _block(score: Score) -> Iterator[str]:
    yield score.detector
    yield from _loops(score)
    for name, group in score.healthy.items():
        rate = f" ({group.per_10k:.2f} in 10,000)" if group.texts >= 1000 else ""
        size = f"{group.texts:,} texts, {group.chars / 1e6:,.2f} million characters"
        yield f"  healthy, {name}: {size}: {group.stopped} stopped{rate}"
    if score.gray:
        yield f"  gray: {score.gray} runs, {score.gray_stopped} stopped (either is fine)"
    yield from _listed("false verdict", score.false, score.false_total)
    yield from _listed("missed", score.missed, score.loops.runs - score.loops.caught - score.premature)
    slowest = f", slowest text {1e6 * score.slowest:.1f} ({score.slowest_name})" if score.slowest else ""
    yield f"  time: {score.per_delta:.2f} µs a delta over {score.deltas:,} deltas{slowest}"


def _loops(score: Score) -> Iterator[str]:
    if not score.loops.runs:
        return
    yield f"  {'loops':19}{_HEADS}"
    yield _sort("all", score.loops)
    for kind, caught in sorted(score.kinds.items()):
        yield _sort(kind, caught)
    for band, caught in sorted(score.bands.items(), key=lambda item: _rank(item[0])):
        yield _sort(f"unit {band}", caught)
    if score.premature:
        yield f"  {score.premature} of them were stopped before they began to loop (false verdicts)"


def _sort(name: str, loops: Caught) -> str:
    recall = f"{100 * (loops.recall or 0):.1f} %"
    chars = "".join(f"{_number(value):>9}" for value in _spread(loops.chars))
    copies = "".join(f"{_number(value, 1):>9}" for value in _spread(loops.copies))
    return f"    {name:17} {loops.runs:5} {loops.caught:7} {recall:>8} {loops.early:6}  {chars}  {copies}"


def _spread(values: list[int] | list[float]) -> list[float | None]:
    return [percentile(values, 0.5), percentile(values, 0.9), max(values, default=None)]


def _number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _rank(band: str) -> int:
    return _ORDER.index(band) if band in _ORDER else len(_ORDER)


def _listed(what: str, played: list[Played], total: int) -> Iterator[str]:
    for one in played[:LISTED]:
        yield f"  {what}: {one.name if one.hit is None else one.place} [{one.group}] {_why(one)}"
    if total > LISTED:
        yield f"  ... and {total - min(LISTED, len(played)):,} more"


def _why(one: Played) -> str:
    if one.hit is None:
        return f"{one.label.kind}, unit {one.label.period}, {one.size - one.label.onset:,} characters of loop"
    early = f", {one.label.begins - one.hit.at:,} characters before the loop"
    says = one.hit.detail or f"{_one_line(one.hit.unit)!r} x {one.hit.repeats:.1f}"
    return f"{one.hit.rule} at {one.hit.at:,}{early if one.label.truth is Truth.LOOP else ''}: {says}"


def _one_line(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def _score(score: Score) -> Row:
    return {
        "loops": _caught(score.loops),
        "kinds": {kind: _caught(caught) for kind, caught in sorted(score.kinds.items())},
        "unit_lengths": {band: _caught(caught) for band, caught in score.bands.items()},
        "before_the_loop": score.premature,
        "healthy": {
            name: {
                "texts": group.texts,
                "chars": group.chars,
                "stopped": group.stopped,
                "per_10000": group.per_10k,
            }
            for name, group in score.healthy.items()
        },
        "gray": {"runs": score.gray, "stopped": score.gray_stopped},
        "false_verdicts": score.false_total,
        "false_by_rule": dict(score.false_rules),
        "false": [_verdict(one) for one in score.false],
        "missed": [
            {"id": one.name, "kind": one.label.kind, "period": one.label.period} for one in score.missed
        ],
        "deltas": score.deltas,
        "us_per_delta": round(score.per_delta, 3),
    }


def _caught(loops: Caught) -> Row:
    keys = ("median", "p90", "most")
    return {
        "runs": loops.runs,
        "caught": loops.caught,
        "recall": loops.recall,
        "early": loops.early,
        "delay_chars": dict(zip(keys, _spread(loops.chars), strict=True)),
        "delay_copies": dict(zip(keys, _spread(loops.copies), strict=True)),
    }


def _verdict(one: Played) -> Row:
    hit = one.hit
    return {
        "id": one.name,
        "group": one.group,
        "place": one.place,
        "rule": hit.rule if hit else None,
        "at": hit.at if hit else None,
        "unit": hit.unit if hit else None,
        "detail": hit.detail if hit else None,
    }
