"""Verdicts on text that repeats verbatim, back to back."""

import math

from ollama_guard.detect import shape
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.page import Page
from ollama_guard.detect.run import Goal, Hit, Run
from ollama_guard.detect.tracker import Tracker

UNIT_SHOWN = 400


class Periodic:
    """One channel's text, watched for exact repetition of any period up to `max_period`."""

    def __init__(self, measure: Measure, *, window: int, max_period: int, page: Page | None = None) -> None:
        self._measure = measure
        self.page = page or Page(escaped=measure.escaped, apart=measure.apart)
        self._tracker = Tracker(
            self._judge,
            measure.look,
            window=window,
            max_period=max_period,
            short=measure.short_search(),
            before_cut=self.page.before_cut,
        )
        self.page.show(self._tracker)
        self.feed = self._tracker.feed
        """Append; the earliest verdict within this text (the tracker's own method: this is the hot path)."""
        self.alarming = self._tracker.alarming

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        run, at = hit
        return describe(Kind.PERIODIC, channel, self._tracker.unit(run), run.start, at)

    def _judge(self, run: Run) -> Goal:
        unit = self._tracker.unit(run)
        return self._measure.goal(unit, self.page.region(unit, run.start - run.period, run.start))


def describe(  # noqa: PLR0913 (what a finding has)
    kind: Kind, channel: str, unit: str, onset: int, at: int, *, repeats: float | None = None
) -> Finding:
    """A finding on a repeated unit; `unit` is the whole of one copy, `onset` the start of the second.

    repeats: how many copies there are where their length does not tell.
    """
    if repeats is None:
        unit = shape.primitive(unit)
    period, mass = len(unit), at - onset
    repeats = mass / period + 1 if repeats is None else repeats
    shown = unit if period <= UNIT_SHOWN else unit[: UNIT_SHOWN - 1] + "…"
    preview = shown if len(shown) <= 60 else shown[:59] + "…"
    size = "1 character" if period == 1 else f"{period} characters"
    manner = {Kind.VARIANT: " with other punctuation or white space", Kind.DRIFT: " with other numbers"}
    detail = (
        f"{preview!r} ({size}) stands {math.floor(repeats)} times in a row{manner.get(kind, '')} "
        f"from character {max(0, onset - period)}: {mass} characters repeated"
    )
    return Finding(kind, channel, onset, at, shown, period, round(repeats, 2), mass, detail)
