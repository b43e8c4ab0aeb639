"""What is counted, and the figures that are made of it. Adding in another order gives the same figures.

Percentiles are nearest-rank: the smallest value that at least so many of a hundred do not exceed.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ollama_guard.evaluate.play import Played
from ollama_guard.evaluate.samples import Truth

KEPT = 1000
"""Verdicts (and misses) that are remembered one by one; the others are only counted."""
BANDS = ((40, "1-40"), (200, "41-200"), (1000, "201-1000"), (math.inf, "over 1000"))
"""Units by their length: each has a goal of its own for how late a verdict may fall."""


def percentile(values: Sequence[float], share: float) -> float | None:
    """Nearest rank; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(slots=True)
class Caught:
    """Loops of one sort. Delays are from the onset to the verdict; below zero where it fell earlier."""

    runs: int = 0
    caught: int = 0
    early: int = 0
    chars: list[int] = field(default_factory=list)
    copies: list[float] = field(default_factory=list)

    def add(self, played: Played) -> None:
        self.runs += 1
        if not played.caught or played.hit is None:
            return
        delay = played.hit.at - played.label.onset
        self.caught += 1
        self.early += delay < 0
        self.chars.append(delay)
        if played.label.period:
            self.copies.append(delay / played.label.period)

    @property
    def recall(self) -> float | None:
        return self.caught / self.runs if self.runs else None


@dataclass(slots=True)
class Healthy:
    """Healthy texts of one group."""

    texts: int = 0
    chars: int = 0
    stopped: int = 0

    @property
    def per_10k(self) -> float:
        return 1e4 * self.stopped / self.texts if self.texts else 0.0


@dataclass(slots=True)
class Score:
    """All that one detector did."""

    detector: str
    loops: Caught = field(default_factory=Caught)
    kinds: dict[str, Caught] = field(default_factory=lambda: defaultdict(Caught))
    bands: dict[str, Caught] = field(default_factory=lambda: defaultdict(Caught))
    healthy: dict[str, Healthy] = field(default_factory=lambda: defaultdict(Healthy))
    premature: int = 0
    gray: int = 0
    gray_stopped: int = 0
    false: list[Played] = field(default_factory=list)
    missed: list[Played] = field(default_factory=list)
    false_rules: Counter[str] = field(default_factory=Counter)
    deltas: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    slowest_name: str = ""

    def add(self, played: Played) -> None:
        """One more text."""
        self._time(played)
        truth, label = played.label.truth, played.label
        if truth is Truth.HEALTHY:
            group = self.healthy[played.group]
            group.texts += 1
            group.chars += played.size
            group.stopped += played.false
        elif truth is Truth.GRAY:
            self.gray += 1
            self.gray_stopped += played.hit is not None
        else:
            band = (
                next(name for upto, name in BANDS if label.period <= upto) if label.period else "none fixed"
            )
            for caught in (self.loops, self.kinds[label.kind], self.bands[band]):
                caught.add(played)
            self.premature += played.false
            if played.hit is None and len(self.missed) < KEPT:
                self.missed.append(played)
        if played.false and played.hit is not None:
            self.false_rules[played.hit.rule] += 1
            if len(self.false) < KEPT:
                self.false.append(played)

    @property
    def false_total(self) -> int:
        return sum(self.false_rules.values())

    @property
    def per_delta(self) -> float:
        """Microseconds."""
        return 1e6 * self.seconds / self.deltas if self.deltas else 0.0

    def _time(self, played: Played) -> None:
        self.deltas += played.deltas
        self.seconds += played.seconds
        if played.deltas >= 100 and played.seconds / played.deltas > self.slowest:
            self.slowest, self.slowest_name = played.seconds / played.deltas, played.name
