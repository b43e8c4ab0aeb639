"""What a channel needs whose rules have no verdict in code (`code = 0`).

Verbatim repetition cannot reach over a boundary: fence or backticks would stand in each copy. But folding
takes such marks away, so there a seam is put in their place; and what stands in code does not count as said.
"""

from ollama_guard.detect.finding import Finding
from ollama_guard.detect.novelty import Novelty
from ollama_guard.detect.page import Page
from ollama_guard.detect.tracker import Hit
from ollama_guard.detect.variant import Variant

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


class ProseOnly:
    """Novelty that sees no code."""

    def __init__(self, novelty: Novelty, page: Page) -> None:
        self._novelty = novelty
        self._page = page
        self._read = 0

    def feed(self, text: str) -> int | None:
        """As novelty's."""
        start, stale = self._read, None
        self._read += len(text)
        for begin, end, code in self._page.pieces(start, self._read):
            piece = text[begin - start : end - start]
            if code:
                self._novelty.skip(piece)
            elif stale is None:
                stale = self._novelty.feed(piece)
        return stale

    def finding(self, at: int, channel: str) -> Finding:
        """As novelty's."""
        return self._novelty.finding(at, channel)
