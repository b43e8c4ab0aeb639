"""How far a long evaluation is: one line that is written over on a terminal, a line now and then in a log."""

import time
from collections.abc import Callable
from typing import TextIO

from ollama_guard.evaluate.course import Result

FIRST, ON_TERMINAL, IN_LOG = 2.0, 0.5, 30.0


class Progress:
    """Called after each text. Silent for the first two seconds."""

    def __init__(self, out: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._terminal = out.isatty()
        self._started = clock()
        self._next = self._started + FIRST
        self._shown = False

    def __call__(self, result: Result) -> None:
        now = self._clock()
        if now < self._next:
            return
        self._next = now + (ON_TERMINAL if self._terminal else IN_LOG)
        size = result.chars / 1e6
        speed = f"{size:,.1f} million characters ({size / (now - self._started):.2f} a second)"
        line = f"{result.texts:,} texts, {speed}, {result.false} false verdicts"
        self._out.write(f"\r{line}\x1b[K" if self._terminal else f"{line}\n")
        self._out.flush()
        self._shown = True

    def end(self) -> None:
        """Leave no half line behind."""
        if self._shown and self._terminal:
            self._out.write("\r\x1b[K")
            self._out.flush()
