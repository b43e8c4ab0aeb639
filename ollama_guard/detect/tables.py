"""What the tables ask for: the repeated characters of a unit by its length, its class and its place."""

import functools
import math
from bisect import bisect_left

from ollama_guard.detect import shape, suspicion
from ollama_guard.detect.regions import Region
from ollama_guard.detect.rules import Band, ChannelRules, OwnTable, Table
from ollama_guard.detect.run import Goal
from ollama_guard.detect.shape import Shape

NEVER = 1 << 50
_SHORT, _SHORT_CODE = 8, 2 / 3
"""Up to this length, code repeats this much less than it does else."""
_LINES_CODE = 0.5
"""What repeats in files is one line or two, or items of a list; a block of more hardly ever does."""
_FLAT_CODE = 0.5
"""The table for zeros is made for data; code has but little more of them."""
_ROWS = 0.1
"""Of a copy, what a block of table rows repeats beyond whole copies: four equal weeks end before that."""


def by_table(rules: ChannelRules, unit: str, region: Region, period: int = 0, shown: int = 0) -> Goal:
    """What the tables ask for, whatever the request.

    period: the characters of a copy where it is counted, shown: those by which a table is read; both are the
    unit's if not said.
    """
    period = period or len(unit)
    shown = shown or period
    if region is not Region.PROSE and rules.code <= 0:
        return Goal(NEVER, NEVER)
    own = _own_table(rules, region)
    if own is not None:
        kind, factor, verdict = Shape.FLAT, 1.0, mass(own, period, shown)
    else:
        kind = shape.shape_of(unit)
        factor = _factor(rules, kind, unit, region, shown)
        verdict = mass(rules.table(kind), period, shown)
        if region is Region.CODE and kind is Shape.TEXT and _is_long_row(rules, unit):
            # no less than a shorter row needs
            verdict = max(verdict, round(mass(rules.table(kind), rules.code_upto) * rules.code))
        if factor == 1.0 and kind is Shape.TEXT:
            plain = math.ceil((verdict + _extra(unit, region)) * rules.scale)
            return Goal(suspicion.begins(period, plain, kind, region), plain)
    verdict = math.ceil(verdict * rules.scale * factor)
    return Goal(suspicion.begins(period, verdict, kind, region), verdict)


def by_span(rules: ChannelRules, unit: str, period: int = 0) -> Goal | None:
    """What `span_min` asks for; None where it does not apply.

    A unit with a short core counts together with its neighbours; a long one needs no more copies than the
    table says. period: the characters of a copy where it is counted, if not the unit's.
    """
    core = shape.core_length(unit) if rules.span_min is not None else 0
    if rules.span_min is None or (core == 0 and rules.core_min > 0):
        return None
    period = period or len(unit)
    together = math.ceil(rules.core_min / core) if rules.core_min else 1
    enough = max(copies(rules.table(shape.shape_of(unit)), period), 1)
    repeated = min(rules.span_copies * together - 1, enough)
    verdict = max(rules.span_min - period, math.ceil(repeated * period))
    return Goal(suspicion.begins(period, verdict), verdict)


def mass(table: Table, period: int, shown: int = 0) -> int:
    """The repeated characters that a table asks for. shown: the length of a unit that it is read by."""
    index = bisect_left(table, (shown or period,))  # an own table may have thousands of bands
    return max(table[index].mass, math.ceil(table[index].copies * period)) if index < len(table) else NEVER


def copies(table: Table, period: int) -> float:
    """The copies beyond the first that a table asks for."""
    index = bisect_left(table, (period,))
    return table[index].copies if index < len(table) else math.inf


@functools.lru_cache(maxsize=64)
def easiest(table: Table) -> Table:
    """The fewest copies that a unit of each length, or a longer one, needs."""
    fewest, bands = math.inf, list[Band]()
    for band in reversed(table):
        fewest = min(fewest, band.copies)
        bands.append(band._replace(copies=fewest))
    return OwnTable(reversed(bands))


def _own_table(rules: ChannelRules, region: Region) -> Table | None:
    match region:
        case Region.BLOB:
            return rules.blob
        case Region.FIGURES:
            return rules.figures
        case Region.MARKUP:
            return rules.markup
        case _:
            return None


def _factor(rules: ChannelRules, kind: Shape, unit: str, region: Region, period: int) -> float:
    """What the table of this class is multiplied by in this place."""
    if region is Region.PROSE or period > rules.code_upto:
        return 1.0
    if kind in {Shape.RULE, Shape.BLANK, Shape.PADDING} and (period <= _SHORT or not rules.code_alike):
        return 1.0
    if rules.code_alike:
        return rules.code
    if region is Region.LINE and (kind is not Shape.FLAT or _is_path(unit)):
        return 1.0
    if kind is Shape.FLAT:
        return max(1.0, rules.code * _FLAT_CODE)
    if period <= _SHORT:
        return rules.code * _SHORT_CODE
    return max(1.0, rules.code * _LINES_CODE) if unit.count("\n") > 2 else rules.code


def _is_long_row(rules: ChannelRules, unit: str) -> bool:
    return len(unit) > rules.code_upto and unit.count("\n") <= 2 and not rules.code_alike


def _is_path(unit: str) -> bool:
    """Whether it goes on and on in an address ("/100/100"), where no data stands."""
    return "/" in unit and not any(map(str.isspace, unit))


def _extra(unit: str, region: Region) -> int:
    whole = region is not Region.PROSE and unit.count("\n") > 1 and shape.rows(unit) >= 1
    return math.ceil(_ROWS * len(unit)) if whole else 0
