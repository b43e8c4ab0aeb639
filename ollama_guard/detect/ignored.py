"""What of a text is invisible to the detectors, and the way back from what is visible to the whole text.

What is visible is the same however the text was split: at each place the longest ignored string goes first,
and what may still become one at the end of the text waits. Bounded: of the text and of the places, only what
the detectors may still ask for is held.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

SLACK = 4096
"""How far the held text outgrows what is kept before it is cut."""
_ESCAPED_SPACE = ("\\n", "\\r", "\\t")


class Ignored(NamedTuple):
    """chars: each of them; strings: each of these; space: all white space."""

    chars: str = ""
    strings: tuple[str, ...] = ()
    space: bool = False


NOTHING = Ignored()


class Sieve:
    """A growing text without what is ignored. Offsets are in characters, of the whole or the visible text.

    held:    characters of the whole text that can be had back at least.
    escaped: the text is JSON, in which white space is written as a backslash and a letter too.
    """

    def __init__(self, ignored: Ignored, *, held: int, escaped: bool = False) -> None:
        more = _ESCAPED_SPACE if escaped and ignored.space else ()
        self._pattern, self._beginnings = _compiled(ignored._replace(strings=(*ignored.strings, *more)))
        self._longest = max(map(len, self._beginnings), default=0)
        self.held = held
        self._text, self._base = "", 0
        self._waits = 0  # characters at the end that may be the beginning of an ignored string
        self.length = 0  # of the whole text
        self.visible = 0  # of the visible text
        self._from_visible, self._from_whole = array("q", [0]), array("q", [0])

    def feed(self, text: str, *, last: bool = False) -> str:
        """Append; what is visible of it and of what waited. last: nothing is to wait."""
        whole, self._text = self._text, ""  # with one reference only, CPython lets it grow in place
        place = len(whole) - self._waits
        whole += text
        self._text = whole
        self.length += len(text)
        out = []
        for begin, end in self._visible_parts(place, last=last):
            self._note(self._base + begin)
            self.visible += end - begin
            out.append(whole[begin:end])
        if len(whole) > self.held + SLACK + self._waits:
            cut = len(whole) - self.held - self._waits
            self._text = whole[cut:]
            self._base += cut
        return "".join(out)

    def seam(self, mark: str) -> str:
        """A visible character that stands for nothing of the whole text. Nothing may wait."""
        self._note(self.length)
        self.visible += 1
        return mark

    def text(self, begin: int, end: int) -> str:
        """The whole text between two offsets, as far as it is still held."""
        return self._text[max(0, begin - self._base) : max(0, end - self._base)]

    def spaced(self, text: str) -> str:
        """A part of the whole text without what is ignored, but with all of its white space."""
        return self._pattern.sub(_white, text)

    def holds(self, begin: int) -> bool:
        """Whether the whole text is still held from this offset on."""
        return begin >= self._base

    def place(self, visible: int) -> int:
        """Where a visible character stands in the whole text; about right for one that was forgotten."""
        index = max(0, bisect_right(self._from_visible, visible) - 1)
        return max(0, self._from_whole[index] + visible - self._from_visible[index])

    def forget(self, visible: int) -> None:
        """Nobody will ask for visible characters before this one any more."""
        keep = max(0, bisect_right(self._from_visible, visible) - 1)
        del self._from_visible[:keep], self._from_whole[:keep]

    def _visible_parts(self, place: int, *, last: bool) -> Sequence[tuple[int, int]]:
        """The parts from `place` on, as far as they are certain. Sets what waits."""
        text, parts = self._text, []
        certain = len(text) - (0 if last else self._longest)
        while True:
            found = self._pattern.search(text, place)
            start = found.start() if found else len(text)
            waits = self._waiting(place) if start >= certain and not last else len(text)
            end = min(start, waits)
            if end > place:
                parts.append((place, end))
            if found is None or waits <= start:
                self._waits = len(text) - end
                return parts
            place = found.end()

    def _waiting(self, place: int) -> int:
        """From where on, not before `place`, the end of the text may begin an ignored string."""
        text = self._text
        for begin in range(max(place, len(text) - self._longest), len(text)):
            if text[begin:] in self._beginnings:
                return begin
        return len(text)

    def _note(self, whole: int) -> None:
        """The next visible character stands there."""
        if whole - self._from_whole[-1] != self.visible - self._from_visible[-1]:
            if self._from_visible[-1] == self.visible:
                self._from_whole[-1] = whole
                return
            self._from_visible.append(self.visible)
            self._from_whole.append(whole)


def _white(ignored: re.Match[str]) -> str:
    if ignored[0] in _ESCAPED_SPACE:
        return ignored[0]
    return "".join(char for char in ignored[0] if char.isspace())


@lru_cache(maxsize=64)
def _compiled(ignored: Ignored) -> tuple[re.Pattern[str], frozenset[str]]:
    """What finds the ignored parts, and all beginnings of ignored strings that are none themselves yet."""
    strings = sorted(filter(None, ignored.strings), key=len, reverse=True)
    beginnings = {string[:end] for string in strings for end in range(1, len(string))}
    singles = "".join(map(re.escape, ignored.chars)) + (r"\s" if ignored.space else "")
    parts = [re.escape(string) for string in strings]
    if singles:
        single = re.compile(f"[{singles}]")
        many = "" if any(map(single.match, strings)) else "+"  # a string may begin at any of them
        parts.append(f"[{singles}]{many}")
    return re.compile("|".join(parts) or r"(?!)"), frozenset(beginnings)
