"""Verdicts on lines that are equal but for a counter: "(12, 'Saw', 14.40),", "(13, 'Saw', 14.40),".

Drift folds numbers away, and so takes a table of measurements for the same. Here each line is compared with
the one before, number by number: all but the count must stand still. Healthy files hardly have that: of
55,568 (`tests/bench/material.py`) 49 have two dozen such lines in a row, whatever they say, and none has half
of what is a verdict here.
"""

import re
from collections.abc import Sequence

from ollama_guard.detect.data import EMPTY, is_markup
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.fold import Fold
from ollama_guard.detect.measure import NEVER, Measure
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.tracker import Hit, Run

_NUMBER = re.compile(r"0[xX][\da-fA-F]+|\d+")
_DIGITS = 15
"""Of a number that may be a counter."""
_LONGEST = 1000
"""Characters of a line that may be a row. (Longer units are left to the search for repetition.)"""
_LOOK = 600
"""Repeated characters from which rows are worth judging."""
_ODD = 0.1
"""Share of rows that may go on otherwise: models skip a number or begin anew now and then."""
_FORM, _TABLE, _VOLUME, _BARE = 60, 100, 520, 1200
"""Rows that are no verdict yet in an answer: records that begin with their count (forms and plans have as
many); rows of a table; other records (test data is written by the hundred); nothing but numbers (people ask
for counting)."""
_IDLE, _IDLE_BARE = 40, 200
"""The same in thought, where nobody asked for them: for those with words, and for nothing but numbers."""
_BRACKETS = " \t([{<\"'`*#-"
"""Marks before the count of a record."""
_MARKER = re.compile(r"[ \t>*#-]*\Z")
_ENDS = frozenset(".):")
"""Behind the running number of a list."""
_WORD = re.compile(r"(?<!\w)[^\W\d_]{2,}(?!\w)")
_NOTABLE = 3
"""Letters of a word that makes a record say something."""
_ITEM = 8
"""Letters and digits of a list's item that say something, whatever they are."""
_SAID = 16
"""Characters of an item that is more than a label."""
_WORDS = 4
"""Different words of a line that is one of text."""
_SENTENCE = re.compile(r"[.!?:…。！？：][*_\"'”’»)]*\s*\Z")
_JOINTS = frozenset("-:./,'")
"""Between digits they make a date, a time, a version or an address."""


