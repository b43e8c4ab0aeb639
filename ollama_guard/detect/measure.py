"""How much a run must repeat: a channel's rules, applied to one unit in its place."""

import math

from ollama_guard.detect import shape
from ollama_guard.detect.asked import Asked
from ollama_guard.detect.fold import Text
from ollama_guard.detect.regions import Region
from ollama_guard.detect.rules import ChannelRules, Table
from ollama_guard.detect.shape import Shape
from ollama_guard.detect.tracker import NEAR, Goal, Tier

NEVER = 1 << 50
_BLOB_FACTOR = 10.0
"""For zeros in encoded data: 6,000 characters of "A" stand in many a base64 file."""
_SOON = 60
"""Repeated characters at which plain text is suspicious: rare in healthy runs, and soon over there."""
_REMEMBERED = 1024
_SEPARATOR = 8
"""A separator's unit is short; it is as long in code as in prose."""


class Measure:
    """The thresholds of one channel, the request taken into account."""

    def __init__(self, rules: ChannelRules, asked: Asked) -> None:
        self._rules = rules
        self._asked = asked
        self.upto = asked.upto
        self._least: dict[int, Goal] = {}
        self.by_span = rules.span_min is not None
        self.escaped = rules.escaped
        self.thinking = rules.thinking
        self.drift, self.drift_data = rules.drift, rules.drift_data

    def look(self, period: int) -> int:
        """The least mass at which a run of this period is worth judging."""
        return self.least(period).alarm

    def least(self, period: int) -> Goal:
        """What any unit of this length needs at the least, whatever it is made of and wherever it stands."""
        found = self._least.get(period)
        if found is None:
            if len(self._least) >= _REMEMBERED:
                self._least.clear()
            found = self._least[period] = _least(self._rules, period)
        return found

    def counter(self, folded: str) -> int:
        """The repeated characters from which this unit is certain if nothing but a counter changes in it."""
        if self._rules.drift <= 0:
            return NEVER
        needed = math.ceil(mass(self._rules.counter, len(folded)) * self._rules.scale)
        if self._asked.wants(folded, Text.NUMBERS):
            needed = math.ceil(needed * self._rules.asked) + self._asked.allowance(folded)
        return needed

    def short_search(self) -> Tier | None:
        """The dense search that rules with verdicts on very few characters need, None for all others."""
        fewest = min(self.least(period).verdict for period in range(1, NEAR.anchor + 1))
        if fewest >= NEAR.anchor + NEAR.stride:
            return None
        anchor = next(size for size in (8, 4, 2, 1) if 2 * size <= max(fewest, 2))
        return Tier(anchor, anchor, NEAR.anchor)

    def goal(self, unit: str, region: Region, text: Text = Text.RAW) -> Goal:
        """The masses at which a run of this unit is suspicious, and at which it is certain.

        text: what the unit was found in. `span_min` is about text that is equal, numbers included.
        """
        if self._rules.escaped and text is Text.RAW:
            unit = shape.unescaped(unit)
        plain = None if text is Text.NUMBERS else by_span(self._rules, unit)
        if plain is None:
            plain = by_table(self._rules, unit, region)
        if plain.verdict >= NEVER or not self._asked.wants(unit, text):
            return Goal(max(plain.alarm, self.look(len(unit))), plain.verdict)
        verdict = max(
            math.ceil(plain.verdict * self._rules.asked), plain.verdict + self._asked.allowance(unit)
        )
        return Goal(verdict // 2, verdict)


def by_table(rules: ChannelRules, unit: str, region: Region) -> Goal:
    """What the tables ask for, whatever the request."""
    period = len(unit)
    kind = Shape.FLAT if region is Region.BLOB else shape.shape_of(unit)
    factor = _factor(rules, region, kind, period)
    if factor <= 0:
        return Goal(NEVER, NEVER)
    verdict = math.ceil(mass(rules.table(kind), period) * rules.scale * factor)
    plain = kind is Shape.TEXT and factor <= 1
    return Goal(alarm_at(verdict) if plain else max(1, verdict // 4), verdict)


def by_span(rules: ChannelRules, unit: str) -> Goal | None:
    """What `span_min` asks for; None where it does not apply.

    A unit with a short core counts together with its neighbours; a long one needs no more copies than the
    table says.
    """
    core = shape.core_length(unit) if rules.span_min is not None else 0
    if rules.span_min is None or (core == 0 and rules.core_min > 0):
        return None
    period = len(unit)
    together = math.ceil(rules.core_min / core) if rules.core_min else 1
    enough = max(copies(rules.table(shape.shape_of(unit)), period), 1)
    repeated = min(rules.span_copies * together - 1, enough)
    verdict = max(rules.span_min - period, math.ceil(repeated * period))
    return Goal(alarm_at(verdict), verdict)


def mass(table: Table, period: int) -> int:
    """The repeated characters that a table asks for."""
    for band in table:
        if period <= band.upto:
            return max(band.mass, math.ceil(band.copies * period))
    return NEVER


def copies(table: Table, period: int) -> float:
    """The copies beyond the first that a table asks for."""
    return next((band.copies for band in table if period <= band.upto), math.inf)


def alarm_at(verdict: int) -> int:
    """Where suspicion of plain text begins: soon, or a quarter of the way for long units."""
    return max(1, min(_SOON, verdict // 2), verdict // 4)


def _factor(rules: ChannelRules, region: Region, kind: Shape, period: int) -> float:
    if region is Region.PROSE:
        return 1.0
    if rules.code <= 0:
        return 0.0
    if region is Region.BLOB:
        return _BLOB_FACTOR
    if kind in {Shape.RULE, Shape.BLANK} and period <= _SEPARATOR:
        return 1.0
    return rules.code if period <= rules.code_upto else 1.0


def _least(rules: ChannelRules, period: int) -> Goal:
    tables = [rules.table(kind) for kind in Shape]
    verdict = math.ceil(min(mass(table, period) for table in tables) * rules.scale)
    if rules.span_min is not None:
        repeated = max(1.0, min(rules.span_copies - 1, *(copies(table, period) for table in tables)))
        verdict = min(verdict, max(rules.span_min - period, math.ceil(repeated * period)))
    return Goal(alarm_at(verdict), verdict)
