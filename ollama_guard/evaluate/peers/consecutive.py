"""A substring of 8 to 200 characters, three times in a row: `(.{8,200})\\1{2,}` on the last 4,096 at each
delta.

The regular expression itself takes some 15 ms a delta. Since every new match ends in the new characters,
following the runs at the end of the text finds the same ones at the same delta; a test compares the two. The
second rule is the first on the text without punctuation and white space, in lower case. A unit needs a core
of five letters or digits in reasoning; an answer needs 100 characters in all.
"""

import re

from ollama_guard.evaluate.detector import Detector, Hit, PerChannel
from ollama_guard.evaluate.peers.tails import Tails

SHORTEST, LONGEST, CORE, ANSWER_SPAN = 8, 200, 5, 100
_FOLDED = re.compile(r"[\W_]+")
NEVER = float("inf")


def make() -> Detector:
    return PerChannel(lambda channel: None if channel == "tool" else Consecutive(answer=channel == "content"))


class Consecutive:
    """One channel."""

    def __init__(self, *, answer: bool) -> None:
        self._answer = answer
        self._length = 0
        self._exact = Tails(self._need, anchor=SHORTEST, reach=LONGEST)
        self._folded = Tails(self._need, anchor=SHORTEST, reach=LONGEST)

    def feed(self, text: str) -> Hit | None:
        self._length += len(text)
        for rule, tails, part in (
            ("exact", self._exact, text),
            ("variant", self._folded, _FOLDED.sub("", text.casefold())),
        ):
            tail = tails.feed(part)
            if tail is None:
                continue
            unit = tails.unit(tail)
            if self._answer or sum(map(str.isalnum, unit)) >= CORE:
                onset = tail.at - tail.mass if tails is self._exact else None
                return Hit(rule, self._length, onset, unit, tail.mass / tail.period + 1)
        return None

    def _need(self, period: int) -> float:
        if period < SHORTEST:
            return NEVER
        return max(2 * period, ANSWER_SPAN - period) if self._answer else 2 * period
