"""Inline code of a growing Markdown text, by CommonMark, read in any pieces.

A span opens at a run of backticks and goes on to the next run of the same length, not over a blank line.
Whether it will be closed is not known while it is written, so an open one counts, as an open fence does, but
not for ever: a backtick may also be a slip. Whether a place is inside rests on what stands before it alone.
"""

import re

from ollama_guard.detect.regions import Fences
from ollama_guard.detect.turns import Turns

REACH = 1000
"""Characters after which an open span is taken for a slip."""
_PART = re.compile(r"`+|\n|[^`\n]+")


class Spans:
    """Places are in characters from the start of the text. fences: of the same text; they must read first."""

    def __init__(self, fences: Fences) -> None:
        self._fences = fences
        self._length = 0
        self._open = 0  # the backticks that opened the span
        self._run = 0  # backticks at the very end, which may become more
        self._escaped = False  # whether an odd number of backslashes stands before what comes next
        self._blank = False  # whether the line has nothing visible so far
        self._turns = Turns()  # at the ends of the runs that open or close a span
        self.forget = self._turns.forget

    def read(self, text: str) -> None:
        """Take in what follows."""
        at = 0
        while at < len(text):
            if self._open or self._run:
                part = _PART.match(text, at)
                said = part[0] if part else ""
                self._take(said, self._length + at)
            else:  # nothing matters but the next backtick, and what stands before it
                tick = text.find("`", at)
                said = text[at:tick] if tick >= 0 else text[at:]
                self._escaped = _odd_backslashes(said, before=self._escaped)
                self._run = int(tick >= 0)
                at += self._run
            at += len(said)
        self._length += len(text)

    def inside(self, place: int) -> bool:
        """Whether this place (among what was read) lies inside a span."""
        turned = self._turns.latest(place)
        return turned is not None and place - turned <= REACH and self._turns.inside(place)

    def moved(self, begin: int, end: int) -> bool:
        """Whether a span opens or closes at one of these places."""
        turned = self._turns.latest(begin - 1)
        over = (begin if turned is None else turned) + REACH + 1
        return self._turns.moved(begin, end) or begin <= over < end

    def _take(self, said: str, place: int) -> None:
        """A run of backticks, the end of a line, or the text between such."""
        if said[0] == "`":
            self._run += len(said)
            return
        if self._run:
            self._end_run(place)
        if said == "\n":
            if self._blank or self._fences.inside(place):
                self._turn(place, 0)
            self._blank, self._escaped = True, False
        else:
            self._blank = self._blank and said.isspace()
            self._escaped = _odd_backslashes(said, before=self._escaped)

    def _end_run(self, place: int) -> None:
        """A run of backticks ends here."""
        size = self._run - (self._escaped and not self._open)  # in code a backslash is a backslash
        self._run, self._escaped, self._blank = 0, False, False
        if size and self._open in (0, size) and not self._fences.inside(place - 1):
            self._turn(place, 0 if self._open else size)

    def _turn(self, place: int, size: int) -> None:
        if size != self._open:
            self._open = size
            self._turns.turn(place, on=size > 0)


def _odd_backslashes(text: str, *, before: bool) -> bool:
    count = len(text) - len(text.rstrip("\\"))
    return (count + before) % 2 == 1 if count == len(text) else count % 2 == 1
