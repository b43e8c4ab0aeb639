"""What a channel needs whose rules have no verdict in code (`code = 0`).

Verbatim repetition cannot reach over a boundary: fence or backticks would stand in each copy. But folding
takes such marks away, so there a seam is put in their place; and what stands in code does not count as said.
"""

from typing import Generic, Protocol, TypeVar

from ollama_guard.detect.chains import Chains
from ollama_guard.detect.finding import Finding
from ollama_guard.detect.lines import Lines
from ollama_guard.detect.page import Page
from ollama_guard.detect.run import Hit
from ollama_guard.detect.variant import Variant

Seen = TypeVar("Seen")

ENTER, LEAVE = "\x01", "\x02"
"""Two seams: one alone would make text before, in and behind code a repetition of three copies."""


class Seamed:
    """A family on folded text that never joins what stands before, in and behind code."""

    def __init__(self, family: Variant, page: Page) -> None:
        self._family = family
        self._page = page
        self._read = 0
        self._in_code = False
        self.alarming = family.alarming
        self.place = family.place
        self.finding = family.finding

    def feed(self, text: str) -> Hit | None:
        """As the family's."""
        start, hit = self._read, None
        self._read += len(text)
        for begin, end, code in self._page.pieces(start, self._read):
            if code is not self._in_code:
                self._in_code = code
                hit = hit or self._family.seam(ENTER if code else LEAVE)
            hit = hit or self._family.feed(text[begin - start : end - start])
        return hit


class Skipping(Protocol[Seen]):
    """What can be told of text that it is not to look at."""

    def feed(self, text: str) -> Seen | None:
        """Append text; a verdict within it."""

    def skip(self, text: str) -> None:
        """Text that is not looked at."""

    def finding(self, seen: Seen, channel: str) -> Finding:
        """The evidence of a verdict."""


class ProseOnly(Generic[Seen]):
    """A family that sees no code."""

    def __init__(self, family: Skipping[Seen], page: Page) -> None:
        self._family = family
        self._page = page
        self._read = 0
        self.finding = family.finding

    def feed(self, text: str) -> Seen | None:
        """As the family's."""
        start, seen = self._read, None
        self._read += len(text)
        for begin, end, code in self._page.pieces(start, self._read):
            piece = text[begin - start : end - start]
            if code:
                self._family.skip(piece)
            elif seen is None:
                seen = self._family.feed(piece)
        return seen


class LinesOfProse(ProseOnly[Hit]):
    """A family that reads lines, of which none stands in code."""

    def __init__(self, family: Lines | Chains, page: Page) -> None:
        super().__init__(family, page)
        self.alarming = family.alarming
        self.place = family.place
