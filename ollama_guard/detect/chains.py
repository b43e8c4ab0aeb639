"""Verdicts on an equation that is written anew without end: "= 25*48 + 129*7 = 10*48 + 129*7 = …".

Folding takes the operators away, so Drift sees but numbers in a row there, as data has them. What stands
between two signs of equality is compared instead. Nobody works in so many steps of one form.
"""

import re
from collections import deque

from ollama_guard.detect.counting import Course, course
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.records import NUMBER
from ollama_guard.detect.run import Hit, Run

_LONGEST = 200
"""Characters of a member."""
_FEWEST, _MASS = 32, 400
"""Members beyond the first, and their characters, that are a verdict."""
_COMPARED = 24
"""Members whose numbers are compared: what counts may have been asked for."""
_MEMBER = re.compile(r"[\w(\[{\\][\w .*+/^×·÷−–()\[\]{}\\!-]*[\w)\]}!]")
_OPERATOR = re.compile(r"[+*/^×·÷−–(\\-]")
_WORDS = re.compile(r"(?<![\\a-z])[^\W\d_]{5}|[\w)\]}] +[^\W\d]\w*\Z", re.IGNORECASE)
"""Words, or the name of something to which the next value belongs."""


class Chains:
    """One channel's text, watched for equations."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._read = 0
        self._rest = ""
        self._members: deque[str] = deque(maxlen=_COMPARED)
        self._form = ""
        self._start, self._count = 0, 0

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
        if len(self._rest) <= _LONGEST:  # else it is none any more
            self._rest += rest
        return None

    def skip(self, text: str) -> None:
        """Text that is not looked at. No chain reaches over it."""
        self._read += len(text)
        self._rest, self._form = "", ""

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        return bool(self._form) and self._count >= _FEWEST * 3 // 4

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
        form = NUMBER.sub("0", core)
        if form != self._form:
            self._form, self._start, self._count = form, end, 0
            self._members.clear()
        else:
            self._count += 1
        self._members.append(member)
        mass = end - self._start
        if self._count < _FEWEST * self._measure.scale or mass < _MASS or mass < self._wanted():
            return None
        return Hit(Run(len(member) + 1, self._start, mass), end)

    def _wanted(self) -> int:
        """The characters that a number in the request may have asked for: one that is counted to."""
        if course(list(self._members)) is Course.VARIED:
            return 0
        return self._measure.counted(len(self._members[-1]) + 1)


def _is_expression(text: str) -> bool:
    """Whether it may be what an equation goes on with: no assignment, no item of a list, no row."""
    if len(text) > _LONGEST or "\n" in text or not _MEMBER.fullmatch(text):
        return False
    return _OPERATOR.search(text) is not None and not _WORDS.search(text)
