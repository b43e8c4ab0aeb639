"""Verdicts on prose that goes on without saying anything new, though no stretch of it repeats exactly.

Measured in shingles of eight words or marks: of the latest ones, how many had stood in the text several times
before. A number, name or path that is new makes eight new shingles, so work that gets on is never near a verdict.
"""

import re
from collections import deque
from typing import NamedTuple

from . import shape
from .finding import Finding, Kind
from .page import Page

_HAN = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_HAN}]|[^\W\d_{_HAN}]+|\d+|[^\w\s]|_")
_UNFINISHED = re.compile(rf"[^\W_{_HAN}]+\Z")
_SHINGLE = 5
_WINDOW = 600
"""Shingles looked at: some 2,500 characters of prose."""
_GENERATION = 6000
"""Shingles remembered at least; twice as many at most (1 MB)."""
_LONGEST_WORD = 64
_SAMPLE = 2400
_LETTERS = 0.65
"""Share of letters from which the latest text is prose. Tables, code and figures are left alone."""


class Bar(NamedTuple):
    """How much of a window must be known from at least `times` places before, over how many windows in a row."""

    share: float
    times: int
    windows: float


class Novelty:
    """One channel's text, watched for the want of anything new."""

    def __init__(self, bar: Bar, page: Page) -> None:
        self._bar = bar
        self._page = page
        self._length = 0
        self._rest = ""
        self._tail: deque[str] = deque(maxlen=_SHINGLE)
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}
        self._known: deque[bool] = deque(maxlen=_WINDOW)
        self._sum = 0
        self._held = 0  # shingles since the share has been high enough without a break
        self._onset = 0

    def feed(self, text: str) -> int | None:
        """Append raw text that the page already holds; the length of the text if a verdict falls at its end."""
        self._length += len(text)
        text = self._rest + text.casefold()
        unfinished = _UNFINISHED.search(text)
        self._rest = unfinished[0] if unfinished and len(unfinished[0]) < _LONGEST_WORD else ""
        for token in _TOKEN.findall(text[: len(text) - len(self._rest)]):
            self._tail.append(token)
            self._count(hash(tuple(self._tail)))
        if self._held < self._bar.windows * _WINDOW:
            return None
        return self._length if self._is_prose() else None

    def alarming(self) -> bool:
        """Half of the way."""
        return self._held * 2 >= self._bar.windows * _WINDOW and self._held > 0

    def finding(self, at: int, channel: str) -> Finding:
        """The evidence of a verdict."""
        share = self._sum / _WINDOW
        return Finding(
            Kind.NOVELTY,
            channel,
            onset=self._onset,
            at=at,
            unit=self._page.text(at - 160, at),
            mass=at - self._onset,
            detail=f"since character {self._onset}, {share:.0%} of what is said ({self._held} phrases) had been said "
            f"at least {self._bar.times} times before",
        )

    def _count(self, shingle: int) -> None:
        seen = self._young.get(shingle, 0) + self._old.get(shingle, 0)
        self._young[shingle] = self._young.get(shingle, 0) + 1
        if len(self._young) >= _GENERATION:
            self._old, self._young = self._young, {}
        known = seen >= self._bar.times
        if len(self._known) == _WINDOW:
            self._sum -= self._known[0]
        self._known.append(known)
        self._sum += known
        if len(self._known) == _WINDOW and self._sum >= self._bar.share * _WINDOW:
            if not self._held:
                self._onset = self._length
            self._held += 1
        else:
            self._held = 0

    def _is_prose(self) -> bool:
        text = self._page.text(self._length - _SAMPLE, self._length)
        letters = sum(map(str.isalpha, text))
        return letters >= _LETTERS * len(text) and shape.symbols(text) < 0.05
