"""What a line says in which a number counts: an item, a record, or nothing but numbers."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ollama_guard.detect.counting import DIGITS
from ollama_guard.detect.data import EMPTY, is_markup
from ollama_guard.detect.lines import LONGEST
from ollama_guard.detect.scripts import UNSPACED
from ollama_guard.detect.shape import from_line

NUMBER = re.compile(r"0[xX][\da-fA-F]+|\d+")
STAMP, RECORD, VOLUME, BARE = 50, 310, 520, 2000
"""Rows that are no verdict yet in an answer: items of nothing but digits, the same in each, or in
thought but a formula, and brackets that open in each and are not closed; records and rows
of a table that begin with their count (test data, plans and registers are written by the hundred); other
records, and forms; nothing but numbers (people ask for counting)."""
IDLE, IDLE_BARE = 130, 300
"""The same in thought, where nobody asked for them: for those with words, and for nothing but numbers."""

CASE, _CASE_NUMBERS, _CASE_VALUES = 20, 3, 2
"""The same for cases in which nothing is worked out: the count stands there so many times at least, so often
as the value of something ("x = 12, |x| = 12, so 12 is one"), and neither another number nor the conclusion
changes."""
_CONCLUDES = re.compile(
    r"(?:(?:^|[,;:.–—-]|\band)\s+so|\b(?:[Tt]hus|[Hh]ence|[Tt]herefore|which means|it follows|donc|daher|"
    r"folglich|somit|por lo tanto|así que|поэтому|значит|следовательно))\b|"
    r"所以|因此|因而|したがって|よって|だから"
)
_VALUE = re.compile(r"=\s*(\d+)")
_FACT = re.compile(r"[=<>≤≥]\s*\(*(\d+)(?!\d|\s*[^\W\d_])")
"""A number that a formula states, in front of no thing that is counted."""

_BRACKETS = " \t([{<|\"'`*#-"
"""Marks before the count of a record."""
_OPENERS = frozenset("{[(")
"""At the end of each line they make so deep a nest as no data has, whatever counts in it."""
TO_FILL = re.compile(r"__|\.{4}|\[ ?\]|☐|□")
_MARKER = re.compile(r"[ \t>*#-]*\Z")
_ENDS = frozenset(".):]")
"""Behind the running number of an item."""
_WORD = re.compile(r"(?<!\w)[^\W\d_]{3,}(?!\w)")
_SPOKEN, _LABEL = 2, 3
"""Words before the count with which it is no variable's value; no label ("This is line 12"), in an answer."""
_ITEM, _VARIED = 8, 3
"""Letters and digits of an item that say something, whatever they are, and how many of them differ."""
_JOINTS = frozenset("-:./,'")
"""Between digits they make a date, a time, a version or an address."""
_OF_DATES = frozenset("年月日号號时時点點分秒년월일시분초")
"""Behind digits they do."""
_CELLS = re.compile(r"\S(?:[;\t]|,(?!\d{3}(?!\d)))(?=\S)")
"""Between two cells of a row. Prose has a blank behind its commas, but for those in numbers."""


class Worth(NamedTuple):
    """rows: how many lines such as this one are no verdict yet, None if any number of them; item: what stands
    behind the running number of a list, if that alone counts; facts: the numbers that a case states."""

    rows: int | None
    item: str
    facts: frozenset[int] = frozenset()

    @property
    def said(self) -> bool:
        """Whether it is no data: an item of a list with words in it, or a case."""
        return bool(notable(self.item)) or self.rows == CASE


_NONE = Worth(None, "")


class Row(NamedTuple):
    """A line: itself, without its numbers, these, and where it ends."""

    line: str
    template: str
    numbers: list[int]
    end: int


def row_of(line: str, end: int) -> Row | None:
    """The line as a row; None if it is too long (that is left to the search for repetition) or has too long a
    number to be one."""
    found = NUMBER.findall(line) if len(line) <= LONGEST else None
    if found is None or max(map(len, found), default=0) > DIGITS:
        return None
    if not found:
        return Row(line, line, [], end)
    return Row(line, NUMBER.sub("0", line), [value(number) for number in found], end)


