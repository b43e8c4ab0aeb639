"""Lists that went stale: they wavered between a few things to say, and then said one of them for ever.

Nothing but the numbers runs on in such rows, and it does not matter which: dates, prices and addresses count
too. Data that is equal by nature (forms, empty places, one status for all) is so from its first row on, and a
table of different things may end in a block of equal ones.
"""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import compress, pairwise

from ollama_guard.detect.records import Row, row_of

UNITS = 32
"""Units at least, however many lines they have."""
_LINES, _LINES_SHOWN, _TIMES = 64, 128, 2.5
"""Lines that are enough: of a list that wavered, of one that the request began; times as many as before."""
_RETURNS, _OTHERS = 3, 4
_RETURNS_MANY, _OTHERS_FEW = 10, 2
"""A list wavered that said something again, with other things in between, so many times, and said so many
different things that it says no more; or fewer, if it came back to them very often."""
_SHOWN, _WORDS = 2, 3
"""Different rows of a request that is nothing but a list to go on with; words that it may have besides."""
_PHRASE = re.compile(r"[^\W\d_]+(?:[ .&-]+[^\W\d_]+)*")
"""Words that fill one cell."""

What = tuple[str, ...]
"""What a row says: its template, and the numbers that stand still in the run."""
Still = Mapping[str, Sequence[bool]]
"""By frame, which of the numbers of a row stand still."""


def frame(template: str) -> str:
    """A row without its words and numbers: equal for all rows of one table."""
    return _PHRASE.sub("a", template)


def enough(rows: Sequence[Row], unit: Sequence[Row], still: Still, shown: Sequence[str]) -> float:
    """How many lines of the run are a verdict because of the rows before it; infinity if none are.

    rows: those of the text; unit: one of the run; still: the frames that it has, and which of their numbers
    stand still in it; shown: the lines of the request.
    """
    like, lines = _like(rows, still), math.inf
    # The first line may be the rest of one in the request.
    if len(rows) - len(like) <= 1 and (begun := _to_go_on_with(shown, still)):
        lines = max(_LINES_SHOWN, _TIMES * (len(like) + begun))
    # In a block of lines some recur by nature.
    if len(still) == 1 and _wavered(like, _like(unit, still)):
        lines = min(lines, max(_LINES, _TIMES * len(like)))
    return lines


def _wavered(said: Sequence[What], now: Sequence[What]) -> bool:
    """Whether it came back to what it had said, until it stayed with one of these things."""
    if now[0] not in said:
        return False
    known = set[What]()
    returns = 0
    for one, two in pairwise([*said, now[0]]):
        known.add(one)
        returns += two != one and two in known
    others = len(known.difference(now))
    if others >= _OTHERS:
        return returns >= _RETURNS
    return others >= _OTHERS_FEW and returns >= _RETURNS_MANY


def _to_go_on_with(shown: Sequence[str], still: Still) -> int:
    """How many rows of these frames end a request that is nothing else, if their words differ; else 0."""
    rows = [row_of(line, 0) or Row(line, line, [], 0) for line in shown]
    within = 1 if rows and not _like(rows[-1:], still) else 0  # it may end within one
    whole = rows[: len(rows) - within]
    said = _like(whole, still)
    others = [*whole[: len(whole) - len(said)], *rows[len(whole) :]]
    if sum(len(other.line.split()) for other in others) > _WORDS:
        return 0
    forms: dict[str, set[str]] = {}
    for template, *_ in said:
        forms.setdefault(frame(template), set()).add(template)
    return len(said) if any(len(different) >= _SHOWN for different in forms.values()) else 0


def _like(rows: Sequence[Row], still: Still) -> list[What]:
    """What the latest rows say, as far back as they have these frames."""
    said: list[What] = []
    for one in reversed(rows):
        stands = still.get(frame(one.template))
        if stands is None:
            break
        said.append((one.template, *map(str, compress(one.numbers, stands))))
    return said[::-1]
