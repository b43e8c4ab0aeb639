"""Copies *and* characters, looked at every 128 characters on the last 4,096: the two calmest rules in the
field.

exact: units of 2 to 1,024 characters with a letter or a pictograph in them; up to 60 characters 4 copies and
       180 characters, longer ones 3 copies and 1,024 characters.
calm:  units up to 512 characters, 4 copies and 1,024 characters (2,048 in an answer, which must be 4,096
       long), seen at two looks in a row.
"""

import unicodedata
from collections.abc import Callable

from ollama_guard.evaluate.detector import Detector, Hit, PerChannel
from ollama_guard.evaluate.peers.tails import Tail, longest_period

WINDOW, STRIDE = 4096, 128
Judge = Callable[[Tail, str], bool]


def exact() -> Detector:
    return PerChannel(lambda channel: None if channel == "tool" else Blocks(_exact, 1024, looks=1))


def calm() -> Detector:
    def stream(channel: str) -> "Blocks | None":
        if channel == "tool":
            return None
        answer = channel == "content"
        span = 2048 if answer else 1024

        def judge(tail: Tail, _: str) -> bool:
            return tail.mass + tail.period >= max(span, 4 * tail.period)

        return Blocks(judge, 512, looks=2, least=WINDOW if answer else 0)

    return PerChannel(stream)


class Blocks:
    """One channel. looks: how many in a row must agree; least: the length from which it looks at all."""

    def __init__(self, judge: Judge, longest: int, *, looks: int, least: int = 0) -> None:
        self._judge, self._longest, self._looks, self._least = judge, longest, looks, least
        self._length = 0
        self._agreed = 0
        self._window = ""

    def feed(self, text: str) -> Hit | None:
        begin = 0
        while begin < len(text):
            piece = text[begin : begin + STRIDE - self._length % STRIDE]
            begin += len(piece)
            self._length += len(piece)
            self._window = (self._window + piece)[-WINDOW:]
            if self._length % STRIDE == 0 and self._length >= self._least:
                hit = self._look()
                if hit is not None:
                    return hit
        return None

    def _look(self) -> Hit | None:
        for tail in longest_period(self._window, self._longest):
            unit = self._window[-tail.period :]
            if self._judge(tail, unit):
                self._agreed += 1
                if self._agreed < self._looks:
                    return None
                return Hit(
                    "copies", self._length, self._length - tail.mass, unit, tail.mass / tail.period + 1
                )
        self._agreed = 0
        return None


def _exact(tail: Tail, unit: str) -> bool:
    copies, span = (4, 180) if tail.period <= 60 else (3, 1024)
    if tail.period < 2 or tail.mass + tail.period < max(span, copies * tail.period):
        return False
    return any(char.isalpha() or unicodedata.category(char) == "So" for char in unit)
