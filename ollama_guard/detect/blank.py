"""White space that never ends, in any mixture: what models write under a JSON grammar they cannot leave.

Plain blanks behind text are padding first of all (headers of data files have 2,800 of them); what is counted
against the limit begins with the first line break or tab after them.
"""

import re
from typing import NamedTuple


class Endless(NamedTuple):
    """White space that reached a limit: the length of the text there, and how much there is of it."""

    at: int
    size: int


class BlankRun:
    """Counts white space since the last visible character."""

    def __init__(self, limit: int, padding: int) -> None:
        """limit: white space that is too much, 0 for never; padding: the same for plain blanks alone."""
        self._limit = limit
        self._padding = padding
        self._plain = 0
        self._mixed = 0
        self._length = 0
        self._inner = re.compile(rf"[^\S ]\s{{{limit - 1}}}| {{{self._padding}}}") if limit else None

    def feed(self, text: str) -> Endless | None:
        """Append; where a limit was reached first, or None."""
        start = self._length
        self._length += len(text)
        if self._inner is None:
            return None
        visible = len(text) - len(text.lstrip())
        found = self._count(text[:visible], start)
        if found is not None or visible == len(text):
            return found
        if len(text) > min(self._limit, self._padding):
            inner = self._inner.search(text)
            if inner:
                return Endless(start + inner.end(), inner.end() - inner.start())
        self._plain = self._mixed = 0
        end = len(text.rstrip())
        return self._count(text[end:], start + end)

    def alarming(self) -> bool:
        """Half of the way."""
        return self._limit > 0 and (self._mixed * 2 >= self._limit or self._plain * 2 >= self._padding)

    def _count(self, white: str, start: int) -> Endless | None:
        """More white space, which begins at this offset."""
        before = self._plain, self._mixed
        plain = 0 if self._mixed else len(white) - len(white.lstrip(" "))
        self._plain += plain
        self._mixed += len(white) - plain
        if self._plain >= self._padding > before[0]:
            return Endless(start + self._padding - before[0], self._padding)
        if self._mixed >= self._limit > before[1]:
            return Endless(start + plain + self._limit - before[1], self._limit)
        return None
