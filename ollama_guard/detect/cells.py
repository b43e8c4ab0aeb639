"""Table rows with next to nothing in them: a name that was there before, and one number in most of the cells.

So small models fill a table that does not end: "| Saturn | 2.5 | 2.5 | 2.5 | 2 |", "| Earth | 2.1 | 2.1 | …".
Neither names nor numbers come back in any order, so nothing repeats. In plans, logs and series a column of
numbers rises or falls.
"""

import math
import re
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.lines import LONGEST
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.run import Hit, Run
from ollama_guard.detect.tables import NEVER

_FEWEST, _MASS = 24, 1200
"""Rows, and their characters, that are a verdict."""
_NAMES, _VALUES = 3, 8
"""Different names and numbers that such rows have. Fewer may be states, as in a matrix."""
_EQUAL, _MOSTLY = 3, 2 / 3
"""Cells of a row that hold the same number, and their share of the cells with numbers."""
_KNOWN = 512
"""Different names of a table. One with more has something to say."""
_VALUE = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?\s?%?")

_TURNS = 2
"""Times that a column rises and never falls, or the other way, or the numbers of each name do: that is a
count, a plan or a series."""

Name = tuple[str, ...]
"""The cells of a row that hold no number."""
_OF_NAMES = -1
"""In place of a column: what is counted of the numbers of each name."""


class _Read(NamedTuple):
    """A row of a table: its cells without a number; those with one, by their place; what stands in most of
    these, "" if nothing does."""

    name: Name
    values: dict[int, float]
    most: str


class Cells:
    """One channel's text, watched for tables that are filled with the same names and numbers."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._fewest = NEVER if measure.apart else math.ceil(_FEWEST * measure.scale)
        self._known: set[Name] = set()
        self._end, self._line = 0, ""
        self._begin(0)

    def take(self, line: str, end: int) -> Hit | None:
        """The next line, and the offset behind its break; a verdict, if it is one now."""
        row = line.strip()
        if row[:1] == row[-1:] == "|" and len(row) <= LONGEST:
            self._take(row, end)
        elif self._known:
            self.stop()
        self._end = end
        return self._judge(end) if self._count >= self._fewest else None

    def stop(self) -> None:
        """No table goes on from here."""
        self._known.clear()
        self._begin(0)

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        return self._count >= self._fewest * 3 // 4

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        found = describe(Kind.NOVELTY, channel, self._line, hit.run.start, hit.at, repeats=self._count)
        detail = (
            f"{self._count} rows of a table say nothing but {len(self._names)} names that were there before "
            f"and one number in most cells, from character {hit.run.start}: {found.mass} characters repeated"
        )
        return replace(found, detail=detail)

    def _begin(self, start: int) -> None:
        """Rows with next to nothing in them begin here."""
        self._start, self._count = start, 0
        self._names, self._most = set[Name](), set[str]()
        self._before: dict[int | Name, float] = {}
        self._rises, self._falls = Counter[int](), Counter[int]()

    def _take(self, line: str, end: int) -> None:
        row = _read(line)
        if row.most and row.name in self._known:
            if not self._count:
                self._begin(self._end)
            self._count += 1
            self._names.add(row.name)
            self._most.add(row.most)
            for place, value in row.values.items():
                self._follow(place, place, value)
            self._follow(row.name, _OF_NAMES, _number(row.most))
            self._line = line
        else:
            self._begin(end)
        if len(self._known) < _KNOWN:
            self._known.add(row.name)

    def _follow(self, what: int | Name, kind: int, value: float) -> None:
        """The next number of a column, or of a name."""
        before = self._before.get(what, value)
        self._rises[kind] += value > before
        self._falls[kind] += value < before
        self._before[what] = value

    def _judge(self, end: int) -> Hit | None:
        if len(self._names) < _NAMES or len(self._most) < _VALUES or self._goes_on():
            return None
        mass = end - self._start
        size = mass // self._count
        needed = max(_MASS * self._measure.scale, self._measure.words(size), self._measure.counted(size))
        needed = max(needed, self._measure.promised(len(self._line)))
        return Hit(Run(size, self._start, mass), end) if mass >= needed else None

    def _goes_on(self) -> bool:
        """Whether the numbers of a column go but one way, or those of each name."""
        up = any(count >= _TURNS and not self._falls[at] for at, count in self._rises.items())
        return up or any(count >= _TURNS and not self._rises[at] for at, count in self._falls.items())


def _read(line: str) -> _Read:
    cells = [cell.strip() for cell in line[1:-1].split("|")]
    values = {at: cell for at, cell in enumerate(cells) if _VALUE.fullmatch(cell)}
    name = tuple(cell for at, cell in enumerate(cells) if cell and at not in values)
    most = ""
    if len(values) >= _EQUAL and any(map(str.isalpha, "".join(name))):
        value, count = Counter(values.values()).most_common(1)[0]
        most = value if count >= max(_EQUAL, _MOSTLY * len(values)) else ""
    return _Read(name, {at: _number(cell) for at, cell in values.items()} if most else {}, most)


def _number(cell: str) -> float:
    return float(cell.replace(",", "").replace("−", "-").rstrip("% \u00a0"))
