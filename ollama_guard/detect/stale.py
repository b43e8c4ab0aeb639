"""Lists that went stale: their rows said something new, until nothing but the numbers in them ran on.

Data that is equal by nature (forms, empty places, one status for all) is so from its first row on. A list of
rivers, prices or people that ends in the same one over and over is none, whatever its numbers are: dates,
prices and addresses count too.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress

ROWS, LINES = 32, 64
"""Units, and lines, that are a verdict in a list that went stale."""
TO_VARIED = 2.5
"""Times as many as there were before: a table may end in a block of reserved places."""
_VARIED, _SHOWN = 3, 2
"""Times as many different rows as in a unit with which a list said something new in each; and those that do
in a request to go on with it."""
_PHRASE = re.compile(r"[^\W\d_]+(?:[ .&-]+[^\W\d_]+)*")
"""Words that fill one cell."""


Said = tuple[str, Sequence[int]]
"""A row: its template, and its numbers."""
Still = Mapping[str, Sequence[bool]]
"""By frame, which of the numbers of a row stand still."""


def frame(template: str) -> str:
    """A row without its words and numbers: equal for all rows of one table."""
    return _PHRASE.sub("a", template)


def before(rows: Iterable[Said], shown: Iterable[Said], unit: Iterable[Said], still: Still) -> int:
    """How many rows like those of the run stand before it, if they say different things; else 0.

    rows: those of the text, latest first; shown: those of the request before these; unit: one of the run.
    still: the frames that it has, and which of their numbers stand still in it.
    """
    _, now, _ = _like(unit, still)
    count, said, whole = _like(rows, still)
    if whole:
        more, asked, _ = _like(shown, still)
        count += more
        if any(_words(different) >= _SHOWN * _words(now[form]) for form, different in asked.items()):
            return count
        for form, different in asked.items():
            said.setdefault(form, set()).update(different)
    varied = any(
        len(different) >= _VARIED * _words(now[form]) and _words(different) > _words(now[form])
        for form, different in said.items()
    )
    return count if varied else 0


def _like(rows: Iterable[Said], still: Still) -> tuple[int, dict[str, set[tuple[str, ...]]], bool]:
    """How many rows have these frames, what they say by frame, and whether all of them have."""
    said: dict[str, set[tuple[str, ...]]] = {}
    count = 0
    for template, numbers in rows:
        form = frame(template)
        if form not in still:
            return count, said, False
        count += 1
        said.setdefault(form, set()).add((template, *map(str, compress(numbers, still[form]))))
    return count, said, True


def _words(rows: Iterable[tuple[str, ...]]) -> int:
    """How many rows differ in their words: a value alone that changes and then stands is a measurement."""
    return len({template for template, *_ in rows})
