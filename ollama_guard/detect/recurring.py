"""Blocks of lines that locked in: "else if n < 104", 'return "Buzz"', … after the same lines in other order.

A count runs on in them, and line by line nothing else is new. That is so in many a plan and table; but these
are in blocks from their first line on, and labels or throws of dice never come in blocks. A loop wavers
first. (Where each row is like the one before, `stale` tells the same.)
"""

import math
from collections import Counter, deque
from dataclasses import replace

from ollama_guard.detect.counting import DIGITS
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.lines import LONGEST
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.records import NUMBER, is_row, notable, value
from ollama_guard.detect.regions import Region, region_of
from ollama_guard.detect.run import Hit, Run

_FEWEST, _EVERY = 320, 64
"""Lines in a row that are a verdict; lines between two looks."""
_BEFORE = 3
"""Times that a line was said, but for its first number, before it says nothing."""
_LONGEST, _SAME, _MOSTLY = 40, 0.9, 0.75
"""Lines of a block at most; the share of lines that stand in their place, and that may be all the same."""
_WAVERED, _ASTRAY, _TIMES = 9, 0.15, 2
"""Lines that stood out of place before; their share up to the last of them; how many times as many lines
follow. A roster has holidays now and then, and to the end."""
_NUMBERED, _RISING, _STEP = 0.25, 0.9, 2
"""Share of lines with a number, and of these the share in which it goes on: by so much, or as before."""
_HELD = 1024
"""Lines that are remembered."""


class Recurring:
    """One channel's lines, watched for blocks that locked in while a count runs on."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._fewest = math.ceil(_FEWEST * measure.scale)
        self._said: dict[str, int] = {}
        self._held: deque[str] = deque(maxlen=_HELD)
        self._period = 0
        self.stop()

    def take(self, line: str, end: int) -> Hit | None:
        """The next line, and the offset behind its break; a verdict, if it is one now."""
        found = NUMBER.search(line)
        if len(line) > LONGEST or (found and len(found[0]) > DIGITS):
            self.stop()
            return None
        said = f"{line[: found.start()]}0{line[found.end() :]}" if found else line
        rising = found is not None and self._goes_on(value(found[0]))
        before = self._said.get(said, 0)
        self._said[said] = before + 1
        self._held.append(said)
        if before < _BEFORE:
            self._begin(end)
            if len(self._said) > _HELD:
                self.stop()
            return None
        self._count += 1
        self._numbered += found is not None
        self._rising += rising
        return self._judge(end) if self._count >= self._due else None

    def stop(self) -> None:
        """No run goes on from here."""
        self._said.clear()
        self._held.clear()
        self._number, self._step = 0, 0
        self._begin(0)

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        return self._period > 0

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        unit, copies = "\n".join(list(self._held)[-self._period :]), self._count / self._period
        found = describe(Kind.DRIFT, channel, unit, hit.run.start, hit.at, repeats=copies)
        detail = (
            f"{self._count} lines in a row were said before with other numbers, at last in blocks of "
            f"{self._period}: {found.mass} characters repeated from character {hit.run.start}"
        )
        return replace(found, detail=detail)

    def _begin(self, start: int) -> None:
        """Lines that were said before begin here."""
        self._start, self._count, self._numbered, self._rising = start, 0, 0, 0
        self._due, self._period = self._fewest * 3 // 4, 0

    def _goes_on(self, number: int) -> bool:
        """Whether the count does."""
        step = number - self._number
        usual, self._step, self._number = self._step, step, number
        return 0 < step <= _STEP or (step > 0 and step == usual)

    def _judge(self, end: int) -> Hit | None:
        self._due = max(self._fewest, self._count + _EVERY)
        self._period = self._locked()
        if not self._period or self._count < self._fewest:
            return None
        mass = end - self._start
        size = mass // self._numbered
        if self._measure.apart and _is_data("\n".join([*list(self._held)[-self._period :], ""])):
            return None
        block = self._measure.promised(mass * self._period // self._count)
        needed = max(self._measure.words(size), self._measure.counted(size), block)
        return Hit(Run(size, self._start, mass), end) if mass >= needed else None

    def _locked(self) -> int:
        """The lines of a block, if the run is of blocks in which a count runs on, and wavered; else 0."""
        if self._numbered < _NUMBERED * self._count or self._rising < _RISING * self._numbered:
            return 0
        lines = list(self._held)
        run = lines[-self._fewest * 5 // 8 :]
        kinds = Counter(run)
        if max(kinds.values()) > _MOSTLY * len(run):
            return 0
        if not any(map(notable, kinds)):
            return 0
        period = next((size for size in range(1, _LONGEST + 1) if _agrees(run, size)), 0)
        if period < 2:
            return 0
        before = lines[: -len(run)]
        first = next((at for at, said in enumerate(before) if said in kinds), 0)
        moved = [at for at in range(first, len(before)) if lines[at] != lines[at + period]]
        if len(moved) < _WAVERED:
            return 0
        wavered = moved[-1] + 1 - first
        dense = len(moved) >= _ASTRAY * wavered
        return period if dense and len(lines) - moved[-1] >= _TIMES * wavered else 0


def _is_data(block: str) -> bool:
    return region_of(block, "", fenced=False) is not Region.PROSE or is_row(block)


def _agrees(lines: list[str], size: int) -> bool:
    """Whether most lines stand where they stood, so many lines back."""
    return sum(map(str.__eq__, lines, lines[size:])) >= _SAME * (len(lines) - size)
