"""Lists that went stale: they wavered between a few things to say, and then said one of them for ever.

Nothing but the numbers runs on in such rows, and it does not matter which: dates, prices and addresses count
too. Data that is equal by nature (forms, empty places, one status for all) is so from its first row on, and a
table of different things may end in a block of equal ones.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, pairwise

ROWS, LINES = 32, 64
"""Units, and lines, that are a verdict in a list that went stale."""
MASS = 0.5
"""Of the characters that a counter needs."""
TO_BEFORE = 2.5
"""Times as many as there were before: a table may end in a block of reserved places."""
_RETURNS, _OTHERS = 3, 2
"""Rows said before, with others in between, from which a list was wavering before it went stale, and the
different rows that it has no more. Items that are all different, and a tail of equal ones, are a table."""
_SHOWN, _WORDS = 2, 3
"""Different rows of a request that is nothing but a list to go on with; words that it may have besides."""
_PHRASE = re.compile(r"[^\W\d_]+(?:[ .&-]+[^\W\d_]+)*")
"""Words that fill one cell."""

Said = tuple[str, Sequence[int]]
"""A row: its template, and its numbers."""
Shown = Sequence[tuple[str, Said | None]]
"""Lines, and what they say if they may be rows."""
Still = Mapping[str, Sequence[bool]]
"""By frame, which of the numbers of a row stand still."""


def frame(template: str) -> str:
    """A row without its words and numbers: equal for all rows of one table."""
    return _PHRASE.sub("a", template)


def before(rows: Iterable[Said], unit: Iterable[Said], still: Still, shown: Shown) -> int:
    """How many rows like those of the run stand before it, if the list was wavering between them; else 0.

    rows: those of the text, latest first; unit: one of the run; still: the frames that it has, and which of
    their numbers stand still in it; shown: the request.
    """
    rows = list(rows)
    like = list(_like(rows, still))
    if len(rows) - len(like) <= 1 and (count := _to_go_on_with(shown, still)):
        return len(like) + count  # (the first line may be the rest of one in the request)
    if len(still) > 1:
        return 0  # a block of lines, of which some recur by nature
    now = list(_like(unit, still))
    known = set[tuple[str, ...]]()
    returns = 0
    for one, two in pairwise([*reversed(like), now[0]]):
        known.add(one)
        returns += two != one and two in known
    return len(like) if returns >= _RETURNS and len(known.difference(now)) >= _OTHERS else 0


def _to_go_on_with(shown: Shown, still: Still) -> int:
    """How many rows of these frames end a request that is nothing else, if their words differ; else 0."""
    begun = [shown[-1]] if shown and not list(_like(_rows(shown[-1:]), still)) else []
    whole = shown[: len(shown) - len(begun)]
    said = list(_like(_rows(whole), still))
    others = [*whole[: len(whole) - len(said)], *begun]
    if sum(len(line.split()) for line, _ in others) > _WORDS:
        return 0
    forms: dict[str, set[str]] = {}
    for template, *_ in said:
        forms.setdefault(frame(template), set()).add(template)
    return len(said) if any(len(different) >= _SHOWN for different in forms.values()) else 0


def _rows(shown: Shown) -> Iterator[Said]:
    return (said for _, said in reversed(shown) if said is not None)


def _like(rows: Iterable[Said], still: Still) -> Iterator[tuple[str, ...]]:
    """What rows say, as long as they have these frames."""
    for template, numbers in rows:
        form = frame(template)
        if form not in still:
            return
        yield template, *map(str, compress(numbers, still[form]))
