"""Verdicts on text that repeats but for what does not matter: punctuation, white space and case; or numbers too.

The same search as for verbatim repetition, on the folded text. Masses count folded characters, so a verbatim loop
reaches its own verdict first.
"""

from . import shape
from .finding import Finding, Kind
from .fold import Folded
from .measure import Measure
from .page import Page
from .periodic import describe
from .regions import Region
from .rules import WatchRules
from .tracker import Goal, Hit, Run, Tracker


_IN_PROSE = 1.5
"""Folded text repeats a little more easily than the text itself."""
_IN_CODE = 3.0
"""Code is told apart by its operators, which folding takes away. (Times the factor for code.)"""
_SYMBOLS = 0.08
"""Share of symbols in the raw unit from which it counts as code here."""


class Variant:
    """One channel's text, folded, watched for repetition."""

    kind = Kind.VARIANT

    def __init__(self, measure: Measure, rules: WatchRules, page: Page) -> None:
        self._measure = measure
        self._page = page
        self._folded = Folded(numbers=self.kind is Kind.DRIFT, raw=page.text)
        self._tracker = Tracker(
            self._judge,
            measure.look,
            window=rules.window,
            max_period=rules.max_period,
            short=measure.short_search(),
            before_cut=self._folded.forget,
        )

    def feed(self, text: str) -> Hit | None:
        """Append raw text that the page already holds; the earliest verdict within it, in folded offsets."""
        return self._tracker.feed(self._folded.feed(text))

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        return self._tracker.alarming()

    def place(self, hit: Hit) -> int:
        """The raw length of the text at which the hit fell."""
        return self._folded.place(hit.at - 1) + 1

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        unit = self._unit(hit.run)
        return describe(self.kind, channel, unit, self._folded.place(hit.run.start), self.place(hit))

    def _unit(self, run: Run) -> str:
        """One copy as it stands in the raw text; the folded one where that is gone."""
        place = self._folded.place
        raw = self._page.text(place(run.start - run.period), place(run.start))
        return raw or self._tracker.unit(run)

    def _judge(self, run: Run) -> Goal:
        first, second = self._folded.place(run.start - run.period), self._folded.place(run.start)
        folded = self._tracker.unit(run)
        raw = self._page.text(first, second) or folded
        region = self._page.region(raw, first, second)
        code = region is not Region.PROSE or shape.symbols(raw) >= _SYMBOLS
        goal = self._measure.goal(folded, region)
        return goal if self._measure.by_span else goal.times(_IN_CODE if code else _IN_PROSE)


class Drift(Variant):
    """The same with numbers folded: a counter that runs on while nothing else changes."""

    kind = Kind.DRIFT

    def _judge(self, run: Run) -> Goal:
        first, second = self._folded.place(run.start - run.period), self._folded.place(run.start)
        folded = self._tracker.unit(run)
        raw = self._page.text(first, second) or folded
        region = self._page.region(raw, first, second)
        code = region is not Region.PROSE or shape.symbols(raw) >= _SYMBOLS
        self.raws = getattr(self, "raws", {})
        self.raws[id(run)] = (raw, code)
        return self._measure.goal(folded, region)
