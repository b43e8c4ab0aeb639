"""The lines of a channel's text, whole, as they come to their end, and the families that look at them."""

from collections.abc import Sequence
from typing import Protocol

from ollama_guard.detect.finding import Finding
from ollama_guard.detect.run import Hit

LONGEST = 1000
"""Characters of a line that matter. A longer one is cut, but stays longer than this."""


class OfLines(Protocol):
    """A family that looks at one line after the other."""

    def take(self, line: str, end: int) -> Hit | None:
        """A line that is not blank, and the offset behind its break; a verdict, if there is one now."""

    def stop(self) -> None:
        """Text follows that is not looked at. Nothing reaches over it."""

    def alarming(self) -> bool:
        """Part of the way to a verdict."""

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""


class Lines:
    """One channel's text, split into lines for all families that look at them."""

    def __init__(self, families: Sequence[OfLines], *, escaped: bool) -> None:
        """families: one at least. escaped: the text is JSON: a line break is a backslash and a letter."""
        self._families = families
        self._break = "\\n" if escaped else "\n"
        self._read = 0
        self._rest = ""
        self._found, self._alarmed = families[0], False

    def feed(self, text: str) -> Hit | None:
        """Append raw text; the earliest verdict within it."""
        self._read += len(text)
        self._rest += text
        if self._break not in self._rest[-len(text) - 1 :]:
            if len(self._rest) > 2 * LONGEST:  # its last character may begin a break
                self._rest = self._rest[: LONGEST + 1] + self._rest[-1]
            return None
        *lines, rest = self._rest.split(self._break)
        end = self._read - len(self._rest)
        self._rest = rest
        for line in lines:
            end += len(line) + len(self._break)
            if not line or line.isspace():
                continue
            for family in self._families:
                hit = family.take(line, end)
                if hit is not None:
                    self._found = family
                    return hit
        self._alarmed = any(family.alarming() for family in self._families)
        return None

    def skip(self, text: str) -> None:
        """Text that is not looked at. No line reaches over it."""
        self._read += len(text)
        self._rest = ""
        for family in self._families:
            family.stop()
        self._alarmed = False

    def alarming(self) -> bool:
        """Part of the way to a verdict."""
        return self._alarmed  # nothing changes between two lines

    def place(self, hit: Hit) -> int:
        """The length of the text at which the hit fell."""
        return hit.at

    def finding(self, hit: Hit, channel: str) -> Finding:
        """The evidence of a hit."""
        return self._found.finding(hit, channel)
