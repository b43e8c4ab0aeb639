"""Verdicts on text that repeats but for its numbers: a counter that runs on, cases that differ in no more."""

import re
from itertools import pairwise

from ollama_guard.detect import shape
from ollama_guard.detect.counting import Course, copies_left, course, course_of_numbers
from ollama_guard.detect.finding import Kind
from ollama_guard.detect.fold import Text
from ollama_guard.detect.records import TO_FILL, is_row
from ollama_guard.detect.regions import Region
from ollama_guard.detect.run import Goal, Run
from ollama_guard.detect.scripts import UNSPACED
from ollama_guard.detect.tables import NEVER
from ollama_guard.detect.variant import IN_CODE, SLACK, Copy, Variant

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
_ITEM = re.compile(r"^[ \t]*\d+[.)][ \t]+(.*)$", re.MULTILINE)
"""An item of a numbered list."""


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
        whole = run.period + SLACK
        if run.need < whole:  # the first copy may begin with marks of the text before
            return Goal(NEVER, NEVER, again=whole)
        copy = self._copy(run)
        if self._measure.apart and (copy.coded or is_row(copy.raw)):
            return Goal(NEVER, NEVER)
        if _special(copy.raw):
            return self._measure.goal(copy.folded, Region.PROSE, Text.NUMBERS, len(copy.raw))
        patient = self._patient(copy)
        counter = self._measure.counter(copy.folded, len(copy.raw))
        if _says_little(copy):
            counter = max(counter, self._fewest(copy) * run.period)
        elif copy.coded:
            counter = round(counter * IN_CODE)
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
        if 0 < coming <= _SONG:
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
        if copy.coded or _is_label(copy) or shape.figures(copy.raw) >= _FIGURES:
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
    return copy.coded and copy.words < _WORDS


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


def _special(raw: str) -> bool:
    """Whether the unit is nothing but a model's special tokens (of one kind, with changing numbers)."""
    return len(_SPECIAL.sub("", raw * 3)) <= len(raw)
