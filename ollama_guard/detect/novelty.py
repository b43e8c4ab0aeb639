"""Verdicts on prose that goes on without saying anything new, though no stretch of it repeats exactly.

Measured in shingles of four words or marks: of the latest ones, how many had stood in the text several times
before. A number, name or path that is new makes four new shingles, so work that gets on is never near it.
"""

import math
import re
from typing import NamedTuple

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.page import Page
from ollama_guard.detect.prosaic import Prose
from ollama_guard.detect.rules import Bar
from ollama_guard.detect.scripts import HAN

TOKEN = re.compile(rf"[{HAN}]|[^\W\d_{HAN}]+|\d+|[^\w\s]|_")
_SINGLE = rf"[{HAN}]|[^\w\s]|_"
_TOKENS = re.compile(rf"([^\W\d_{HAN}]+|\d+)|((?:{_SINGLE})(?:{_SINGLE}|\s)*)")
"""A word, or some tokens of one character each, with the blanks between: one by one they take longer."""
_DENSE = "\u3040"
"""From here on a character is seldom a letter of a longer word."""
_ASCII_TOKEN = re.compile(r"[a-z]+|\d+|[^a-z0-9\s]")  # the same for lower-case ASCII, twice as fast
_WORD = re.compile(rf"[^\W_{HAN}]*")
_MARK = re.compile(r"(?<=\n)[ \t>]*\d+[.)](?=\s)|\*\*")
"""Numbers of a list and marks of emphasis: they are new in each line, and say nothing."""
_OPEN = re.compile(r"\n[ \t>]{0,32}\d{0,32}[.)]?\Z|\*{1,32}\Z")
"""What may become one."""
_SHINGLE = 4
_WINDOW = 400
"""Shingles looked at: some 1,700 characters of prose."""
_GENERATION = 6000
"""Shingles remembered at least; twice as many at most (1 MB)."""
_LONGEST_WORD = 64
_SAMPLE = 400
"""Characters of what is said that are looked up in the request."""
_EVERY = 16
"""Shingles between two looks at whether the text is prose, where it ought to be a verdict."""


class _Due(NamedTuple):
    """A token in hand at which the share has been high enough for long; the one since which it has, None if
    that is not in hand; for how many shingles, and how many of the latest were known."""

    token: int
    began: int | None
    held: int
    known: int


class Novelty:
    """One channel's text, watched for the want of anything new."""

    def __init__(self, bar: Bar, page: Page, measure: Measure) -> None:
        self._bar = bar
        self._measure = measure
        self._page = page
        self._length = 0
        self._rest = "\n"
        self._tail = [""] * (_SHINGLE - 1)
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}
        self._known = bytes(_WINDOW)  # of each of the latest shingles, whether it was known
        self._sum = 0
        self._held = 0  # shingles since the share has been high enough without a break
        self._began: int | None = None  # at which of the tokens in hand that began
        self._due: list[_Due] = []
        self._onset = 0
        self._verdict = _Due(0, None, 0, 0)
        self._prose = Prose(page)

    def feed(self, text: str) -> int | None:
        """Append raw text that the page already holds; the length of the text at a verdict, if there is one.

        Nothing depends on where the text is cut, or on how long the text before it was.
        """
        self._length += len(text)
        text = self._rest + text
        whole = text[: len(text) - unfinished(text)]
        self._rest = text[len(whole) :]
        said = whole.casefold()
        if "." in said or ")" in said or "*" in said:
            said = _MARK.sub(_blank, said)
        tokens = _ASCII_TOKEN.findall(said) if said.isascii() else _tokens(said)
        self._began, self._due = None, []
        for begin in range(0, len(tokens), _WINDOW):
            self._count(tokens[begin : begin + _WINDOW], begin)
        if self._began is None and not self._due:
            return None
        start = self._length - len(text)
        ends = [start + found.end() for found in TOKEN.finditer(_MARK.sub(_blank, whole))]
        if self._began is not None and not self._due:
            self._onset = _at(ends, self._began)
        for due in self._due:
            if due.began is not None:
                self._onset = _at(ends, due.began)
            place = _at(ends, due.token)
            if self._is_enough(due, place):
                self._verdict = due
                return place
        return None

    def _is_enough(self, due: _Due, place: int) -> bool:
        if not self._prose.ends(place):
            return False
        times, least = self._measure.again(self._page.text(place - _SAMPLE, place))
        return due.held >= times * self._bar.windows * _WINDOW and place - self._onset >= least

    def skip(self, text: str) -> None:
        """Text that is not looked at. No phrase reaches over it."""
        self._length += len(text)
        self._rest, self._tail = "", [""] * (_SHINGLE - 1)

    def finding(self, at: int, channel: str) -> Finding:
        """The evidence of a verdict."""
        _, _, held, known = self._verdict
        return Finding(
            Kind.NOVELTY,
            channel,
            onset=self._onset,
            at=at,
            unit=self._page.text(at - 160, at),
            mass=at - self._onset,
            detail=f"since character {self._onset}, {known / _WINDOW:.0%} of what is said ({held} phrases) "
            f"had been said at least {self._bar.times} times before",
        )

    def _count(self, tokens: list[str], begin: int) -> None:
        """Take in tokens, a window of them at most. No turn of a loop for each that could be spared.

        begin: how many were taken in before of those in hand.
        """
        words = [*self._tail, *tokens]
        self._tail = words[len(tokens) :]
        shingles = list(map(hash, zip(words, words[1:], words[2:], words[3:], strict=False)))
        came = self._remember(shingles)
        left, self._known = self._known[: len(came)], self._known[len(came) :] + came
        if self._sum + sum(came) < self._bar.share * _WINDOW:  # too few at each of them
            self._held = 0
            self._sum += sum(came) - sum(left)
        else:
            self._hold(came, left, begin)

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

    def _hold(self, came: bytes, left: bytes, begin: int) -> None:
        """Count the shingles for which the share was high enough."""
        enough, long = self._bar.share * _WINDOW, math.ceil(self._bar.windows * _WINDOW)
        for at, (known, forgotten) in enumerate(zip(came, left, strict=True), begin):
            self._sum += known - forgotten
            if self._sum < enough:
                self._held = 0
                continue
            self._held += 1
            if self._held == 1:
                self._began = at
            if self._held >= long and (self._held - long) % _EVERY == 0:
                self._due.append(_Due(at, self._began, self._held, self._sum))


def _blank(mark: re.Match[str]) -> str:
    return " " * len(mark[0])


def _at(ends: list[int], token: int) -> int:
    """Where a token ends. (Where the fold of case makes one letter two, there may be one too many.)"""
    return ends[min(token, len(ends) - 1)]


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


def unfinished(text: str) -> int:
    """The length of what may go on at the end, a word or the mark of a list; 0 for what is too long to."""
    latest = text[: -_LONGEST_WORD - 1 : -1]
    word = _WORD.match(latest)
    size = len(word[0]) if word else 0
    if size < _LONGEST_WORD and ("\n" in latest or text.endswith("*")) and (mark := _OPEN.search(text)):
        size = max(size, len(mark[0]))
    return size if size < _LONGEST_WORD else 0