def value(number: str) -> int:
    """What a number of decimal or hexadecimal digits is."""
    return int(number, 16 if number[:2] in {"0x", "0X"} else 10)


def notable(text: str) -> set[str]:
    """Its words, case folded, but for those that stand where nothing is."""
    return {word.casefold() for word in _WORD.findall(text)} - EMPTY


def is_row(unit: str) -> bool:
    """Whether each of its lines is divided as a row of data is: by tabs, or by marks with no blank behind."""
    return "\n" in unit and all(map(_CELLS.search, from_line(unit).splitlines()))


def worth(line: str, steps: Sequence[int], *, thinking: bool, alone: bool = True) -> Worth:
    """What a line is worth whose numbers moved by these steps since the line before.

    alone: it takes turns with no other.
    """
    matches = list(NUMBER.finditer(line))
    counters = [match for match, step in zip(matches, steps, strict=False) if step]
    if counters and alone and line.rstrip()[-1:] in _OPENERS:
        return Worth(STAMP, "")
    if not counters or len(matches) != len(steps) or any(map(_joined, counters)) or is_markup(line):
        return _NONE
    item, values = _item(line, counters[0]), {counter[0] for counter in counters}
    own = item if len(counters) == 1 else ""
    if TO_FILL.search(line):
        return Worth(VOLUME, own)
    if alone and len(values) == 1 and _is_case(line, counters):
        return Worth(CASE, own, frozenset(map(int, _FACT.findall(line))))
    if len(values) < len(counters):
        return _NONE  # what counts twice is a name made of the count: "(7, 'User 7')"
    return Worth(_rows(line, counters[0], item, thinking=thinking), own)


def _is_case(line: str, counters: list[re.Match[str]]) -> bool:
    if len(counters) < _CASE_NUMBERS or not _CONCLUDES.search(line):
        return False
    return _VALUE.findall(line).count(counters[0][0]) >= _CASE_VALUES


def _rows(line: str, counter: re.Match[str], item: str, *, thinking: bool) -> int:
    lead, behind = line[: counter.start()], notable(line[counter.end() :])
    if item and not any(map(str.isalpha, item)):
        return STAMP
    if thinking and "=" in item and not notable(item):
        return STAMP  # the same sum each time
    if not item and not behind and len(notable(lead)) < (_SPOKEN if thinking else _LABEL):
        written = lead.strip(_BRACKETS) or line.endswith((",", ";"))
        return IDLE_BARE if thinking and not written else BARE
    if thinking:
        return IDLE
    return VOLUME if not item and lead.strip(_BRACKETS) else RECORD


def _item(line: str, counter: re.Match[str]) -> str:
    """What stands in a list behind its running number, if that says something; else nothing."""
    item = line[counter.end() :]
    lead = line[: counter.start()].removesuffix("[" if item[:1] == "]" else "")
    if item[:1] not in _ENDS or not item[1:2].isspace() or not _MARKER.fullmatch(lead):
        return ""
    core = [char for char in item if char.isalnum()]
    return item if len(core) >= _ITEM and len(set(core)) >= _VARIED else ""


def _is_of_name(char: str) -> bool:
    """Whether it makes a name together with a number next to it."""
    return char == "_" or (char.isalpha() and not UNSPACED.match(char))


def _joined(number: re.Match[str]) -> bool:
    """Whether it belongs to an identifier, a date, a time, a version or an address."""
    text, begin, end = number.string, number.start(), number.end()
    before, behind = text[max(0, begin - 2) : begin], text[end : end + 2]
    if behind[:1] in _OF_DATES or any(map(_is_of_name, (before[-1:], behind[:1]))):
        return True
    if before[-1:] == behind[:1] == "/":
        return True
    return any(
        mark in _JOINTS and digit.isdigit()
        for mark, digit in ((before[-1:], before[:1]), (behind[:1], behind[1:]))
    )
