"""Verdicts on prose that goes on without saying anything new, though no stretch of it repeats exactly.

Measured in shingles of four words or marks: of the latest ones, how many had stood in the text several times
before. A number, name or path that is new makes four new shingles, so work that gets on is never near it.
"""

import re

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.page import Page
from ollama_guard.detect.prosaic import HAN, Prose
from ollama_guard.detect.rules import Bar

TOKEN = re.compile(rf"[{HAN}]|[^\W\d_{HAN}]+|\d+|[^\w\s]|_")
_SINGLE = rf"[{HAN}]|[^\w\s]|_"
_TOKENS = re.compile(rf"([^\W\d_{HAN}]+|\d+)|((?:{_SINGLE})(?:{_SINGLE}|\s)*)")
"""A word, or some tokens of one character each, with the blanks between: one by one they take longer."""
_DENSE = "\u3040"
"""From here on a character is seldom a letter of a longer word."""
_ASCII_TOKEN = re.compile(r"[a-z]+|\d+|[^a-z0-9\s]")  # the same for lower-case ASCII, twice as fast
_WORD = re.compile(rf"[^\W_{HAN}]*")
_MARK = re.compile(r"^[ \t>]*\d+[.)](?=\s)|\*\*", re.MULTILINE)
"""Numbers of a list and marks of emphasis: they are new in each line, and say nothing."""
_SHINGLE = 4
_WINDOW = 400
"""Shingles looked at: some 1,700 characters of prose."""
_GENERATION = 6000
"""Shingles remembered at least; twice as many at most (1 MB)."""
_LONGEST_WORD = 64


class Novelty:
    """One channel's text, watched for the want of anything new."""

    def __init__(self, bar: Bar, page: Page) -> None:
        self._bar = bar
        self._page = page
        self._length = 0
        self._rest = ""
        self._tail = [""] * (_SHINGLE - 1)
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}
        self._known = bytes(_WINDOW)  # of each of the latest shingles, whether it was known
        self._sum = 0
        self._held = 0  # shingles since the share has been high enough without a break
        self._onset = 0
        self._prose = Prose(page)

    def feed(self, text: str) -> int | None:
        """Append raw text that the page already holds; the length of the text, if it is a verdict now."""
        self._length += len(text)
        text = self._rest + text.casefold()
        if "." in text or ")" in text or "*" in text:
            text = _MARK.sub("", text)
        whole = text[: len(text) - _unfinished(text)]
        self._rest = text[len(whole) :]
        tokens = _ASCII_TOKEN.findall(whole) if whole.isascii() else _tokens(whole)
        for begin in range(0, len(tokens), _WINDOW):
            self._count(tokens[begin : begin + _WINDOW])
        if self._held < self._bar.windows * _WINDOW:
            return None
        return self._length if self._prose.ends(self._length) else None

    def skip(self, text: str) -> None:
        """Text that is not looked at. No phrase reaches over it."""
        self._length += len(text)
        self._rest, self._tail = "", [""] * (_SHINGLE - 1)

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
        """Take in tokens, a window of them at most. No turn of a loop for each that could be spared."""
        words = [*self._tail, *tokens]
        self._tail = words[len(tokens) :]
        shingles = list(map(hash, zip(words, words[1:], words[2:], words[3:], strict=False)))
        came = self._remember(shingles)
        left, self._known = self._known[: len(came)], self._known[len(came) :] + came
        if self._sum + sum(came) < self._bar.share * _WINDOW:  # too few at each of them
            self._held = 0
            self._sum += sum(came) - sum(left)
        else:
            self._hold(came, left)

    def _remember(self, shingles: list[int]) -> bytes:
        """Count them, each; whether it had been there often enough before."""
        young, old, times = self._young, self._old, self._bar.times
        new = young.keys().isdisjoint(shingles) and old.keys().isdisjoint(shingles)
        if new and len(counts := dict.fromkeys(shingles, 1)) == len(shingles):
            known = bytes(len(counts))
        else:
            counts = {shingle: (young.get(shingle) or old.get(shingle, 0)) + 1 for shingle in shingles}
            known = bytes(map(times.__lt__, counts.values()))
            if len(counts) < len(shingles):  # some stand here more than once
                known = _in_turn(shingles, counts, times)
        young.update(counts)
        if len(young) >= _GENERATION:
            self._old, self._young = young, {}
        return known

    def _hold(self, came: bytes, left: bytes) -> None:
        """Count the shingles for which the share was high enough."""
        enough = self._bar.share * _WINDOW
        for known, forgotten in zip(came, left, strict=True):
            self._sum += known - forgotten
            if self._sum < enough:
                self._held = 0
                continue
            self._held += 1
            if self._held == 1:
                self._onset = self._length


def _in_turn(shingles: list[int], counts: dict[int, int], times: int) -> bytes:
    """Which of the shingles were known at their own place. counts: at the first of each; then at the last."""
    known, seen = bytearray(), set[int]()
    for shingle in shingles:
        if shingle in seen:
            counts[shingle] += 1
        else:
            seen.add(shingle)
        known.append(counts[shingle] > times)
    return bytes(known)


def _tokens(text: str) -> list[str]:
    """All tokens of a text that is not ASCII, by the way that is likely to be the faster."""
    if text[len(text) // 2] < _DENSE:
        return TOKEN.findall(text)
    found: list[str] = []
    for word, characters in _TOKENS.findall(text):
        if word:
            found.append(word)
        else:
            found += "".join(characters.split())
    return found


def _unfinished(text: str) -> int:
    """The length of the word at the end, which may go on; 0 for what is too long to be one."""
    word = _WORD.match(text[: -_LONGEST_WORD - 1 : -1])
    size = len(word[0]) if word else 0
    return size if size < _LONGEST_WORD else 0
