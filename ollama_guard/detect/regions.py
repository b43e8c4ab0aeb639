"""Where in a Markdown text a place lies: inside a code fence, in which line, behind which token.

A boundary scales a threshold; it never resets a state. Fences follow CommonMark: the closer has the opener's
character, at least its length, nothing behind it, and is indented by three more than the opener at most; with
a block quote its fence ends. An opener may be indented by any number: models fence inside lists.
"""

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from ollama_guard.detect import data, shape
from ollama_guard.detect.turns import Turns

_LINE = r"([ \t]*(?:>[ \t]*)*)(`{3,}|~{3,})([^\n]*)"
_MARKER = re.compile(rf"^{_LINE}", re.MULTILINE)
_MARKER_OR_UNQUOTED = re.compile(rf"^(?:{_LINE}|(?![ \t]*>)[^\n]*)", re.MULTILINE)
_DEEPER = 3
_DENSE = 0.2
"""Share of symbols from which a unit is code, markup or data rather than prose."""
_REMEMBERED = 4000
"""The longest unit whose traits are remembered."""
_ANY = "0"
"""What stands in encoded data as well as any unit without blanks; sooner asked about."""
_LINE_HEAD = 400
"""Of an unfinished line only the beginning is kept: a marker stands there or nowhere."""


class Fences:
    """Code fences of a growing text, read in any pieces. Positions are in characters from its start."""

    def __init__(self) -> None:
        self.length = 0
        self._line = ""
        self._open = ""
        self._indent = 0
        self._quoted = False
        self._turns = Turns()  # at the ends of the lines that open or close a fence
        self.inside, self.moved, self.forget = self._turns.inside, self._turns.moved, self._turns.forget

    def read(self, text: str) -> None:
        """Take in what follows."""
        first = text.find("\n")
        if first < 0:
            self._line = (self._line + text)[:_LINE_HEAD]
        else:
            last = text.rfind("\n")
            self._scan((self._line + text[:first])[:_LINE_HEAD], self.length + first, whole=True)
            if last > first:
                self._scan(text[first + 1 : last], self.length + first + 1)
            self._line = text[last + 1 :][:_LINE_HEAD]
        self.length += len(text)

    def _scan(self, lines: str, offset: int, *, whole: bool = False) -> None:
        """Lines without the last newline. whole: one line, `offset` is its end."""
        if not self._quoted and "```" not in lines and "~~~" not in lines:
            return
        place = 0
        while found := (_MARKER_OR_UNQUOTED if self._quoted else _MARKER).search(lines, place):
            place = found.end()
            if self._turn(found):
                self._turns.turn(offset if whole else offset + place, on=bool(self._open))

    def _turn(self, found: re.Match[str]) -> bool:
        """Whether this line opens or closes a fence."""
        lead, ticks, rest = found[1] or "", found[2] or "", found[3] or ""
        if self._quoted and ">" not in lead:  # the quotation is over
            self._open, self._quoted = "", False
            if not ticks:
                return True
        indent = len(lead.rpartition(">")[2].expandtabs(4))
        if not self._open:
            if ticks[0] == "`" and "`" in rest:  # inline code
                return False
            self._open, self._indent, self._quoted = ticks, indent, ">" in lead
            return True
        if (">" in lead) is not self._quoted:
            return False
        closes = ticks[0] == self._open[0] and len(ticks) >= len(self._open) and not rest.strip()
        if not closes or indent > self._indent + _DEEPER:
            return False
        self._open, self._quoted = "", False
        return True


class Region(Enum):
    """The kind of place in which something repeats."""

    PROSE = "prose"
    CODE = "code"  # fenced or indented code, tables
    LINE = "line"  # the same, but nothing divides it: an expression, no row
    MARKUP = "markup"  # tags
    FIGURES = "figures"  # rows of numbers and empty values
    BLOB = "blob"  # inside encoded data


_PATH = re.compile(r"""\b(?:d|points)\\?=\\?["'][^"'<>]*\Z""")
"""Within the path of a drawing, whose attribute is open."""
_COMMANDS = re.compile(r"[MLHVCSQTAZmlhvcsqtaz\d\s.,+-]+")


class Traits(NamedTuple):
    """What tells the region of a unit, of itself."""

    fence: bool
    blanks: bool  # whether white space is in it
    kind: Region | None  # wherever it stands
    code: bool  # wherever it stands


def region_of(unit: str, before: str, *, fenced: bool) -> Region:
    """The kind of place a unit stands in.

    unit: one copy; before: some hundred characters up to the first copy; fenced: whether a code fence is open
    where the repetition begins. A unit that itself opens or closes a fence is judged as prose: a block that
    is written out again and again is no code region.
    """
    short = len(unit) <= _REMEMBERED
    traits = _traits(unit) if short else _traits_of(unit)
    if traits.fence:
        return Region.PROSE
    if not traits.blanks and data.is_encoded(_ANY, before) and data.is_encoded(unit, before):
        return Region.BLOB
    if traits.kind is not None:
        return traits.kind
    if _COMMANDS.fullmatch(unit) and any(map(str.isdigit, unit)) and _PATH.search(before):
        return Region.FIGURES
    if not (fenced or traits.code or ("\n" not in unit and _in_listing(before))):
        return Region.PROSE
    return Region.LINE if (_in_line(unit) if short else data.in_line(unit)) else Region.CODE


def _traits_of(unit: str) -> Traits:
    blanks, kind = unit.split() != [unit], None
    if blanks and data.is_encoded(unit, ""):  # lines of it
        kind = Region.BLOB
    elif data.is_figures(unit) and not shape.is_chant(unit):
        kind = Region.FIGURES
    elif data.is_markup(unit):
        kind = Region.MARKUP
    elif shape.is_sign(unit):
        kind = Region.PROSE
    return Traits(shape.has_fence(unit), blanks, kind, kind is None and _is_code(unit))


# In text that is nearly periodic the same short units come again and again.
_traits = lru_cache(maxsize=256)(_traits_of)
_in_line = lru_cache(maxsize=256)(data.in_line)


def _is_code(unit: str) -> bool:
    if shape.symbols(unit) >= _DENSE or shape.figures(unit) > 0.5:
        return True
    if shape.monotone(unit) or data.is_record(unit):
        return True
    if "\n" in unit:
        return max(shape.rows(unit), shape.indented(unit)) >= 0.5 or shape.closed_lines(unit) > 0.5
    return data.is_dense_list(unit)


def _in_listing(before: str) -> bool:
    """Whether the line that goes on here is a row of a table or indented."""
    line = before[before.rfind("\n") + 1 :]
    return line.lstrip().startswith("|") or line.startswith(("    ", "\t"))
