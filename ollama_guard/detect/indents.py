"""Indented code of a growing Markdown text, by CommonMark: four columns, and a blank line in front of it."""

import re
from bisect import bisect_right

_PART = re.compile(r"\n|[ \t\r]+|[^\n]+")
_COLUMNS = 4


class Indents:
    """Read in any pieces; whether a place is inside rests on what stands before it alone."""

    def __init__(self) -> None:
        self._length = 0
        self._columns: int | None = 0  # of the blanks that the line begins with; None behind them
        self._free = True  # whether the line before is blank, so that code may begin
        self._inside = False
        self._places: list[int] = []  # where such code begins or ends
        self._begins: list[bool] = []

    def read(self, text: str) -> None:
        """Take in what follows."""
        for part in _PART.finditer(text):
            said = part[0]
            if said == "\n":
                self._free, self._columns = self._columns is not None, 0
            elif self._columns is None:
                continue
            elif said.isspace():
                self._columns = len((" " * self._columns + said.strip("\r")).expandtabs(_COLUMNS))
            else:
                self._turn(self._length + part.start(), self._columns >= _COLUMNS)
                self._columns = None
        self._length += len(text)

    def inside(self, place: int) -> bool:
        """Whether this place (among what was read) lies inside indented code."""
        index = bisect_right(self._places, place)
        return index > 0 and self._begins[index - 1]

    def moved(self, begin: int, end: int) -> bool:
        """Whether such code begins or ends at one of these places."""
        return bisect_right(self._places, end - 1) > bisect_right(self._places, begin - 1)

    def forget(self, place: int) -> None:
        """Nobody will ask for anything before this place any more."""
        keep = max(0, bisect_right(self._places, place) - 1)
        del self._places[:keep], self._begins[:keep]

    def _turn(self, place: int, deep: bool) -> None:  # noqa: FBT001
        inside = deep and (self._inside or self._free)
        if inside is not self._inside:
            self._inside = inside
            self._places.append(place)
            self._begins.append(inside)
