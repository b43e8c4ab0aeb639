"""The recent raw text of a channel, and what kind of place each part of it is.

Read through the tracker that holds it. Shared by the families: one looks for verbatim repetition in it,
others in foldings of it.
"""

from ollama_guard.detect import shape
from ollama_guard.detect.regions import Fences, Region, region_of
from ollama_guard.detect.tracker import Tracker

_CONTEXT = 400
"""Characters in front of a run that are looked at to tell the region."""


class Page:
    """A view of a tracker's text."""

    def __init__(self, *, escaped: bool = False) -> None:
        self._escaped = escaped
        self._fences = Fences()
        self._tracker: Tracker | None = None

    def show(self, tracker: Tracker) -> None:
        """This is the text."""
        self._tracker = tracker

    def text(self, begin: int, end: int) -> str:
        """The text between two offsets, as far as it is still held."""
        return self._tracker.text(begin, end) if self._tracker else ""

    def region(self, unit: str, first: int, second: int) -> Region:
        """The kind of place where copies of this unit begin at these two offsets."""
        if self._escaped:
            unit = shape.unescaped(unit)
        self._catch_up()
        before = self.text(first - _CONTEXT, first)
        return region_of(unit, before, fenced=self._fences.inside(second))

    def before_cut(self, keep: int) -> None:
        """Text before this offset is about to be dropped."""
        self._catch_up()
        self._fences.forget(keep)

    def _catch_up(self) -> None:
        if self._tracker is not None:
            self._fences.read(self.text(self._fences.length, self._tracker.length))
