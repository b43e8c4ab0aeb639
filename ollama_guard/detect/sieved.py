"""A channel of whose text the detectors see a part: what they say, in places of the whole text.

Code is told apart in the whole text: without its white space there would be no lines in it.
"""

from dataclasses import replace

from ollama_guard.detect import shape
from ollama_guard.detect.apart import ENTER, LEAVE
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.ignored import SLACK, Sieve
from ollama_guard.detect.page import CONTEXT, Page, parts
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.regions import Region

_WHOLE_CONTEXT = 4 * CONTEXT
"""Characters in front of a run, with what is ignored among them."""


class SievedPage(Page):
    """A page whose offsets are of the visible text, and whose places are of the whole."""

    def __init__(self, sieve: Sieve, *, escaped: bool, apart: bool) -> None:
        super().__init__(escaped=escaped, apart=apart)
        self._sieve = sieve
        self._forgotten = 0

    def read(self, text: str) -> None:
        """What was just fed to the sieve."""
        self._read(text)
        oldest = self._sieve.length - self._sieve.held
        if oldest > self._forgotten + SLACK:
            self._forgotten = oldest
            self._forget(oldest)

    def whole_pieces(self, begin: int, end: int) -> list[tuple[int, int, bool]]:
        """As `pieces`, of the whole text."""
        if not self._moved(begin, end):
            return [(begin, end, self.code_at(begin))]
        return parts(begin, end, self.code_at)

    def place(self, offset: int) -> int:
        """Where a visible character stands in the whole text."""
        return self._sieve.place(offset)

    def region(self, unit: str, first: int, second: int, at: int | None = None) -> Region:
        """The kind of place where visible copies of this unit begin.

        What is ignored is no part of them, but for the white space: without it they would have no lines.
        """
        sieve, whole = self._sieve, unit
        begin, end = (first, second) if at is None else (at, at + len(unit))
        if sieve.holds(self.place(begin)):
            whole = sieve.text(self.place(begin), self.place(end)) or unit
            unit = sieve.spaced(whole) or unit
        places = self.place(first), self.place(second)
        before = sieve.spaced(sieve.text(places[0] - _WHOLE_CONTEXT, places[0]))[-CONTEXT:]
        if self._escaped:
            unit, whole = shape.unescaped(unit), shape.unescaped(whole)
        return self._region(unit, whole, before, places)

    def before_cut(self, keep: int) -> None:
        """Visible text before this offset is about to be dropped."""
        self._sieve.forget(keep)

    def _catch_up(self) -> None:
        """`read` does."""


class SeamedSieve:
    """A sieve that leaves a seam where code begins and ends: without its marks all would be one text."""

    def __init__(self, sieve: Sieve, page: SievedPage) -> None:
        self._sieve = sieve
        self._page = page
        self._in_code = False

    def feed(self, text: str) -> str:
        """As the sieve's, of text that the page has read. No ignored string reaches over a seam."""
        start, out = self._sieve.length, ""
        for begin, end, code in self._page.whole_pieces(start, start + len(text)):
            if code is not self._in_code:
                self._in_code = code
                out += self._sieve.feed("", last=True) + self._sieve.seam(ENTER if code else LEAVE)
            out += self._sieve.feed(text[begin - start : end - start])
        return out


def in_whole(found: Finding, sieve: Sieve) -> Finding:
    """A finding on the visible text as one on the whole text. `repeats` stays."""
    onset, at = sieve.place(found.onset), sieve.place(found.at - 1) + 1
    if found.kind is Kind.NOVELTY:
        said = found.detail.replace(f"character {found.onset},", f"character {onset},", 1)
        unit = sieve.text(sieve.place(max(0, found.at - len(found.unit))), at)
        return replace(found, onset=onset, at=at, unit=unit, mass=at - onset, detail=said)
    begin = found.onset if found.onset + found.period < found.at else max(0, found.onset - found.period)
    first, last = sieve.place(begin), sieve.place(begin + found.period)
    unit = sieve.text(first, last) if sieve.holds(first) else found.unit
    return describe(found.kind, found.channel, unit, onset, at, repeats=found.repeats)
