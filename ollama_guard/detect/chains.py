"""Verdicts on an equation that is written anew without end: "= 25*48 + 129*7 = 10*48 + 129*7 = …".

Folding takes the operators away, so Drift sees but numbers in a row there, as data has them. What stands
between two signs of equality is compared instead. In work each step has new numbers, or all of them count
("100 = 1 + 99 = 2 + 98"); a loop takes the same few again and again.
"""

import math
import re
from collections import deque
from itertools import pairwise

from ollama_guard.detect.counting import DECIMAL
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.run import Hit, Run

_LONGEST = 200
"""Characters of a member."""
_FEWEST, _MASS = 48, 400
"""Members beyond the first, and their characters, that are a verdict."""
_COMPARED, _FEW, _STEADY = 48, 0.7, 0.8
"""The latest members, whose numbers are compared; the share of different ones up to which they come again,
and of equal steps from which they count."""
_MEMBER = re.compile(r"[\w(\[{\\][\w .*+/^×·÷−–()\[\]{}\\!-]*[\w)\]}!]")
_OPERATOR = re.compile(r"[+*/^×·÷−–(\\-]")
_APART = re.compile(
    r"(?<![\\a-z])[^\W\d_]{5}"  # words
    r"|[\w)\]}] +[^\W\d]\w*\Z"  # the name of something to which the next value belongs
    r"|[\d_)\]}!] +(?:[\w(\[{]|\\q?quad)(?!od\b)"  # a value, and the next item of a list
    r"|[.](?!\d)|[*]{2}|\\(?:[\\()\[\]]|q?quad|hspace|text)",  # what stands between items
    re.IGNORECASE,
)


class Chains:
    """One channel's text, watched for equations."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._read = 0
        self._rest = ""
        self._members: deque[str] = deque(maxlen=_COMPARED)
        self._form = ""
        self._start, self._count = 0, 0
        self._due, self._again = 0, False  # the count at which to look, and what was seen

    def feed(self, text: str) -> Hit | None:
        """Append raw text; the earliest verdict within it."""
        end = self._read
        self._read += len(text)
        *pieces, rest = text.split("=")
        for piece in pieces:
            end += len(piece) + 1
            hit = self._take(self._rest + piece, end)
            self._rest = ""
            if hit:
                return hit
        if len(self._rest) <= _LONGEST:
            self._rest += rest
        else:  # the text goes on without one
            self._form = ""
        return None

    def skip(self, text: str) -> None:
        """Text that is not looked at. No chain reaches over it."""
        self._read += len(text)
        self._rest, self._form = "", ""

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        return bool(self._form) and self._again

    def place(self, hit: Hit) -> int:
        """The length of the text at which the hit fell."""
        return hit.at

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        unit = f"{self._members[-1]}="
        return describe(Kind.DRIFT, channel, unit, hit.run.start, hit.at, repeats=self._count + 1)

    def _take(self, member: str, end: int) -> Hit | None:
        """What stands before a sign of equality, and where it ends."""
        core = member.strip()
        if not _is_expression(core):
            self._form = ""
            return None
        form = DECIMAL.sub("0", core)
        if form != self._form:
            self._form, self._start, self._count = form, end, 0
            self._due, self._again = _FEWEST * 3 // 4, False
            self._members.clear()
        else:
            self._count += 1
        self._members.append(member)
        if self._count < self._due:
            return None
        return self._look(end, len(member) + 1)

    def _look(self, end: int, size: int) -> Hit | None:
        """Whether the numbers come again, asked now and then."""
        self._again = _comes_again(self._members)
        fewest, mass = math.ceil(_FEWEST * self._measure.scale), end - self._start
        self._due = fewest if self._count < fewest else self._count + _COMPARED // 4
        if not self._again or self._count < fewest or mass < max(_MASS, self._measure.words(size)):
            return None
        return Hit(Run(size, self._start, mass), end)


def _is_expression(text: str) -> bool:
    """Whether it may be what an equation goes on with: no assignment, no item of a list, no row."""
    if len(text) > _LONGEST or "\n" in text or not _MEMBER.fullmatch(text):
        return False
    return _OPERATOR.search(text) is not None and not _APART.search(text)


def _comes_again(members: deque[str]) -> bool:
    """Whether the members differ by numbers that were there before, and by what counts."""
    columns = zip(*(DECIMAL.findall(member) for member in members), strict=False)
    said = list(zip(*(column for column in columns if not _counts(column)), strict=True))
    return 1 < len(set(said)) <= _FEW * len(said)


def _counts(column: tuple[str, ...]) -> bool:
    """Whether these are a counter's. Unlike one in a list, it never stands still: few values come again."""
    steps = [int(two) - int(one) for one, two in pairwise(column)]
    return any(steps) and max(map(steps.count, set(steps))) >= _STEADY * len(steps)
