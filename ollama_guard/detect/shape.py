"""What a repeated unit is made of. Nothing here depends on where in the unit one starts to read.

A unit is seen as a circle: a loop may be noticed at any phase, and must be judged alike at each.
"""

import re
import unicodedata
from enum import Enum
from functools import lru_cache

from ollama_guard.detect.scripts import IDEOGRAPHS


class Shape(Enum):
    """The class of a unit. Each has its own table of what is needed for a verdict."""

    TEXT = "text"  # words of any script, varied figures, marks that are no separators ("!!!!")
    EMOJI = "emoji"  # pictographs
    FLAT = "flat"  # one or two different letters or digits: zeros, matrices, padding in encoded data
    RULE = "rule"  # what lines and boxes are drawn with, dotted leaders
    BLANK = "blank"  # white space only, with line breaks in it or unusual
    PADDING = "padding"  # plain blanks


_REMEMBERED = 64
"""Units of which it is known what they are made of. A family after the other asks for the same ones."""
_RULES = frozenset("-=_*#~+.:;,|/\\<>^%$@'`·•…‥∙⋅°○●◦▪■□◆◇★☆※－＝＿—–―‐‑‒⎯〜～。・")
_ESCAPES = (("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ('\\"', '"'))
_CHANT = 8
"""A unit of one or two different letters is a word or a cry ("ha ", "G") up to this length, else data."""
_MANY_WORDS = 10
_RULED = 40
"""A unit longer than this is drawn if nine of ten of its marks and letters are those of rules."""
_SIGN = re.compile(r"(?:([^\w\s])\1*|<\|?(?!(?:br|hr|col|td|th|tr|li|p|div|span|option)>)\w+\|?>)")
"""Tags of a page do stand empty in a row."""
_CHAIN = re.compile(r"(?=.*\d)(?=.*[^\d])[\d.:/*+=_-]+")
"""Numbers that marks join without a blank, ".1.1.1": no file has two hundred characters of that."""
_JOINERS = frozenset("\u200d\ufe0f\ufe0e\u20e3")
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)
_CELL = re.compile(r"^[ \t]*(?:\||</?t[rdh]\b)", re.MULTILINE | re.IGNORECASE)
_INDENT = re.compile(r"^(?: {4}|\t)", re.MULTILINE)
_CLOSED = re.compile(r"[;{}()\[\]|>][ \t]*$|[{}()\[\]<>=|/\\\"_].*,[ \t]*$", re.MULTILINE)
_REMARK = re.compile(
    r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(?:[^\W_](?:[^\W_]|['’-])*,?[ \t]+)+\([^()\n]*\)[ \t]*$", re.MULTILINE
)
"""A listed thing with a remark: no call, though it ends like one."""
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")
_SUM = re.compile(r"\w [+*×-] ")
"""Within a unit: one number that is added over and over is no data."""
_SYMBOLS = frozenset('{}[]()<>=;"\\/|&$@#%^*+_')


def words(text: str) -> int:
    """How many different words it has. Two ideographs are taken for one."""
    return len(set(text.split())) + len(set(_IDEOGRAPH.findall(text))) // 2


def is_dense(text: str) -> bool:
    """Whether half of its letters and digits are ideographs, each of which says as much as a few letters."""
    return 2 * len(_IDEOGRAPH.findall(text)) >= max(1, core_length(text))


def primitive(unit: str) -> str:
    """The shortest unit of which this one is a whole multiple."""
    period = (unit + unit).find(unit, 1)
    return unit[:period]


@lru_cache(maxsize=_REMEMBERED)
def shape_of(unit: str) -> Shape:
    """The class of a unit (not empty)."""
    chars = set(unit)
    core = {char for char in chars if char.isalnum()}
    if core:
        if _flat(unit, core):
            return Shape.FLAT
        return Shape.RULE if len(unit) > _RULED and _ruled(unit, chars) else Shape.TEXT
    marks = {char for char in chars if not char.isspace()} - _JOINERS
    if not marks:
        return Shape.PADDING if chars == {" "} else Shape.BLANK
    tall = "\n" in chars
    if any(_pictograph(char) for char in marks - _RULES):
        return Shape.RULE if tall and len(unit) > _CHANT else Shape.EMOJI  # a row of a board is drawn
    if tall and len(unit) <= _CHANT:  # a bullet or a comment sign alone on its line: no separator is so tall
        return Shape.TEXT
    return Shape.RULE if any(char in _RULES or _drawing(char) for char in marks) else Shape.TEXT


def is_chant(unit: str) -> bool:
    """Whether it is so short and so poor in letters and digits that it is no row of anything: "0\\n"."""
    return len(unit) <= _CHANT and len({char for char in unit if char.isalnum()}) <= 2


def is_sign(unit: str) -> bool:
    """Whether it is one mark or one opening tag, alone on its line: no code says that over and over."""
    words = unit.split() if "\n" in unit else []
    if len(words) == 2:  # cut through
        words = [words[1] + words[0]]
    return len(words) == 1 and len(unit) <= 2 * _CHANT and _SIGN.fullmatch(words[0]) is not None


def core_length(unit: str) -> int:
    """Letters and digits in the unit: what is left when punctuation and white space are stripped."""
    return sum(map(str.isalnum, unit))


def unescaped(unit: str) -> str:
    """The unit of a JSON string's text as the string's value has it (line breaks, tabs and quotes)."""
    cut = max(0, unit.find("\\"))
    unit = unit[cut:] + unit[:cut]  # the circle may have been cut through an escape
    for written, meant in _ESCAPES:
        unit = unit.replace(written, meant)
    return unit


def from_line(unit: str) -> str:
    """The unit turned so that it begins at a line's start, if it has one."""
    cut = unit.find("\n") + 1
    return unit[cut:] + unit[:cut]


def has_fence(unit: str) -> bool:
    """Whether a line of the unit opens or closes a code fence."""
    return "\n" in unit and _FENCE.search(from_line(unit)) is not None


def rows(unit: str) -> float:
    """The share of the unit's lines that are rows of a table (Markdown or HTML)."""
    return _line_share(_CELL, unit)


def indented(unit: str) -> float:
    """The share of the unit's lines that are indented as code is."""
    return _line_share(_INDENT, unit)


@lru_cache(maxsize=_REMEMBERED)
def symbols(unit: str) -> float:
    """The share of characters that belong to code, markup and data more than to prose."""
    return sum(unit.count(char) for char in _SYMBOLS & set(unit)) / len(unit)


def closed_lines(unit: str) -> float:
    """The share of the unit's lines that end as lines of code do, and are no items with a remark."""
    return _line_share(_CLOSED, unit) - _line_share(_REMARK, unit)


@lru_cache(maxsize=_REMEMBERED)
def figures(unit: str) -> float:
    """The share of digits among letters and digits."""
    digits = [char for char in set(unit) if char.isdigit()]
    return sum(map(unit.count, digits)) / core_length(unit) if digits else 0.0


def monotone(unit: str) -> bool:
    """Whether many words of the unit are but one or two: a row of a matrix or an encoding table."""
    words = (unit + unit).split()[1:-1]
    return len(words) >= _MANY_WORDS and len(set(words)) <= 2


def _flat(unit: str, core: set[str]) -> bool:
    """Whether a core is padding or a matrix rather than words: "0 0 1 ", "ffffff ", but not "ha " or "G"."""
    if len(core) > 2 or _CHAIN.fullmatch(unit) or (len(core) == 1 and _SUM.search(2 * unit)):
        return False
    if len(unit) > _CHANT or not all(char.isalpha() for char in core):
        return True
    return len(core) == 1 and core_length(unit) > 1


def _ruled(unit: str, chars: set[str]) -> bool:
    """Whether nearly all that is visible is drawn: section rules with a title, tabs for a guitar."""
    visible = len(unit) - sum(unit.count(char) for char in chars if char.isspace())
    drawn = sum(unit.count(char) for char in chars if char in _RULES or _drawing(char))
    return drawn >= 0.9 * visible


def _line_share(pattern: re.Pattern[str], unit: str) -> float:
    lines = unit.count("\n")
    return len(pattern.findall(from_line(unit))) / lines if lines else 0.0


def _pictograph(char: str) -> bool:
    return ord(char) > 0x2190 and unicodedata.category(char) == "So" and not _drawing(char)


def _drawing(char: str) -> bool:
    """Box drawing, block elements, geometric shapes, Braille (used for pictures made of dots)."""
    return 0x2500 <= ord(char) <= 0x25FF or 0x2800 <= ord(char) <= 0x28FF