class Rows:
    """One channel's lines, watched for a counter that runs on while nothing else changes."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._break = "\\n" if measure.escaped else "\n"
        self._read = 0
        self._rest = ""
        self._dropped = 0  # characters in the middle of `_rest`
        self._template = ""
        self._line = ""
        self._numbers: list[int] = []
        self._begin(0)

    def feed(self, text: str) -> Hit | None:
        """Append raw text; the earliest verdict within it."""
        self._read += len(text)
        self._rest += text
        if self._break not in self._rest[-len(text) - 1 :]:
            if len(self._rest) > 2 * _LONGEST:  # no row any more; its last character may begin a break
                self._dropped += len(self._rest) - _LONGEST - 2
                self._rest = self._rest[: _LONGEST + 1] + self._rest[-1]
            return None
        *lines, rest = self._rest.split(self._break)
        end = self._read - len(self._rest)
        self._rest, self._dropped = rest, 0
        for line in lines:
            end += len(line) + len(self._break)
            if not line or line.isspace():
                continue
            if not self._take(line, end):
                self._template = ""
            elif end - self._start >= self._due and (hit := self._judge(end)):
                return hit
        return None

    def skip(self, text: str) -> None:
        """Text that is not looked at. No run of rows reaches over it."""
        self._read += len(text)
        self._rest, self._dropped, self._template = "", 0, ""

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        return bool(self._template) and self._goal > 0 and self._read - self._start >= self._goal * 3 // 4

    def place(self, hit: Hit) -> int:
        """The length of the text at which the hit fell."""
        return hit.at

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        return describe(Kind.DRIFT, channel, self._line, hit.run.start, hit.at, repeats=float(self._rows))

    def _take(self, line: str, end: int) -> bool:
        """Take in a line; whether it may be a row."""
        template = _NUMBER.sub("0", line) if len(line) <= _LONGEST else ""
        if "0" not in template:
            return False
        found = _NUMBER.findall(line)
        if max(map(len, found)) > _DIGITS:
            return False
        numbers = [int(number, 0 if number[:2] in {"0x", "0X"} else 10) for number in found]
        if template != self._template:
            self._template = template
            self._begin(end)
        else:
            self._go_on(numbers, end)
        self._line, self._numbers = line, numbers
        return True

    def _begin(self, end: int) -> None:
        """The first row of a run ends here."""
        self._start = end
        self._rows, self._odd = 1, 0
        self._steps: list[int] = []
        self._due, self._goal = _LOOK, 0

    def _go_on(self, numbers: list[int], end: int) -> None:
        steps = [new - old for old, new in zip(self._numbers, numbers, strict=True)]
        if not self._steps:
            self._steps = steps
        elif not any(steps) or any(new not in (0, old) for old, new in zip(self._steps, steps, strict=True)):
            self._odd += 1
            if self._odd > _ODD * self._rows + 1:
                self._begin(end)
                return
        self._rows += 1

    def _judge(self, end: int) -> Hit | None:
        """The run has come to where something is due: whether it is a verdict."""
        mass = end - self._start
        self._goal = self._needed()
        self._due = max(self._goal, mass + 1)
        return Hit(Run(len(self._line) + 1, self._start, mass), end) if mass >= self._goal else None

    def _needed(self) -> int:
        """The repeated characters that rows such as the last one need."""
        line = self._line.replace("\\t", " ") if self._measure.escaped else self._line
        matches = list(_NUMBER.finditer(line))
        if not any(self._steps) or len(matches) != len(self._steps):
            return NEVER
        counters = [match for match, step in zip(matches, self._steps, strict=True) if step]
        if any(map(_joined, counters)) or is_markup(line):
            return NEVER
        size, item = len(line) + 1, _item(line, counters[0])
        needed = self._measure.counter(Fold(numbers=True).feed(line + "\n"), size)
        fewest = _fewest(line, counters, item, thinking=self._measure.thinking)
        equal = bool(item) and len(counters) == 1
        wanted = self._measure.counted(size, equal=equal, spoken=len(item) > _SAID)
        return max(needed, fewest * size, wanted)


def _fewest(line: str, counters: Sequence[re.Match[str]], item: str, *, thinking: bool) -> int:
    """The rows such as this one that are no verdict yet."""
    if _SENTENCE.search(line) and len(_words(line)) >= _WORDS:
        return 0
    if len({counter[0] for counter in counters}) < len(counters):
        return NEVER  # what counts twice is a name made of the count: "(7, 'User 7')"
    lead = line[: counters[0].start()]
    if not item and not any(len(word) >= _NOTABLE for word in _words(line[counters[0].end() :]) - EMPTY):
        written = lead.strip(_BRACKETS) or line.endswith((",", ";"))
        return _IDLE_BARE if thinking and not written else _BARE
    if thinking:
        return _IDLE
    if item or not lead.strip(_BRACKETS):
        return _FORM
    return _VOLUME if lead.strip("| \t") else _TABLE


def _item(line: str, counter: re.Match[str]) -> str:
    """What stands in a list behind its running number, if that says something; else nothing."""
    item = line[counter.end() :]
    marked = item[:1] in _ENDS and item[1:2].isspace() and _MARKER.fullmatch(line, 0, counter.start())
    return item if marked and sum(map(str.isalnum, item)) >= _ITEM else ""


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _joined(number: re.Match[str]) -> bool:
    """Whether it belongs to an identifier, a date, a time, a version or an address."""
    text, begin, end = number.string, number.start(), number.end()
    before, behind = text[max(0, begin - 2) : begin], text[end : end + 2]
    if any(char.isalpha() or char == "_" for char in (before[-1:], behind[:1])):
        return True
    if before[-1:] == behind[:1] == "/":
        return True
    return any(
        mark in _JOINTS and digit.isdigit()
        for mark, digit in ((before[-1:], before[:1]), (behind[:1], behind[1:]))
    )
