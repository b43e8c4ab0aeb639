"""Verdicts on text that repeats but for what does not matter: punctuation, white space, case; or numbers too.

The same search as for verbatim repetition, on the folded text. Masses count folded characters, so a verbatim
loop reaches its own verdict first.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from ollama_guard.detect import data, shape
from ollama_guard.detect.counting import Course, copies_left, course, course_of_numbers
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.fold import Folded, Text
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.page import Page
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.records import TO_FILL, is_row
from ollama_guard.detect.regions import Region
from ollama_guard.detect.rules import WatchRules
from ollama_guard.detect.run import Goal, Hit, Run
from ollama_guard.detect.scripts import UNSPACED
from ollama_guard.detect.tables import NEVER
from ollama_guard.detect.tracker import Tracker

_IN_PROSE = 1.5
"""Folded text repeats a little more easily than the text itself."""
_IN_CODE = 1.25
"""Code is told apart by its operators, which folding takes away. (Times the factor for code.)"""
_SLACK = 64
"""The most that is fed at once: marks behind a copy are folded into what follows."""
_SYMBOLS = 0.07
"""Share of symbols in the raw unit from which it counts as code here."""
_FIGURES, _MANY_FIGURES = 0.15, 0.18
"""Share of digits from which a unit counts as data: logs, test vectors, measurements. Up to the second one
many words are an item of a list, if nothing but its number changes."""
_STAMPED = re.compile(r"\d[-:./,]\d")
"""A time or an address, as in a log."""

_LITTLE, _BARE = 200, 2000
"""Copies of what says little in a line of text ("Carl = 12, Carl = 13, "), and of nothing but a number, or of
a name made of one, in an answer; nobody counts so far unasked."""

_SPECIAL = re.compile(r"<\|?(?:unused|reserved|special|extra_id|fim|pad|eos|bos|im|eot)\w*\|?>\s*")
_SPECIAL_SIZE = 32
"""Characters of such a token or two, folded."""
_SONG = 20_000
"""Folded characters after which a countdown that goes on will end by itself."""
_SEEN = 4
"""Copies beyond the first from which the course of the numbers can be told."""
_GROWN = 144
"""Numbers that were looked at before it is said that they grow by zeros."""
_COMPARED, _COMPARED_SIZE, _COMPARED_NUMBERS = 24, 12_000, 64
"""Copies whose numbers are compared, the folded characters that they may have together, and the same where
each is but a number."""

_WORDS = 8
"""Different words in a unit from which it says something, and is no record of data."""
_LABEL, _LABEL_SIZE = 4, 20
"""Words of a line that is a label, its number among them, and letters: "Chapter 12", "This is line 12"."""
_MARKS = re.compile(r"[\W_]*")
_ITEM = re.compile(r"^[ \t]*\d+[.)][ \t]+(.*)$", re.MULTILINE)
"""An item of a numbered list."""


class Copy(NamedTuple):
    """One copy of what repeats: folded, as it stands in the raw text, and the kind of place."""

    folded: str
    raw: str
    region: Region

    @property
    def words(self) -> int:
        """How many different words it has."""
        return shape.words(self.folded)


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
        coded = _coded(copy)
        region = Region.CODE if coded and copy.region is Region.PROSE else copy.region
        if data.is_figures(copy.raw + "\n"):  # broken into lines anywhere, it is a table
            region = Region.FIGURES
        goal = self._measure.goal(copy.folded, region, Text.MARKS, len(copy.raw))
        if not self._measure.by_span:
            goal = goal.times(_IN_CODE if coded else _IN_PROSE)
        verdict = max(goal.verdict, (self._copies - 1) * run.period)
        whole = run.period + _SLACK  # by then the second copy is there, and tells better than the first
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


class Drift(Variant):
    """The same with numbers folded: a counter that runs on while nothing else changes.

    Tables, records, logs and cases that are worked through look just like it, so it takes many times the
    mass, and text of symbols and figures must have words enough to be no data.
    """

    kind = Kind.DRIFT

    def _judge(self, run: Run) -> Goal:
        folded = self._tracker.unit(run)
        if "0" not in folded and len(folded) > _SPECIAL_SIZE:
            return Goal(NEVER, NEVER)  # without numbers it is the other folding's
        whole = run.period + _SLACK
        if run.need < whole:  # the first copy may begin with marks of the text before
            return Goal(NEVER, NEVER, again=whole)
        copy = self._copy(run)
        if self._measure.apart and (_coded(copy) or is_row(copy.raw)):
            return Goal(NEVER, NEVER)
        if _special(copy.raw):
            return self._measure.goal(copy.folded, Region.PROSE, Text.NUMBERS, len(copy.raw))
        patient = self._patient(copy)
        counter = self._measure.counter(copy.folded, len(copy.raw))
        if _says_little(copy):
            counter = max(counter, self._fewest(copy) * run.period)
        elif _coded(copy):
            counter = round(counter * _IN_CODE)
        if counter >= patient.verdict:
            return patient
        enough = max(counter * 3 // 4, _SEEN * run.period)
        early = min(enough, _GROWN * run.period) if _is_number(copy) else enough
        if run.need < early:
            return patient._replace(again=early)
        return self._judge_numbers(run, copy, counter, patient)

    def _judge_numbers(self, run: Run, copy: Copy, counter: int, patient: Goal) -> Goal:
        """What is needed by what the numbers do, of which there are enough. counter: if they but count."""
        latest = self._latest(run, copy)
        found = course_of_numbers(latest) if _is_number(copy) else course(latest)
        if found is Course.GROWN:
            return Goal(run.need, max(run.need, self._measure.words(run.period, len(copy.raw))))
        marked = found is Course.MARKED
        data = not marked and not _says_little(copy) and shape.figures(copy.raw) >= _FIGURES
        enough = counter * 3 // 4
        if found is Course.VARIED or data or run.need < enough:  # so far: twice as many may have a course
            return patient._replace(again=min(2 * run.need, enough) if run.need < enough else 2 * run.need)
        if found is Course.NAMED:
            counter = max(counter, (_LITTLE if self._measure.thinking else _BARE) * run.period)
            patient = patient._replace(verdict=max(counter, patient.verdict))
        wanted = self._measure.counted(len(copy.folded), equal=marked, spoken=copy.words >= _WORDS)
        counter = max(counter, wanted)
        coming = copies_left(latest) * run.period
        if coming <= _SONG:
            counter = max(counter, run.need + coming)
            patient = patient._replace(verdict=max(counter, patient.verdict))
        if counter >= patient.verdict:
            return patient
        return Goal(run.need, counter, again=counter - 1 if run.need < counter - 1 else 0)

    def _fewest(self, copy: Copy) -> int:
        """Copies of what says little that are no verdict yet: data has rows, and says it without blanks."""
        if "\n" in copy.raw:
            return NEVER
        if _is_number(copy) and " " in copy.raw:
            return _LITTLE if self._measure.thinking else _BARE
        words = any(len(word) > 2 and word.isalpha() for word in (2 * copy.folded).split()[1:-1])
        return _LITTLE if copy.region is Region.PROSE and words else NEVER

    def _patient(self, copy: Copy) -> Goal:
        """What numbers need that change in any way, as in cases that are worked through."""
        if _coded(copy) or _is_label(copy) or shape.figures(copy.raw) >= _FIGURES:
            factor = self._measure.drift_data if copy.words >= _WORDS else 0.0
        else:
            factor = self._measure.drift
        if factor <= 0:
            return Goal(NEVER, NEVER)
        goal = self._measure.goal(copy.folded, Region.PROSE, Text.NUMBERS, len(copy.raw))
        verdict = goal.times(factor).verdict
        verdict = max(verdict, self._measure.counted(len(copy.folded)))
        # Numbered cases are common: no suspicion before it is warranted.
        return Goal(verdict * 3 // 4, verdict)

    def _latest(self, run: Run, copy: Copy) -> list[str]:
        """The latest copies, as many as tell what their numbers do."""
        if _is_number(copy):
            return self._copies_of(run, _COMPARED_NUMBERS)
        return self._copies_of(run, min(_COMPARED, max(6, _COMPARED_SIZE // run.period)))

    def _copies_of(self, run: Run, most: int) -> list[str]:
        """The latest copies within the mass that the run is judged by, as they stand in the raw text."""
        last = run.need // run.period
        first = max(0, last - most)  # the very first copy may begin with marks of the text before
        ends = [self._folded.place(run.start + n * run.period) for n in range(first, last + 1)]
        return [self._page.text(one, two) for one, two in pairwise(ends)]


def _before(first: str, second: str) -> int:
    """How many characters at the beginning of the first copy are of the text before: marks, another line."""
    lines = 0 if "\n" in second else first.rfind("\n") + 1
    marks = _MARKS.match(first, lines)
    return marks.end() if marks else lines


def _is_number(copy: Copy) -> bool:
    return copy.folded.strip() == "0"


def _says_little(copy: Copy) -> bool:
    """Whether it may be a record of data, a row or a log line: those count by nature."""
    if copy.region is not Region.PROSE:
        return not _has_item(copy.raw)
    if _is_label(copy):
        return True
    figures = shape.figures(copy.raw)
    if figures >= _FIGURES and (figures >= _MANY_FIGURES or copy.words <= _WORDS or _is_record(copy.raw)):
        return True
    return _coded(copy) and copy.words < _WORDS


def _is_label(copy: Copy) -> bool:
    if copy.raw.count("\n") not in {1, 2} or copy.words > _LABEL:
        return False
    if copy.words < 2 and not UNSPACED.search(copy.raw):  # blanks may be left out of what is looked at
        return False
    return _letters(copy.raw) <= _LABEL_SIZE


def _letters(raw: str) -> int:
    """Its letters. One of a script without blanks says as much as a few others."""
    return sum(map(str.isalpha, raw)) + 2 * len(UNSPACED.findall(raw))


def _has_item(raw: str) -> bool:
    """Whether an item of a list stands in it that says something, and more lines, as formulas do."""
    if raw.count("\n") < 2:
        return False
    return any(len(set(item.split())) >= _WORDS for item in _ITEM.findall(raw + raw))


def _is_record(raw: str) -> bool:
    return (_STAMPED.search(raw) or TO_FILL.search(raw)) is not None


def _coded(copy: Copy) -> bool:
    return copy.region is not Region.PROSE or shape.symbols(copy.raw) >= _SYMBOLS


def _special(raw: str) -> bool:
    """Whether the unit is nothing but a model's special tokens (of one kind, with changing numbers)."""
    return len(_SPECIAL.sub("", raw * 3)) <= len(raw)
