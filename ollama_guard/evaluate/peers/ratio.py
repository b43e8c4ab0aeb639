"""Compression: a text that zlib shrinks by more than 2.4 is taken to repeat (a rule of speech recognition).

Looked at every 256 characters on the last 1,024, from the moment there are as many.
"""

import zlib

from ollama_guard.evaluate.detector import Detector, Hit, PerChannel

RATIO, WINDOW, STRIDE = 2.4, 1024, 256


def make() -> Detector:
    return PerChannel(lambda _: Ratio())


class Ratio:
    """One channel."""

    def __init__(self) -> None:
        self._length = 0
        self._window = ""

    def feed(self, text: str) -> Hit | None:
        begin = 0
        while begin < len(text):
            piece = text[begin : begin + STRIDE - self._length % STRIDE]
            begin += len(piece)
            self._length += len(piece)
            self._window = (self._window + piece)[-WINDOW:]
            if self._length % STRIDE == 0 and len(self._window) == WINDOW:
                raw = self._window.encode("utf-8", "replace")
                ratio = len(raw) / len(zlib.compress(raw))
                if ratio > RATIO:
                    return Hit("ratio", self._length, detail=f"shrinks to 1/{ratio:.1f}")
        return None
