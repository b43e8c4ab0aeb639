"""Prose that comes again with a word or two changed in each copy, so that nothing of it repeats for long.

Words are compared, in shingles of four: each is looked up where it stood last. In copies of one text most
stand the same number of words back, give or take what was put in or left out. Prose that is no copy hardly
has such a stretch; cases that are worked through have, and are told by their numbers.
"""

from dataclasses import replace
from typing import NamedTuple

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.measure import NEVER, Measure
from ollama_guard.detect.novelty import TOKEN
from ollama_guard.detect.page import Page
from ollama_guard.detect.periodic import describe
from ollama_guard.detect.prosaic import Prose

_EVERY, _BETWEEN, _SLACK = 2048, 3, 64
"""Characters between two looks. So many more are between them, so far behind where a verdict is expected."""
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
_NEW_WITHIN = 4
"""Copies with three new words among them are still made from a template."""
_DRIFT = 4
"""Words by which two copies in a row may differ in length."""
_ENDURED = 0.6
"""Share of the latest shingles that must stand one unit back. (Three edits in fifty words leave 0.76.)"""
_LATEST, _LATEST_MOST = 20, 150
"""Shingles that count as the latest ones: a unit's, within these bounds."""
_NUMBERS = 0.8
"""Share of numbers that must come again with the words. In work they change."""


class Copies(NamedTuple):
    """Edited copies at the end of a text: words of one, copies, and where the first two begin."""

    words: int
    copies: float
    first: int
    second: int
    alike: float


class Edited:
    """One channel's prose, watched for copies that are edited."""

    def __init__(self, measure: Measure, page: Page) -> None:
        self._measure = measure
        self._page = page
        self._prose = Prose(page)
        self._next = 2 * _EVERY
        self._expected, self._left = NEVER, 0
        self._found = Copies(0, 0, 0, 0, 0)

    def look(self, length: int) -> int | None:
        """Text has come, so long it is now; the length of the text, if it is a verdict."""
        if length < min(self._next, self._expected):
            return None
        self._expected = NEVER
        self._left -= 1
        if length >= self._next:
            self._next, self._left = self._next + _EVERY, _BETWEEN
        if not self._prose.ends(length):
            return None
        begin = max(0, length - _LOOKED_AT)
        text = self._page.text(begin, length)
        if not _is_familiar(text):
            return None
        if self._measure.apart:
            begin, _, code = self._page.pieces(begin, length)[-1]
            text = "" if code else self._page.text(begin, length)
        found = copies(text)
        if found is None:
            return None
        self._found = found._replace(first=found.first + begin, second=found.second + begin)
        mass = length - self._found.second
        missing = self._measure.edited(round(mass / (found.copies - 1))) - mass
        if self._left > 0:
            self._expected = length + missing + _SLACK
        return length if missing <= 0 else None

    def finding(self, at: int, channel: str) -> Finding:
        """The evidence of a verdict."""
        _, count, first, second, alike = self._found
        size = round((at - second) / (count - 1))
        found = describe(Kind.DRIFT, channel, self._page.text(at - size, at), second, at, repeats=count)
        detail = (
            f"about {size} characters stand {int(count)} times in a row with small edits from character "
            f"{first}: {alike:.0%} of the phrases come from the copy before"
        )
        return replace(found, detail=detail)


def _is_familiar(text: str) -> bool:
    """Whether pieces of the latest text stand earlier in it, too."""
    latest = len(text) - _EVERY
    known = 0
    for at in range(latest, len(text) - _PROBE, _EVERY // _PROBES):
        piece = text[at : at + _PROBE]
        known += len(set(piece)) >= _MANY and text.find(piece, 0, at) >= 0
    return known >= _FAMILIAR * _PROBES


def copies(text: str) -> Copies | None:
    """The edited copies that end this text, if there are any."""
    found = list(TOKEN.finditer(text.lower()))  # as long as the text, but for one letter
    words, places = [match[0] for match in found], [match.start() for match in found]
    run = _run(words)
    if run is None or not _numbers_stay(words[run.start :], run.unit):
        return None
    start = _after_new_words(words, run.start, run.unit)
    count = len(words) - start
    if count < (_FEWEST - 1) * run.unit:
        return None
    return Copies(run.unit, count / run.unit + 1, places[start - run.unit], places[start], run.alike)


class _Run(NamedTuple):
    """Words of a unit, the index of the word from which on they stand one unit back, the share that does."""

    unit: int
    start: int
    alike: float


def _run(words: list[str]) -> _Run | None:
    """The stretch at the end in which most shingles stand as far back as those before them."""
    unit = start = alike = count = 0
    missed, share = False, 0.0
    last: dict[tuple[str, ...], int] = {}
    for index, shingle in enumerate(zip(words, words[1:], words[2:], words[3:], strict=False)):
        back = index - last.get(shingle, index)
        last[shingle] = index
        if not unit:
            if back >= _FEWEST_WORDS:
                unit, start, alike, count, share, missed = back, index, 1, 1, 1.0, False
            continue
        count += 1
        weight = 1 / max(_LATEST, min(unit, _LATEST_MOST))
        if back and abs(back - unit) <= _DRIFT:
            unit, missed = (back if missed else unit), False
            alike += 1
            share += (1 - share) * weight
        else:
            missed = True
            share -= share * weight
            unit = unit if share >= _ENDURED else 0
    return _Run(unit, start, alike / count) if unit else None


def _after_new_words(words: list[str], start: int, unit: int) -> int:
    """From where on copies bring no new words any more. A name or a place for each is a template's."""
    known, new = set(words[: start + unit]), []
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
