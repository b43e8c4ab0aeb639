"""The recent raw text of a channel, and what kind of place each part of it is.

Read through the tracker that holds it. Shared by the families: one looks for verbatim repetition in it,
others in foldings of it.
"""

from collections.abc import Callable, Iterator
from itertools import groupby

from ollama_guard.detect import shape
from ollama_guard.detect.indents import Indents
from ollama_guard.detect.regions import Fences, Region, region_of
from ollama_guard.detect.spans import Spans
from ollama_guard.detect.tracker import Tracker

CONTEXT = 400
"""Characters in front of a run that are looked at to tell the region."""
_REMEMBERED, _LONGEST = 64, 1000
"""Regions that are kept at most, until text is dropped, and the characters of their units."""


class Page:
    """A view of a tracker's text."""

    def __init__(self, *, escaped: bool = False, apart: bool = False) -> None:
        """escaped: the text is JSON, in which is no inline code; apart: `pieces` will be asked for."""
        self._escaped = escaped
        self._fences = Fences()
        self._spans = None if escaped else Spans(self._fences)
        self._indents = Indents() if apart else None
        self._tracker: Tracker | None = None
        self._regions: dict[tuple[int, int, str], Region] = {}  # the families ask for the same ones

    def show(self, tracker: Tracker) -> None:
        """This is the text."""
        self._tracker = tracker

    def text(self, begin: int, end: int) -> str:
        """The text between two offsets, as far as it is still held."""
        return self._tracker.text(begin, end) if self._tracker else ""

    def region(  # (of text that is all visible, the unit tells everything)
        self,
        unit: str,
        first: int,
        second: int,
        at: int | None = None,  # noqa: ARG002
    ) -> Region:
        """The kind of place where copies of this unit begin at these two offsets.

        at: where the unit stands, if not at the first one.
        """
        asked = first, second, unit
        known = self._regions.get(asked)
        if known is None:
            if len(self._regions) >= _REMEMBERED:
                self._regions.clear()
            self._catch_up()
            if self._escaped:
                unit = shape.unescaped(unit)
            known = self._region(unit, unit, self.text(first - CONTEXT, first), (first, second))
            if second - first <= _LONGEST:
                self._regions[asked] = known
        return known

    def pieces(self, begin: int, end: int) -> list[tuple[int, int, bool]]:
        """The text between two offsets in parts that are code or none, with whether they are."""
        self._catch_up()
        if not self._moved(self.place(begin), self.place(end - 1) + 1):
            return [(begin, end, self.in_code(begin))]
        return parts(begin, end, self.in_code)

    def in_code(self, offset: int) -> bool:
        """Whether this character lies in code."""
        return self.code_at(self.place(offset))

    def code_at(self, place: int) -> bool:
        """Whether a place of the channel's text lies in code, among what was read."""
        return any(kind.inside(place) for kind in self._kinds())

    def place(self, offset: int) -> int:
        """Where a character of the tracker's text stands in the channel's."""
        return offset

    def _moved(self, begin: int, end: int) -> bool:
        return any(kind.moved(begin, end) for kind in self._kinds())

    def _kinds(self) -> Iterator[Fences | Spans | Indents]:
        return (kind for kind in (self._fences, self._spans, self._indents) if kind is not None)

    def _region(self, unit: str, whole: str, before: str, places: tuple[int, int]) -> Region:
        """whole: the unit with what is ignored in it. places: where the first two copies begin."""
        if self._indents is not None:
            lead = len(whole) - len(whole.lstrip())  # indented code begins behind it
            if self._never_leaves_code(places[0] + lead, places[1]):
                return Region.CODE  # whatever it is made of
            return Region.PROSE if shape.has_fence(whole) else region_of(unit, before, fenced=False)
        inline = self._spans is not None and "`" not in whole and self._spans.inside(places[1])
        if whole is not unit and shape.has_fence(whole):
            return Region.PROSE
        return region_of(unit, before, fenced=inline or self._fences.inside(places[1]))

    def _never_leaves_code(self, begin: int, end: int) -> bool:
        """Whether the copy between is all code, of one kind. A marker in it may be of another fence."""
        return any(kind.inside(end) and not kind.moved(begin + 1, end) for kind in self._kinds())

    def before_cut(self, keep: int) -> None:
        """Text before this offset is about to be dropped."""
        self._catch_up()
        self._forget(keep)
        self._regions.clear()

    def _forget(self, keep: int) -> None:
        for kind in self._kinds():
            kind.forget(keep)

    def _catch_up(self) -> None:
        if self._tracker is not None:
            self._read(self.text(self._fences.length, self._tracker.length))

    def _read(self, text: str) -> None:
        for kind in self._kinds():  # fences first: inline code looks at them
            kind.read(text)


def parts(begin: int, end: int, code: Callable[[int], bool]) -> list[tuple[int, int, bool]]:
    found = []
    for inside, places in groupby(range(begin, end), code):
        own = list(places)
        found.append((own[0], own[-1] + 1, inside))
    return found
