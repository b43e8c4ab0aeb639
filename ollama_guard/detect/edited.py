"""Prose that comes again with a word or two changed in each copy, so that nothing of it repeats for long.

Words are compared, in shingles of four: each is looked up where it stood last. In copies of one text most
stand the same number of words back, give or take what was put in or left out. Prose that is no copy hardly
has such a stretch; cases that are worked through have, and are told by their numbers.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.novelty import TOKEN, unfinished
from ollama_guard.detect.page import Page
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.prosaic import Prose

_EVERY = 2048
"""Characters between two looks for copies. Once there are some, each word is looked at."""
_MANY = 5
"""Different characters of a piece that says something."""
_PROBES, _PROBE, _FAMILIAR = 16, 20, 0.6
"""Pieces of the latest text and their length; the share that must stand earlier for a closer look, which
costs some 0.2 us a character. (Three edits in 300 characters leave 0.8 of them whole.)"""
_LOOKED_AT = 24_000
_FEWEST_WORDS = 8
"""Words of a unit. Shorter ones are left to the search for repetition."""
_FEWEST = 3
"""Copies, the first one included."""
_AGAIN = 64
"""Words until copies that were no verdict yet are judged again."""
_NEW_WITHIN = 4
"""Copies with three new words among them are still made from a template."""
_DRIFT = 4
"""Words by which two copies in a row may differ in length."""
_ENDURED = 0.6
"""Share of the latest shingles that must stand one unit back. (Three edits in fifty words leave 0.76.)"""
_LATEST, _LATEST_MOST = 20, 150
"""Shingles that count as the latest ones: a unit's, within these bounds."""
_SHINGLE = 4
_NUMBERS = 0.8
"""Share of numbers that must come again with the words. In work they change."""


class Copies(NamedTuple):
    """Edited copies at the end of a text: words of one, copies, where the first two begin and where the text
    ends, and the share of shingles that come from the copy before."""

    words: int
    copies: float
    first: int
    second: int
    end: int
    alike: float


class Edited:
    """One channel's prose, watched for copies that are edited."""

    def __init__(self, measure: Measure, page: Page) -> None:
        self._measure = measure
        self._page = page
        self._prose = Prose(page)
        self._next = 2 * _EVERY
        self._read = 0
        self._trail: Trail | None = None
        self._found = Copies(0, 0, 0, 0, 0, 0)

    def look(self, length: int) -> int | None:
        """Text has come, so long it is now; the length of the text at the verdict, if there is one."""
        if self._trail is not None:
            return self._go_on(length)
        if length < self._next:
            return None
        self._next = length + _EVERY
        if not self._prose.ends(length):
            return None
        begin = max(0, length - _LOOKED_AT)
        if not _is_familiar(self._page.text(begin, length)):
            return None
        if self._measure.apart:
            begin, _, code = self._page.pieces(begin, length)[-1]
            if code:
                return None
        self._trail, self._read = Trail(begin, self._is_enough), begin
        return None if self._go_on(length) is None else length  # it was enough before, but known only now

    def finding(self, at: int, channel: str) -> Finding:
        """The evidence of a verdict."""
        _, count, first, second, end, alike = self._found
        size = round((end - second) / (count - 1))
        found = describe(Kind.DRIFT, channel, self._page.text(at - size, at), second, at, repeats=count)
        detail = (
            f"about {size} characters stand {int(count)} times in a row with small edits from character "
            f"{first}: {alike:.0%} of the phrases come from the copy before"
        )
        return replace(found, detail=detail)

    def _go_on(self, length: int) -> int | None:
        """Follow the trail to the end of the text, and leave it if it ends before."""
        trail, begin, self._read = self._trail, self._read, length
        if trail is None:
            return None
        if self._measure.apart and any(code for _, _, code in self._page.pieces(begin, length)):
            self._trail = None
            return None
        found = trail.feed(self._page.text(begin, length))
        if found is not None:
            self._found = found
            return found.end
        if not trail.lasts:
            self._trail, self._next = None, length + _EVERY
        return None

    def _is_enough(self, found: Copies) -> bool:
        mass = found.end - found.second
        needed = self._measure.edited(round(mass / (found.copies - 1)))
        return mass >= needed and self._prose.ends(found.end)


