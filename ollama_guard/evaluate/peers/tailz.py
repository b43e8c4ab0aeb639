"""Reversed Z at each character: the end of the text equals what stood a distance before it, long enough.

Long enough is max(16, distance x factor), on the last 20,000 characters; white space is folded to single
blanks and case is ignored. With the factor 1 that those who use it chose, one adjacent second copy is a loop.
"""

from ollama_guard.evaluate.detector import Detector, Hit, PerChannel
from ollama_guard.evaluate.peers.tails import Tails

LEAST, FACTOR, WINDOW = 16, 1.0, 20_000


def make() -> Detector:
    return PerChannel(lambda _: TailZ())


class TailZ:
    """One channel."""

    def __init__(self) -> None:
        self._length = 0
        self._blank = False
        self._tails = Tails(lambda period: max(LEAST, period * FACTOR), anchor=LEAST, reach=WINDOW // 2)

    def feed(self, text: str) -> Hit | None:
        self._length += len(text)
        tail = self._tails.feed(self._folded(text))
        if tail is None:
            return None
        return Hit("overlap", self._length, None, self._tails.unit(tail), tail.mass / tail.period + 1)

    def _folded(self, text: str) -> str:
        kept = []
        for char in text.casefold():
            blank = char.isspace()
            if not (blank and self._blank):
                kept.append(" " if blank else char)
            self._blank = blank
        return "".join(kept)
