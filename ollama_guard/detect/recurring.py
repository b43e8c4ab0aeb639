"""Lines that were all said before, under one count that runs on: "Day 204: Lunch", "Day 205: Lecture", …

They come in any order, or in blocks of lines of which some have no number. So nothing repeats but for numbers
and no row is like the one before; but line by line nothing is said that was not, and the count goes on.
"""

import math
from collections import Counter
from dataclasses import replace

from ollama_guard.detect.counting import DIGITS
from ollama_guard.detect.data import EMPTY
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.lines import LONGEST
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.records import NUMBER, WORD
from ollama_guard.detect.run import Hit, Run

_FEWEST, _MASS = 128, 1500
"""Lines in a row, and their characters, that are a verdict."""
_BEFORE = 3
"""Times that a line was said, but for its first number, before it says nothing."""
_KINDS, _MOSTLY = 32, 0.7
"""Different lines of which two at least, and no more, are said again and again; the share that one of them
may have: a table may end in equal rows."""
_NUMBERED, _RISING, _STEP = 0.25, 0.9, 2
"""Share of lines with a number, and of these the share in which it goes on: by so much, or as before."""
_KNOWN = 4096


class Recurring:
    """One channel's lines, watched for a count that runs on while nothing is said but what was."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._fewest = math.ceil(_FEWEST * measure.scale)
        self._end = 0
        self._said: dict[str, int] = {}
        self.stop()

    def take(self, line: str, end: int) -> Hit | None:
        """The next line, and the offset behind its break; a verdict, if it is one now."""
        if not line or line.isspace():
            return None
        found = NUMBER.search(line)
        if len(line) > LONGEST or (found and len(found[0]) > DIGITS):
            self.stop()
            return None
        said = f"{line[: found.start()]}0{line[found.end() :]}" if found else line
        rising = found is not None and self._goes_on(int(found[0], 16 if "x" in found[0].lower() else 10))
        before = self._said.get(said, 0)
        self._said[said] = before + 1
        if before < _BEFORE:
            self._begin(end)
            if len(self._said) > _KNOWN:
                self._said.clear()
            return None
        self._count += 1
        self._numbered += found is not None
        self._rising += rising
        self._kinds[said] += 1
        self._line = line
        return self._judge(end) if self._count >= self._fewest else None

    def stop(self) -> None:
        """No run goes on from here."""
        self._said.clear()
        self._number, self._step = 0, 0
        self._begin(0)

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        return self._count >= self._fewest * 3 // 4 and self._runs_on()

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        found = describe(Kind.DRIFT, channel, self._line, hit.run.start, hit.at, repeats=self._count)
        detail = (
            f"{self._count} lines in a row are {len(self._kinds)} that were said before with other numbers: "
            f"{found.mass} characters repeated from character {hit.run.start}"
        )
        return replace(found, detail=detail)

    def _begin(self, start: int) -> None:
        """Lines that were said before begin here."""
        self._start, self._count, self._numbered, self._rising = start, 0, 0, 0
        self._kinds = Counter[str]()
        self._line = ""

    def _goes_on(self, number: int) -> bool:
        """Whether the count does."""
        step = number - self._number
        usual, self._step, self._number = self._step, step, number
        return 0 < step <= _STEP or (step > 0 and step == usual)

    def _judge(self, end: int) -> Hit | None:
        mass = end - self._start
        if mass < _MASS * self._measure.scale or not self._runs_on():
            return None
        size = mass // self._numbered
        needed = max(self._measure.words(size), self._measure.counted(size))
        return Hit(Run(size, self._start, mass), end) if mass >= needed else None

    def _runs_on(self) -> bool:
        """Whether a count runs on in lines of some kinds, one of which has a word."""
        if not 2 <= len(self._kinds) <= _KINDS or max(self._kinds.values()) > _MOSTLY * self._count:
            return False
        if self._numbered < _NUMBERED * self._count or self._rising < _RISING * self._numbered:
            return False
        return any({word.casefold() for word in WORD.findall(said)} - EMPTY for said in self._kinds)
