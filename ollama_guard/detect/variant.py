"""Verdicts on text that repeats but for what does not matter: punctuation, white space, case.

The same search as for verbatim repetition, on the folded text. Masses count folded characters, so a verbatim
loop reaches its own verdict first.
"""

import re
from typing import NamedTuple

from ollama_guard.detect import data, shape
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.fold import Folded, Text
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.page import Page
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.regions import Region
from ollama_guard.detect.rules import WatchRules
from ollama_guard.detect.run import Goal, Hit, Run
from ollama_guard.detect.tracker import Tracker

_IN_PROSE = 1.5
"""Folded text repeats a little more easily than the text itself."""
IN_CODE = 1.25
"""Code is told apart by its operators, which folding takes away. (Times the factor for code.)"""
SLACK = 64
"""The most that is fed at once: marks behind a copy are folded into what follows."""
_SYMBOLS = 0.07
"""Share of symbols in the raw unit from which it counts as code here."""
_MARKS = re.compile(r"[\W_]*")


class Copy(NamedTuple):
    """One copy of what repeats: folded, as it stands in the raw text, and the kind of place."""

    folded: str
    raw: str
    region: Region

    @property
    def words(self) -> int:
        """How many different words it has."""
        return shape.words(self.folded)

    @property
    def coded(self) -> bool:
        """Whether it is code, by its place or by its marks."""
        return self.region is not Region.PROSE or shape.symbols(self.raw) >= _SYMBOLS


class Variant:
    """One channel's text, folded, watched for repetition."""

    kind = Kind.VARIANT

    def __init__(self, measure: Measure, rules: WatchRules, page: Page) -> None:
        self._measure = measure
        self._copies = rules.variant_copies
        self._page = page
        self._folded = Folded(numbers=self.kind is Kind.DRIFT, raw=page.text)
        self._tracker = Tracker(
            self._judge,
            measure.later_look,
            window=rules.window,
            max_period=rules.max_period,
            short=measure.short_search() if self.kind is Kind.VARIANT else None,
            before_cut=self._folded.forget,
        )

    def feed(self, text: str) -> Hit | None:
        """Append raw text that the page already holds; the earliest verdict within it, in folded offsets."""
        return self._tracker.feed(self._folded.feed(text))

    def seam(self, mark: str) -> Hit | None:
        """A mark that is nowhere else in the text: nothing is joined over it."""
        return self._tracker.feed(self._folded.seam(mark))

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        return self._tracker.alarming()

    def place(self, hit: Hit) -> int:
        """The raw length of the text at which the hit fell."""
        return self._folded.place(hit.at - 1) + 1

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        run, onset = hit.run, self._folded.place(hit.run.start)
        repeats = (hit.at - run.start) / run.period + 1  # numbers grow: raw lengths do not tell
        return describe(self.kind, channel, self._copy(run).raw, onset, self.place(hit), repeats=repeats)

    def _judge(self, run: Run) -> Goal:
        copy = self._copy(run)
        coded = copy.coded
        region = Region.CODE if coded and copy.region is Region.PROSE else copy.region
        if data.is_figures(copy.raw + "\n"):  # broken into lines anywhere, it is a table
            region = Region.FIGURES
        goal = self._measure.goal(copy.folded, region, Text.MARKS, len(copy.raw))
        if not self._measure.by_span:
            goal = goal.times(IN_CODE if coded else _IN_PROSE)
        verdict = max(goal.verdict, (self._copies - 1) * run.period)
        whole = run.period + SLACK  # by then the second copy is there, and tells better than the first
        return goal._replace(verdict=verdict, again=whole if run.need < whole < verdict else 0)

    def _copy(self, run: Run) -> Copy:
        """The second copy, if it is whole: the first may begin with marks of the text before.

        Where that is not held any more, the latest one.
        """
        place, folded = self._folded.place, self._tracker.unit(run)
        first, second = place(run.start - run.period), place(run.start)
        raw = one = self._page.text(first, second)
        at = None
        if run.start + run.period < self._tracker.length:
            raw, at = self._page.text(second, place(run.start + run.period)) or one, second
            first += _before(one, raw)
        if not self._page.text(second, second + 1):
            latest = run.start + (run.need // run.period - 1) * run.period
            raw = self._page.text(place(latest), place(latest + run.period))
        raw = raw or folded
        return Copy(folded, raw, self._page.region(raw, first, second, at))


def _before(first: str, second: str) -> int:
    """How many characters at the beginning of the first copy are of the text before: marks, another line."""
    lines = 0 if "\n" in second else first.rfind("\n") + 1
    marks = _MARKS.match(first, lines)
    return marks.end() if marks else lines
