"""Where in a Markdown text a place lies: inside a code fence, in which line, behind which token.

A boundary scales a threshold; it never resets a state. Fences follow CommonMark: the closer has the opener's
character, at least its length, and nothing behind it. Any indentation is taken: models fence inside lists.
"""

import re
from bisect import bisect_right
from enum import Enum

from ollama_guard.detect import shape
from ollama_guard.detect.shape import Shape

_MARKER = re.compile(r"^[ \t]*(?:>[ \t]*)*(`{3,}|~{3,})([^\n]*)", re.MULTILINE)
_TOKEN = re.compile(r"[A-Za-z0-9+/=_%\-]*\Z")
_BLANK = re.compile(r"\s")
_BLOB_TOKEN = 40
"""Characters of an unbroken token (base64, hex) that make it encoded data."""
_BLOB_UNIT = 8
_DENSE = 0.2
"""Share of symbols from which a unit is code, markup or data rather than prose."""
_LINE_HEAD = 400
"""Of an unfinished line only the beginning is kept: a marker stands there or nowhere."""


class Fences:
    """Code fences of a growing text, read in any pieces. Positions are in characters from its start."""

    def __init__(self) -> None:
        self.length = 0
        self._line = ""
        self._open = ""
        self._places: list[int] = []  # ends of the lines that open or close a fence
        self._markers: list[str] = []  # what is open from there on, "" for nothing

    def read(self, text: str) -> None:
        """Take in what follows."""
        first = text.find("\n")
        if first < 0:
            self._line = (self._line + text)[:_LINE_HEAD]
        else:
            last = text.rfind("\n")
            self._scan((self._line + text[:first])[:_LINE_HEAD], self.length + first, whole=True)
            self._scan(text[first + 1 : last], self.length + first + 1)
            self._line = text[last + 1 :][:_LINE_HEAD]
        self.length += len(text)

    def inside(self, place: int) -> bool:
        """Whether this place (among what was read) lies inside a fence."""
        index = bisect_right(self._places, place)
        return index > 0 and self._markers[index - 1] != ""

    def forget(self, place: int) -> None:
        """Nobody will ask for anything before this place any more."""
        keep = max(0, bisect_right(self._places, place) - 1)
        del self._places[:keep], self._markers[:keep]

    def _scan(self, lines: str, offset: int, *, whole: bool = False) -> None:
        """Lines without the last newline. whole: one line, `offset` is its end."""
        if "```" not in lines and "~~~" not in lines:
            return
        for found in _MARKER.finditer(lines):
            ticks, rest = found[1], found[2]
            if not self._open:
                if ticks[0] == "`" and "`" in rest:  # inline code
                    continue
                self._open = ticks
            elif ticks[0] == self._open[0] and len(ticks) >= len(self._open) and not rest.strip():
                self._open = ""
            else:
                continue
            self._places.append(offset if whole else offset + found.end())
            self._markers.append(self._open)


class Region(Enum):
    """The kind of place in which something repeats."""

    PROSE = "prose"
    CODE = "code"  # fenced or indented code, tables, markup, data
    BLOB = "blob"  # inside encoded data


def region_of(unit: str, before: str, *, fenced: bool) -> Region:
    """The kind of place a unit stands in.

    unit: one copy; before: some hundred characters up to the first copy; fenced: whether a code fence is open
    where the repetition begins. A unit that itself opens or closes a fence is judged as prose: a block that
    is written out again and again is no code region.
    """
    if shape.has_fence(unit):
        return Region.PROSE
    if _in_blob(unit, before):
        return Region.BLOB
    if fenced or shape.symbols(unit) >= _DENSE or shape.figures(unit) > 0.5 or shape.monotone(unit):
        return Region.CODE
    if "\n" in unit:
        code = max(shape.rows(unit), shape.indented(unit), shape.closed_lines(unit)) >= 0.5
    else:
        line = before[before.rfind("\n") + 1 :]
        code = line.lstrip().startswith("|") or line.startswith(("    ", "\t"))
    return Region.CODE if code else Region.PROSE


def _in_blob(unit: str, before: str) -> bool:
    """Whether it repeats inside encoded data: within one long token, or in lines of nothing else."""
    if _BLANK.search(unit):
        return shape.shape_of(unit) is Shape.FLAT and shape.longest_token(unit) >= _BLOB_TOKEN
    if len(unit) > _BLOB_UNIT:
        return False
    token = _TOKEN.search(before[-_BLOB_TOKEN:])
    return token is not None and len(token[0]) == _BLOB_TOKEN