def _is_familiar(text: str) -> bool:
    """Whether pieces of the latest text stand earlier in it, too."""
    latest = len(text) - _EVERY
    known = 0
    for at in range(latest, len(text) - _PROBE, _EVERY // _PROBES):
        piece = text[at : at + _PROBE]
        known += len(set(piece)) >= _MANY and text.find(piece, 0, at) >= 0
    return known >= _FAMILIAR * _PROBES


class Trail:
    """Words as they come, and the stretch at their end in which most shingles stand as far back as others do.

    What it finds depends on the text alone, not on where that is cut.
    """

    def __init__(self, begin: int, is_enough: Callable[[Copies], bool]) -> None:
        """begin: the offset of the text that comes first."""
        self._read, self._rest = begin, ""
        self._is_enough = is_enough
        self._words: list[str] = []
        self._places: list[int] = []
        self._last: dict[tuple[str, ...], int] = {}
        self._unit, self._start = 0, 0  # words of a copy, and the first one that stands so far back
        self._alike, self._count = 0, 0  # shingles that do, and all, since then
        self._missed, self._share = False, 0.0
        self._due = 0  # how many words there are when they are judged next

    @property
    def lasts(self) -> bool:
        """Whether there is a second copy, and not more than is remembered."""
        held = self._read - self._places[0] if self._places else 0
        return self._unit > 0 and self._count >= self._unit and held <= _LOOKED_AT + 4 * _EVERY

    def feed(self, text: str) -> Copies | None:
        """Append text; the copies at the first word with which they are enough."""
        text = self._rest + text
        whole = len(text) - unfinished(text)
        start, self._rest = self._read - len(self._rest), text[whole:]
        self._read = start + len(text)
        for match in TOKEN.finditer(text, 0, whole):
            self._words.append(match[0].lower())
            self._places.append(start + match.start())
            if len(self._words) >= _SHINGLE:
                self._follow(tuple(self._words[-_SHINGLE:]), len(self._words) - _SHINGLE)
            if self._unit and len(self._words) >= self._due:
                found = self._judge(start + match.end())
                if found is not None:
                    return found
        return None

    def _follow(self, shingle: tuple[str, ...], index: int) -> None:
        back = index - self._last.get(shingle, index)
        self._last[shingle] = index
        if not self._unit:
            if back >= _FEWEST_WORDS:
                self._unit, self._start, self._alike, self._count = back, index, 1, 1
                self._share, self._missed = 1.0, False
                self._due = index + (_FEWEST - 1) * back
            return
        self._count += 1
        weight = 1 / max(_LATEST, min(self._unit, _LATEST_MOST))
        if back and abs(back - self._unit) <= _DRIFT:
            self._unit, self._missed = (back if self._missed else self._unit), False
            self._alike += 1
            self._share += (1 - self._share) * weight
        else:
            self._missed = True
            self._share -= self._share * weight
            self._unit = self._unit if self._share >= _ENDURED else 0

    def copies(self, end: int) -> Copies | None:
        """The edited copies that end here, if there are any."""
        if not self._unit or not _numbers_stay(self._words[self._start :], self._unit):
            return None
        return self._from(_after_new_words(self._words, self._start, self._unit), end)

    def _from(self, start: int, end: int) -> Copies | None:
        """These copies, the second of which begins with this word."""
        count = len(self._words) - start
        if count < (_FEWEST - 1) * self._unit:
            return None
        first, second = self._places[start - self._unit], self._places[start]
        return Copies(self._unit, count / self._unit + 1, first, second, end, self._alike / self._count)

    def _judge(self, end: int) -> Copies | None:
        whole = self._from(self._start, end)  # most of the time that is not enough, and tells it quickly
        if whole is None or not self._is_enough(whole):
            return None
        found = self.copies(end)
        if found is not None and self._is_enough(found):
            return found
        self._due = len(self._words) + _AGAIN
        return None


def copies(text: str) -> Copies | None:
    """The edited copies that end this text, if there are any."""
    trail = Trail(0, lambda _: False)
    trail.feed(f"{text} ")
    return trail.copies(len(text))


def _after_new_words(words: list[str], start: int, unit: int) -> int:
    """From where on copies bring no new words any more. A name or a place for each is a template's."""
    known, new = set(words[start - unit : start + unit]), []
    for index, word in enumerate(words[start + unit :], start + unit):
        if word not in known:
            known.add(word)
            new.append(index)
    often = [two for one, two in zip(new, new[2:], strict=False) if two - one <= _NEW_WITHIN * unit]
    return max(often, default=start)


def _numbers_stay(words: list[str], unit: int) -> bool:
    """Whether the numbers come again as the words do. (Each is looked for near its place one unit back.)"""
    numbers = [index for index, word in enumerate(words) if word.isdigit() and index >= unit + _DRIFT]
    stay = sum(words[index] in words[index - unit - _DRIFT : index - unit + _DRIFT + 1] for index in numbers)
    return stay >= _NUMBERS * len(numbers)
