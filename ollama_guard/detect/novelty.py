"""Verdicts on prose that goes on without saying anything new, though no stretch of it repeats exactly.

Measured in shingles of four words or marks: of the latest ones, how many had stood in the text several times
before. A number, name or path that is new makes four new shingles, so work that gets on is never near it.
"""

import re

from ollama_guard.detect import shape
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.page import Page
from ollama_guard.detect.rules import Bar

_HAN = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_HAN}]|[^\W\d_{_HAN}]+|\d+|[^\w\s]|_")
_UNFINISHED = re.compile(rf"[^\W_{_HAN}]+\Z")
_SHINGLE = 4
_WINDOW = 400
"""Shingles looked at: some 1,700 characters of prose."""
_GENERATION = 6000
"""Shingles remembered at least; twice as many at most (1 MB)."""
_LONGEST_WORD = 64
_SAMPLE = 2400
_LONG = 16
"""Mean length of a word from which text is no prose but encoded data. (Scripts without blanks apart.)"""
_IDEOGRAPH = re.compile(rf"[{_HAN}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_LETTERS = 0.65
"""Share of letters from which the latest text is prose. Tables, code and figures are left alone."""


class Novelty:
    """One channel's text, watched for the want of anything new."""

    def __init__(self, bar: Bar, page: Page) -> None:
        self._bar = bar
        self._page = page
        self._length = 0
        self._rest = ""
        self._tail: tuple[str, ...] = ("",) * (_SHINGLE - 1)
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}
        self._known = bytearray(_WINDOW)  # whether each of the latest shingles was known, as a ring
        self._place = 0
        self._sum = 0
        self._held = 0  # shingles since the share has been high enough without a break
        self._onset = 0

    def feed(self, text: str) -> int | None:
        """Append raw text that the page already holds; the length of the text, if it is a verdict now."""
        self._length += len(text)
        text = self._rest + text.casefold()
        unfinished = _UNFINISHED.search(text)
        self._rest = unfinished[0] if unfinished and len(unfinished[0]) < _LONGEST_WORD else ""
        self._count(_TOKEN.findall(text[: len(text) - len(self._rest)]))
        if self._held < self._bar.windows * _WINDOW:
            return None
        return self._length if self._is_prose() else None

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
            detail=f"since character {self._onset}, {share:.0%} of what is said ({self._held} phrases) "
            f"had been said at least {self._bar.times} times before",
        )

    def _count(self, tokens: list[str]) -> None:
        young, old, known, times = self._young, self._old, self._known, self._bar.times
        total, place, held, tail = self._sum, self._place, self._held, self._tail
        enough = self._bar.share * _WINDOW
        for token in tokens:  # one turn a word: no calls in here that could be spared
            shingle = hash((*tail, token))
            tail = (*tail[1:], token)
            seen = young.get(shingle)
            if seen is None:
                seen = old.get(shingle, 0)
            young[shingle] = seen + 1
            is_known = seen >= times
            total += is_known - known[place]
            known[place] = is_known
            place = place + 1 if place + 1 < _WINDOW else 0
            if total < enough:
                held = 0
            else:
                held += 1
                if held == 1:
                    self._onset = self._length
        self._sum, self._place, self._held, self._tail = total, place, held, tail
        if len(young) >= _GENERATION:
            self._old, self._young = young, {}

    def _is_prose(self) -> bool:
        text = self._page.text(self._length - _SAMPLE, self._length)
        letters = sum(map(str.isalpha, text))
        if letters < _LETTERS * len(text) or shape.symbols(text) >= 0.05 or shape.indented(text) >= 0.5:
            return False
        return len(text.split()) * _LONG >= len(text) or len(_IDEOGRAPH.findall(text)) * 3 >= letters
