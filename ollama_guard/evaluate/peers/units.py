"""The same unit of up to 80 characters ten times in a row; forty times inside code.

White space, `-` and `|` are dropped first. Code is what stands in a fence, an indented line or between
backticks, and nothing is joined across its edges. One number of repeats for every length of unit.
"""

from ollama_guard.evaluate.detector import Detector, Hit, PerChannel
from ollama_guard.evaluate.peers.tails import Tails

LONGEST, REPEATS, IN_CODE = 80, 10, 40
_DROPPED = frozenset("-|")
_ANCHOR = 8


def make() -> Detector:
    return PerChannel(lambda channel: None if channel == "tool" else Units())


class Units:
    """One channel."""

    def __init__(self) -> None:
        self._length = 0
        self._line = ""
        self._fenced = False
        self._code = False
        self._tails = Tails(self._need, anchor=_ANCHOR, reach=LONGEST)

    def feed(self, text: str) -> Hit | None:
        for char in text:
            self._length += 1
            code = self._in_code(char)
            if code != self._code:
                self._code = code
                self._tails.reset()
            if char.isspace() or char in _DROPPED:
                continue
            tail = self._tails.feed(char)
            if tail is not None:
                return Hit("units", self._length, None, self._tails.unit(tail), tail.mass / tail.period + 1)
        return None

    def _need(self, period: int) -> float:
        return (self._repeats() - 1) * period

    def _repeats(self) -> int:
        return IN_CODE if self._code else REPEATS

    def _in_code(self, char: str) -> bool:
        if char == "\n":
            if self._line.lstrip().startswith("```"):
                self._fenced = not self._fenced
            self._line = ""
            return self._fenced
        if len(self._line) < 400:
            self._line += char
        indented = self._line.startswith(("    ", "\t"))
        return self._fenced or indented or self._line.count("`") % 2 == 1
