"""Whether the request wants the repetition: asked for in words, or already there to be copied.

Read only when a verdict is near. A false yes costs delay, a false no stops what the user asked for.
"""

import re
from functools import cached_property

from ollama_guard.detect.fold import Fold, Text

_TAIL = 6_000
"""Characters at the end of the conversation in which a wish counts: the latest turns."""
_MOST = 100_000
_NUMBER = r"(\d{1,3}(?:[,.]\d{3})+|\d{2,})"
_GAP = r"\s*(?:\w+\s+){0,2}"
_COUNT = re.compile(
    rf"{_NUMBER}{_GAP}(?:times|x\b|copies|repetitions|rows?|lines?|zero(?:e?s)?|ones|words?|dots?|dashes|stars?|"
    rf"asterisks?|spaces?|emojis?|sentences?|items?|entries|mal\b|fois|veces|volte|vezes|раз)|{_NUMBER}\s*[遍次行个個回度]",
    re.IGNORECASE,
)
_SIZE = re.compile(rf"{_NUMBER}{_GAP}(?:digits?|characters?|chars?|letters?|bases?|bytes)\b", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:a|one)\s+(hundred|thousand)\b", re.IGNORECASE)
_WISH = re.compile(
    r"\brepeat(?:ed(?:ly)?|ing)?\b|\brepetition|\bover and over|\bagain and again|\bfor ?ever\b|\bendless|"
    r"\bkeep (?:saying|writing|typing)|\bnon-?stop\b|"
    r"重复|反复|不断|繰り返|반복|повтор|répét|wiederhol|repit|ripet",
    re.IGNORECASE,
)
_SONG = re.compile(
    r"\b(?:lyrics|songs?|sing|chants?|mantras?|refrain|chorus|litan(?:y|ies)|prayers?|psalms?|rosary|rounds|"
    r"nursery rhymes?|tongue[- ]twisters?|lorem ipsum|guitar tabs?|tablature|sheet music|drum pattern|"
    r"(?:ten|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred) (?:times|copies))\b|"
    r"歌词|歌詞|念经|咒语|песн|paroles|chanson|letra de|canción|liedtext"
)
"""What is repeated by its nature, whether or not its words stand in the request."""

_SLOTS = re.compile(
    rf"(\d{{2,}}|[89]){_GAP}(?:packets?|instructions?|points?|rounds?|reps|"
    r"beats?|bars?|measures?|cells?|elements?|records?|fields?|slots?|squares?|ticks?)\b",
    re.IGNORECASE,
)
"""Things alike by nature (times are not: "3 hours" is a question, not a wish). What fills them is short, and
its words seldom stand in the request."""
_SLOT_UNIT = 100
_REFRAIN = 150

_FIGURE = re.compile(r"(?<![\w.,])\d{2,4}(?![\w,]|\.\d)")
_LONGEST_COUNT = 1000
"""A larger number in a request is a year, a price or a port, seldom how far to count."""

_WORD = re.compile(r"[^\W_]+")


class Asked:
    """A conversation's text, asked about units that repeat in the answer."""

    def __init__(self, prompt: str) -> None:
        self._prompt = {Text.RAW: prompt}
        self._tail = prompt[-_TAIL:].casefold()

    @cached_property
    def upto(self) -> int:
        """The largest number in the latest turns that may say how far to count ("100 to 160"). 0 for none."""
        counts = (int(figure) for figure in _FIGURE.findall(self._tail))
        return max((count for count in counts if count <= _LONGEST_COUNT), default=0)

    # Found out when first asked for: it takes milliseconds, and most answers never come near a verdict.

    @cached_property
    def _count(self) -> int:
        return _largest(_COUNT, self._tail, _NAMED)

    @cached_property
    def _size(self) -> int:
        return _largest(_SIZE, self._tail)

    @cached_property
    def _wish(self) -> bool:
        return _WISH.search(self._tail) is not None

    @cached_property
    def _slots(self) -> int:
        return _largest(_SLOTS, self._tail)

    @cached_property
    def _song(self) -> bool:
        return _SONG.search(self._tail) is not None

    def wants(self, unit: str, text: Text = Text.RAW) -> bool:
        """Whether a repetition of this unit (of raw or folded text) is to be expected."""
        if not self._tail:
            return False
        if (self._song and len(unit) <= _REFRAIN) or self._holds(unit, text):
            return True
        if self._slots and len(unit) <= _SLOT_UNIT:
            return True
        if not (self._wish or self._count or self._size):
            return False
        return len(unit) <= 4 or self._names(unit)

    def allowance(self, unit: str) -> int:
        """Characters that the request asks for by a number ("100 times", "600 digits"). 0 for none."""
        slots = self._slots if len(unit) <= _SLOT_UNIT else 0
        return max(self._count * len(unit), slots * len(unit), self._size)

    def _holds(self, unit: str, text: Text) -> bool:
        """Whether the unit stands back to back in the conversation, as in a log or a table to be copied.

        Twice over matches at any phase once three copies stand there; short units need sixteen characters.
        """
        prompt = self._prompt.get(text)
        if prompt is None:
            prompt = self._prompt[text] = Fold(numbers=text is Text.NUMBERS).feed(self._prompt[Text.RAW])
        copies = max(2, -(-16 // len(unit)))
        return unit * copies in prompt

    def _names(self, unit: str) -> bool:
        """Whether the words of the unit stand in the latest turns ("0" may be a folded number).

        The unit is seen as a circle: its first and last word may be two halves of one.
        """
        words = _WORD.findall(unit.casefold() * 2)
        words = words[1:-1] or words
        return bool(words) and all(word in self._tail for word in set(words) - {"0"})


def _largest(pattern: re.Pattern[str], text: str, named: re.Pattern[str] | None = None) -> int:
    """The largest number in front of what is counted; 0 for none."""
    found = [0]
    for match in pattern.finditer(text):
        digits = re.sub(r"\D", "", next(group for group in match.groups() if group))
        found.append(min(int(digits), _MOST))
    if named is not None:
        found += [100 if match[1] == "hundred" else 1000 for match in named.finditer(text)]
    return max(found)
