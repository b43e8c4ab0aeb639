"""The chanting checks of coding agents: a chunk of 50 characters ten times, close together.

At every character the last 50 are looked up among the latest 5,000 (4,000). Ten occurrences with a small mean
gap are a loop. A delta with a fence, a table row, a list marker, a heading, a quote or a divider clears
everything, and inside a fence nothing is judged, so that long periods of prose are left over.

wide:   gap 250, and at most 5 different texts between the ten; answers only.
narrow: gap 75; besides, 5 equally spaced chunks over an exactly periodic stretch of 1,000 characters;
        reasoning too, where Markdown does not matter and three equal deltas in a row are enough.
"""

import re
from collections import defaultdict
from itertools import pairwise

from ollama_guard.evaluate.detector import Detector, Hit, PerChannel

CHUNK, HITS, BETWEEN = 50, 10, 5
LONG_HITS, LONG_SPAN = 5, 1000
_MARKDOWN = re.compile(
    r"```|^\s*\|.*\||^\s*(?:[*\-+]|\d+\.)\s|^#{1,6}\s|^>\s|^[+\-_=*\u2500-\u257f]+$", re.MULTILINE
)


def wide() -> Detector:
    return PerChannel(
        lambda channel: Chanting(gap=250, kept=5000, between=BETWEEN) if channel == "content" else None
    )


def narrow() -> Detector:
    def stream(channel: str) -> Chanting | None:
        if channel == "tool":
            return None
        return Chanting(gap=75, kept=5000, long_units=True, thought=channel == "reasoning")

    return PerChannel(stream)


class Chanting:
    """One channel. between: different texts between the hits at most, 0 for any."""

    def __init__(
        self, *, gap: int, kept: int, between: int = 0, long_units: bool = False, thought: bool = False
    ) -> None:
        self._gap, self._kept, self._between = gap, kept, between
        self._long_units, self._thought = long_units, thought
        self._length = 0
        self._fenced = False
        self._last, self._equal = "", 0
        self._history, self._base = "", 0
        self._places: defaultdict[str, list[int]] = defaultdict(list)

    def feed(self, text: str) -> Hit | None:
        self._length += len(text)
        if self._thought:
            self._equal = self._equal + 1 if text == self._last else 1
            self._last = text
            if self._equal >= 3 and text.strip():
                return Hit("equal", self._length, self._length - 2 * len(text), text, 3)
        else:
            fences = text.count("```")
            if fences or _MARKDOWN.search(text):
                self._clear()
            self._fenced ^= fences % 2 == 1
            if self._fenced or fences:
                return None
        return self._chunks(text)

    def _chunks(self, text: str) -> Hit | None:
        first = max(0, len(self._history) - CHUNK + 1)
        self._history += text
        for begin in range(first, len(self._history) - CHUNK + 1):
            chunk = self._history[begin : begin + CHUNK]
            places = self._places[chunk]
            places.append(self._base + begin)
            rule = self._judge([place for place in places[-HITS:] if place >= self._base])
            if rule:
                at = self._length - (len(self._history) - begin - CHUNK)
                return Hit(rule, self._length, at - CHUNK, chunk, len(places))
        if len(self._history) > self._kept:
            self._trim()
        return None

    def _judge(self, places: list[int]) -> str:
        if len(places) >= HITS and (places[-1] - places[-HITS]) / (HITS - 1) <= self._gap:
            texts = {self._text(one + CHUNK, two) for one, two in pairwise(places)}
            if not self._between or len(texts) <= self._between:
                return "chunks"
        if self._long_units and len(places) >= LONG_HITS:
            spaced = places[-LONG_HITS:]
            gaps = {two - one for one, two in pairwise(spaced)}
            if len(gaps) == 1 and self._periodic(spaced[0], spaced[-1] + CHUNK, gaps.pop()):
                return "long units"
        return ""

    def _periodic(self, begin: int, end: int, period: int) -> bool:
        text = self._text(begin, end)
        return len(text) >= LONG_SPAN and text[period:] == text[:-period]

    def _text(self, begin: int, end: int) -> str:
        return self._history[begin - self._base : end - self._base]

    def _trim(self) -> None:
        cut = len(self._history) - self._kept
        self._base += cut
        self._history = self._history[cut:]
        if len(self._places) > 4 * self._kept:
            kept = {chunk: [p for p in places if p >= self._base] for chunk, places in self._places.items()}
            self._places = defaultdict(list, {chunk: places for chunk, places in kept.items() if places})

    def _clear(self) -> None:
        self._history, self._base = "", 0
        self._places.clear()
