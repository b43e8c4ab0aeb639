"""Functions that are written once more under the next name, with nothing new in them: `fib_3`, `fib_4`, …

Such copies wander: a line is changed and changed back, a number goes up and down. So nothing repeats for
long, and code that repeats but for numbers is common. Two things tell: every line stood in the functions
before, and some bodies come back while others mix their lines. Handlers and stubs are of a few bodies, which
come back in order; of these it takes many.
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
"""Functions with nothing new that are a verdict, and of how many in a row, if they wander."""
_AGAIN, _MIXED = 3, 2
"""How many have a body that came before, and how many one of lines that did, mixed anew: then they wander."""
_EQUAL = 48
"""Functions in a row whose bodies came before, if they do not."""
_LINES, _SIZE = 6, 100
"""Lines of a body, and their characters, from which it says something: stubs and accessors are alike."""
_SHORT = 4
"""Characters of a line that only opens or closes a block."""
_KNOWN, _LARGEST = 512, 16_000
"""Different lines of a series, and characters of a function: code with more of them has something to say."""
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
_QUOTES = "\"'`>"
_COMMENT = re.compile(r"#|//|/?\*|\"\"\"|'''|(?:\\\"){3}|--|;")
_NUMBER = re.compile(r"[\d_]+")


class _Body(NamedTuple):
    """A function that has ended: where its first line did, whether nothing in it is new, and whether its body
    came before as it is."""

    start: int
    stale: bool
    again: bool


class Definitions:
    """One channel's text, watched for functions with nothing new in them."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        scale = measure.scale
        self._fewest, self._of, self._equal = (math.ceil(n * scale) for n in (_FEWEST, _OF, _EQUAL))
        self.stop()

    def take(self, line: str, end: int) -> Hit | None:
        """The next line, and the offset behind its break; a verdict, if it is one now."""
        name = _name_in(line)
        if name:
            return self._begin(line, name, end)
        if self._stem:
            self._go_on(line.strip())
        return None

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        if self._again + self._mixed < self._fewest * 3 // 4:
            return False
        return self._wandered(self._fewest * 3 // 4) or self._stands(self._equal * 3 // 4)

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        unit = "\n".join(self._text)
        count = sum(body.stale for body in self._bodies)
        found = describe(Kind.DRIFT, channel, unit, hit.run.start, hit.at, repeats=count)
        detail = (
            f"{count} of the last {len(self._bodies)} functions have nothing new in them, the latest is "
            f"{self._name}(): {hit.run.need} characters repeated from character {hit.run.start}"
        )
        return replace(found, detail=detail)

    def stop(self) -> None:
        """No series goes on from here."""
        self._stem, self._name = "", ""
        self._start, self._first = 0, 0  # of the function, of the series
        self._count, self._again, self._mixed = 0, 0, 0  # functions in it
        self._known: set[str] = set()
        self._known_bodies: set[int] = set()  # as hashes
        self._bodies: deque[_Body] = deque(maxlen=max(self._of, self._equal))
        self._text: list[str] = []
        self._size, self._new = 0, False

    def _begin(self, line: str, name: str, end: int) -> Hit | None:
        """A function begins, and the one before ends."""
        if self._stem:
            self._bodies.append(self._ended())
            if self._bodies[-1].stale and (hit := self._judge(end)):
                return hit
        stem = _NUMBER.sub("", name)
        if stem != self._stem or len(self._known) > _KNOWN:
            self.stop()
            self._first = end
        self._stem, self._name, self._start = stem, name, end
        self._count += 1
        self._text, self._size, self._new = [line], 0, False
        self._learn(line.replace(name, "", 1).strip())
        return None

    def _go_on(self, line: str) -> None:
        """A line of a function. One with the function's own name is new as this is, or what it is about."""
        if _COMMENT.match(line):
            return
        self._size += len(line)
        if self._size > _LARGEST:
            self._new = True
            return
        self._text.append(line)
        if self._name in line:
            self._new = self._new or any(mark in line[: line.index(self._name)] for mark in _QUOTES)
        elif len(line) >= _SHORT:
            self._learn(line)

    def _learn(self, line: str) -> None:
        self._new = self._new or line not in self._known
        self._known.add(line)

    def _ended(self) -> _Body:
        lines = [line for line in self._text[1:] if self._name not in line]
        body = "\n".join(lines)
        stale = len(lines) >= _LINES and len(body) >= _SIZE and not self._new
        again = stale and hash(body) in self._known_bodies
        self._known_bodies.add(hash(body))
        self._again += again
        self._mixed += stale and not again
        return _Body(self._start, stale, again)

    def _wandered(self, fewest: int) -> bool:
        """Whether so many of the last ones have nothing new, and some bodies came back, others were mixed."""
        last = list(self._bodies)[-self._of :]
        wandered = self._again >= _AGAIN and self._mixed >= _MIXED
        return wandered and sum(body.stale for body in last) >= fewest

    def _stands(self, fewest: int) -> bool:
        """Whether so many in a row came back whole."""
        return len(self._bodies) >= fewest and all(body.again for body in list(self._bodies)[-fewest:])

    def _judge(self, end: int) -> Hit | None:
        """A function with nothing new has ended: whether it is one too many."""
        if not self._wandered(self._fewest) and not self._stands(self._equal):
            return None
        series = end - self._first
        size = series // self._count
        shown = self._measure.promised(len("\n".join(self._text)))
        if series < max(self._measure.words(size), self._measure.counted(size), shown):
            return None
        first = next(body.start for body in self._bodies if body.stale)
        return Hit(Run(size, first, end - first), end)


def _name_in(line: str) -> str:
    """The name of the function that begins in this line; "" if none does."""
    if "(" not in line or len(line) > _LONGEST:
        return ""
    if line.rstrip()[-1:] not in _ENDS or _NO_HEAD.match(line):
        return ""
    found = _HEAD.match(line)
    return found[1] or found[2] if found else ""
