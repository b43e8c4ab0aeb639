"""The table of repeats by length of the unit, as text: `1:40,2:30,8:12,*:10`."""

import re

ALL = 1 << 40
"""The length that `*` stands for."""
LONGEST = 12_000
MOST = 1_000_000


def read_table(text: str) -> tuple[tuple[int, int], ...]:
    """Pairs of the longest unit, in characters, that a row is for, and its repeats (the first copy included).

    Without a row for `*`, longer units are no loop. Raises ValueError with what is wrong with it.
    """
    rows: list[tuple[int, int]] = []
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,6}|\*):(\d{1,7})", part.strip(), re.ASCII)
        if not found:
            raise ValueError(f"{part.strip()!a}: write LENGTH:REPEATS, like 8:12, or *:REPEATS")
        length, repeats = ALL if found[1] == "*" else int(found[1]), int(found[2])
        if not 1 <= length <= LONGEST and length != ALL:
            raise ValueError(f"{part.strip()!a}: a unit has from 1 to {LONGEST:,} characters")
        if not 2 <= repeats <= MOST:
            raise ValueError(f"{part.strip()!a}: it takes from 2 to {MOST:,} repeats to make a loop")
        if rows and length <= rows[-1][0]:
            raise ValueError(f"{part.strip()!a}: lengths must rise from row to row; * comes last")
        rows.append((length, repeats))
    return tuple(rows)
