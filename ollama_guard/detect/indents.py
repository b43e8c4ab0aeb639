"""Indented code of a growing Markdown text, by CommonMark: four columns, and a blank line in front of it."""

import re

from ollama_guard.detect.turns import Turns

_PART = re.compile(r"\n|[ \t\r]+|[^\n]+")
_COLUMNS = 4


class Indents:
    """Read in any pieces; whether a place is inside rests on what stands before it alone."""

    def __init__(self) -> None:
        self._length = 0
        self._columns: int | None = 0  # of the blanks that the line begins with; None behind them
        self._free = True  # whether the line before is blank, so that code may begin
        self._inside = False
        self._turns = Turns()
        self.inside, self.moved, self.forget = self._turns.inside, self._turns.moved, self._turns.forget

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

    def _turn(self, place: int, deep: bool) -> None:  # noqa: FBT001
        inside = deep and (self._inside or self._free)
        if inside is not self._inside:
            self._inside = inside
            self._turns.turn(place, on=inside)
