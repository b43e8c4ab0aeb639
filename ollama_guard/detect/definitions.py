"""Functions that are written once more under the next name, with nothing new in them: `fib_3`, `fib_4`, …

Such copies wander: a line is changed and changed back, a number goes up and down. So nothing repeats for
long, and code that repeats but for numbers is common. A function of which every line stood in those before it
is not: of 55,568 healthy files (`tests/bench/material.py`), one has three of them among four of one name.
"""

import math
import re
from collections import deque
from dataclasses import replace
from typing import NamedTuple

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.run import Hit, Run

_FEWEST, _OF = 6, 8
"""Functions with nothing new that are a verdict, and of how many in a row."""
_LINES, _SIZE = 6, 100
"""Lines of a body, and their characters, from which it says something: stubs and accessors are alike."""
_SHORT = 4
"""Characters of a line that only opens or closes a block."""
_KNOWN = 512
"""Different lines of a series, and lines of a function: code with more of them has something to say."""
_LONGEST, _ENDS = 200, frozenset("{:)")
"""Characters of a line that begins a function, and its last ones."""
_WORD = r"(?:[\w<>\[\],.*&:]+|\([^()]*\))[ \t]+"
_NAME = r"([A-Za-z_$][\w$]*)"
_ASSIGNED = rf"{_NAME}[ \t]*=[ \t]*(?:async[ \t]*)?(?:function\b|\()"
_HEAD = re.compile(rf"[ \t]*(?:{_WORD})+?(?:[*&]*{_NAME}(?:<[^<>]*>)?\(|{_ASSIGNED})")
"""How a function begins in the common languages: words, its name, and a bracket."""
_NO_HEAD = re.compile(
    r"[ \t]*(?:if|for|while|switch|return|else|elif|with|catch|match|assert|raise|throw|new|await|yield|case|"
    r"except|and|or|not|in|print)\b"
)
_COMMENT = re.compile(r"#|//|/?\*|\"\"\"|'''|(?:\\\"){3}|--|;")
_NUMBER = re.compile(r"[\d_]+")


class _Body(NamedTuple):
    """A function that has ended: where its first line did, and whether nothing in it is new."""

    start: int
    stale: bool


class Definitions:
    """One channel's text, watched for functions with nothing new in them."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._fewest, self._of = (math.ceil(count * measure.scale) for count in (_FEWEST, _OF))
        self.stop()

    def take(self, line: str, end: int) -> Hit | None:
        """The next line, and the offset behind its break; a verdict, if it is one now."""
        name = _name_in(line)
        if name:
            return self._begin(line, name, end)
        if self._stem:
            self._go_on(line.strip())
        return None

    def stop(self) -> None:
        """No series goes on from here."""
        self._stem, self._name, self._start = "", "", 0
        self._known: set[str] = set()
        self._bodies: deque[_Body] = deque(maxlen=self._of)
        self._text: list[str] = []
        self._new = False

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        return self._stale() >= self._fewest * 3 // 4

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        unit, count = "\n".join(self._text), self._stale()
        found = describe(Kind.DRIFT, channel, unit, hit.run.start, hit.at, repeats=count)
        detail = (
            f"{count} functions of the last {len(self._bodies)} have nothing new in them, the latest is "
            f"{self._name}(): {hit.run.need} characters repeated from character {hit.run.start}"
        )
        return replace(found, detail=detail)

    def _begin(self, line: str, name: str, end: int) -> Hit | None:
        """A function begins, and the one before ends."""
        if self._stem:
            self._bodies.append(_Body(self._start, self._says_something() and not self._new))
            if self._bodies[-1].stale and (hit := self._judge(end)):
                return hit
        stem = _NUMBER.sub("", name)
        if stem != self._stem or len(self._known) > _KNOWN:
            self.stop()
        self._stem, self._name, self._start = stem, name, end
        self._text, self._new = [line], False
        return None

    def _go_on(self, line: str) -> None:
        """A line of a function. One with the function's own name is new as this is."""
        if not line or _COMMENT.match(line):
            return
        if len(self._text) <= _KNOWN:
            self._text.append(line)
        if len(line) >= _SHORT and line not in self._known and self._name not in line:
            self._known.add(line)
            self._new = True

    def _says_something(self) -> bool:
        body = [line for line in self._text[1:] if self._name not in line]
        return len(body) >= _LINES and sum(map(len, body)) >= _SIZE

    def _stale(self) -> int:
        return sum(body.stale for body in self._bodies)

    def _judge(self, end: int) -> Hit | None:
        """A function with nothing new has ended: whether it is one too many."""
        count = self._stale()
        if count < self._fewest:
            return None
        first = next(body.start for body in self._bodies if body.stale)
        size = (end - first) // count
        needed = max(self._measure.words(size), self._measure.counted(size))
        return Hit(Run(size, first, end - first), end) if end - first >= needed else None


def _name_in(line: str) -> str:
    """The name of the function that begins in this line; "" if none does."""
    if "(" not in line or ";" in line or len(line) > _LONGEST:
        return ""
    if line.rstrip()[-1:] not in _ENDS or _NO_HEAD.match(line):
        return ""
    found = _HEAD.match(line)
    return found[1] or found[2] if found else ""
