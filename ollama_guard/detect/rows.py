"""Verdicts on lines that are equal but for a counter: "(12, 'Saw', 14.40),", "(13, 'Saw', 14.40),".

Drift folds numbers away, and so takes a table of measurements for the same. Here each line is compared with
the one before, number by number: all but the count must stand still. Healthy files hardly have that: of
55,568 (`tests/bench/material.py`), played as answers, none is stopped for it.
"""

import math
from collections import deque

from ollama_guard.detect import shape, stale
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.fold import Fold
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.records import Row, Worth, row_of, worth
from ollama_guard.detect.run import Hit, Run
from ollama_guard.detect.tables import NEVER

_TOGETHER = 8
"""Rows that may make a unit, taking turns."""
_LOOK = 600
"""Repeated characters from which rows are worth judging."""
_ODD = 0.1
"""Share of rows that may go on otherwise: models skip a number or begin anew now and then."""
_LEARNT = 4
"""Units after which it is known what counts in them."""
_SAID = 8
"""Words of an item that is more than a label."""
_LATE = 3000
"""Rows that are a verdict in an answer whatever counts in them: dates, addresses, names with a number."""
_HELD = 128
"""Rows that are remembered: those of a unit, and those that stood before a run."""


class Rows:
    """One channel's lines, watched for a counter that runs on while nothing else changes."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._rows: deque[Row] = deque(maxlen=_HELD)
        self._nearest: deque[str] = deque(maxlen=_TOGETHER)  # what `_near` finds
        self._end = 0
        self._begin(0, 0)

    def take(self, line: str, end: int) -> Hit | None:
        """The next line, and the offset behind its break; a verdict, if it is one now."""
        self._end = end
        if (row := row_of(line, end)) is None:
            self.stop()
            return None
        self._take(row)
        return self._judge(end) if self._unit and end - self._start >= self._due else None

    def stop(self) -> None:
        """No run of rows goes on from here."""
        self._rows.clear()
        self._nearest.clear()
        self._unit = 0

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        return self._unit > 0 and self._goal > 0 and self._end - self._start >= self._goal * 3 // 4

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        unit = "\n".join(row.line for row in list(self._rows)[-self._unit :])
        repeats = self._count / self._unit + 1
        return describe(Kind.DRIFT, channel, unit, hit.run.start, hit.at, repeats=repeats)

    def _begin(self, unit: int, start: int) -> None:
        """A run begins: the second of its units, each of so many rows, starts here."""
        self._unit = unit
        self._start = start
        self._count, self._odd = 0, 0
        self._steps: list[list[int]] = []
        self._due, self._goal = _LOOK, 0
        self._enough: float | None = None  # lines that are, for what stands before; once that was looked at

    def _take(self, row: Row) -> None:
        rows = self._rows
        if not self._unit or rows[-self._unit].template != row.template:
            self._unit = 0
            if row.numbers and row.template in self._nearest:
                self._begin(self._near(row, 0), rows[-1].end)
        if self._unit:
            self._go_on(row)
        rows.append(row)
        self._nearest.append(row.template)

    def _near(self, row: Row, beyond: int) -> int:
        """How far back, but farther than this, the nearest row stands that is equal but for its numbers."""
        rows = self._rows
        backs = range(beyond + 1, min(len(rows), _TOGETHER) + 1)
        return next((back for back in backs if rows[-back].template == row.template), 0)

    def _go_on(self, row: Row) -> None:
        before = self._rows[-self._unit]
        steps = [new - old for old, new in zip(before.numbers, row.numbers, strict=True)]
        turn = self._count % self._unit
        if self._count < self._unit:
            self._steps.append(steps)
        elif self._count < _LEARNT * self._unit:
            self._steps[turn] = steps
        elif _is_odd(self._steps[turn], steps):
            self._odd += 1
            if self._odd > _ODD * self._count + 1:  # numbers may take turns, too: "6:00", "6:30", "7:00"
                self._begin(self._near(row, self._unit) or self._near(row, 0), row.end)
                return
        self._count += 1

    def _judge(self, end: int) -> Hit | None:
        """The run has come to where something is due: whether it is a verdict."""
        if self._count < _LEARNT * self._unit:
            return None
        mass = end - self._start
        unit = list(self._rows)[-self._unit :]
        self._goal = self._needed(unit)
        self._due = max(self._goal, mass + 1)
        size = sum(len(row.line) + 1 for row in unit)
        return Hit(Run(size, self._start, mass), end) if mass >= self._goal else None

    def _needed(self, unit: list[Row]) -> int:
        """The repeated characters that rows such as these need."""
        if not any(map(any, self._steps)):
            return NEVER  # nothing counts
        text = "".join(f"{self._plain(row.line)}\n" for row in unit)
        units, last = self._fewest(unit)
        if units == math.inf:
            return NEVER
        shown = sum(len(row.line) + 1 for row in unit) - 1
        needed = self._measure.counter(Fold(numbers=True).feed(text), shown, len(text))
        if not self._measure.escaped:
            units = min(units, max(stale.UNITS, self._stale(unit) / self._unit))
        wanted = self._measure.counted(len(text), equal=_says(last.item), spoken=True, facts=last.facts)
        return max(needed, round(units * self._measure.scale * len(text)), wanted)

    def _fewest(self, unit: list[Row]) -> tuple[float, Worth]:
        """The units that are no verdict yet where nothing is known of what stands before, infinity if it does
        not matter either; what the last line is worth."""
        fewest, one = 0, Worth(None, "")
        for row, steps in zip(unit, self._turns(), strict=True):
            line = self._plain(row.line)
            one = worth(line, steps, thinking=self._measure.thinking, alone=self._unit == 1)
            if self._measure.apart and not one.said:
                return math.inf, one
            if one.rows is None:
                return NEVER if self._measure.escaped else _LATE / self._unit, one
            fewest = max(fewest, one.rows)
        return fewest / self._unit, one

    def _stale(self, unit: list[Row]) -> float:
        """The lines that are a verdict because of those before the run, in the text and in the request."""
        if self._enough is None:
            still = {
                stale.frame(row.template): [not step for step in steps]
                for row, steps in zip(unit, self._turns(), strict=True)
            }
            before = list(self._rows)[: -self._count - self._unit]
            shown = self._measure.shown if len(self._rows) < _HELD else []
            self._enough = stale.enough(before, unit, still, shown)
        return self._enough

    def _turns(self) -> list[list[int]]:
        """How the numbers move in each row of the latest unit."""
        first = self._count % self._unit
        return self._steps[first:] + self._steps[:first]

    def _plain(self, line: str) -> str:
        return line.replace("\\t", " ") if self._measure.escaped else line


def _says(item: str) -> bool:
    """Whether an item is no label that many things may have: a sentence, or nothing but digits."""
    return bool(item) and (
        max(len(item.split()), shape.words(item)) >= _SAID or not any(map(str.isalpha, item))
    )


def _is_odd(usual: list[int], steps: list[int]) -> bool:
    """Whether the numbers of a row do not go on as they did: a step is made as ever or left out."""
    if any(usual) and not any(steps):
        return True
    return any(new not in {0, old} for old, new in zip(usual, steps, strict=True))
