"""Text with its unimportant differences folded away, and the way back to the places in the raw text.

Folded: case, and every stretch of punctuation and white space to one blank; with `numbers`, each run of
digits to "0" as well. The fold of a text is the same however it was split, and each of its characters has one
raw place.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from enum import Enum
from functools import lru_cache
from itertools import compress, pairwise

_MARK = re.compile(r"[^\w\u2600-\u27bf\U0001f000-\U0001faff]|_")
_GAP = re.compile(r"[^\w\u2600-\u27bf\U0001f000-\U0001faff]+")  # for text without "_": many times faster
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d+")
_ONCE = (" ", " 0")
"""What never stands beside itself: without numbers and with them."""
_EVERY = 64
"""Raw characters between two marks that lead back to raw places."""


def _ascii(*, numbers: bool) -> str:
    """What each ASCII character is folded to, before equal neighbours become one."""
    kept = [chr(code).lower() if chr(code).isalnum() else " " for code in range(128)]
    return "".join("0" if numbers and char.isdigit() else char for char in kept)


_PLAIN, _NUMBERS = _ascii(numbers=False), _ascii(numbers=True)


class Text(Enum):
    """What a unit was found in: the text itself, or one of its foldings."""

    RAW = "raw"
    MARKS = "marks"  # case, punctuation and white space folded
    NUMBERS = "numbers"  # numbers too


@lru_cache(maxsize=2)
def _bare(text: str) -> tuple[str, bool]:
    """Letters and digits of any script with blanks between them; whether each character makes one of them.

    Remembered: both foldings ask for it.
    """
    cased = text.casefold()
    out = _GAP.sub(" ", cased.replace("_", " "))
    return out, len(out) == len(cased) == len(text)


class Fold:
    """The folding itself: feed raw text, get what it adds to the folded text."""

    def __init__(self, *, numbers: bool, last: str = " ") -> None:
        self._numbers = numbers
        self.last = last  # the last folded character if it swallows equal ones: " ", "0", else ""

    def feed(self, text: str) -> str:
        """Append raw text; what is added to the folded text."""
        if text.isascii():
            out = text.translate(_NUMBERS if self._numbers else _PLAIN)
            while "  " in out:
                out = out.replace("  ", " ")
            while self._numbers and "00" in out:
                out = out.replace("00", "0")
        else:
            out = _bare(text)[0]
            if self._numbers and not out.replace(" ", "").isalpha():
                out = _DIGITS.sub("0", out)
        if self.last and out.startswith(self.last):
            out = out[1:]
        if not out:
            return out
        end = out[-1]
        self.last = end if end == " " or (self._numbers and end == "0") else ""
        return out


class Folded:
    """A folded text that knows where its characters stood."""

    def __init__(self, *, numbers: bool, raw: Callable[[int, int], str]) -> None:
        self._numbers = numbers
        self._raw = raw
        self._fold = Fold(numbers=numbers)
        self.length = 0
        self._read = 0
        self._marks_folded = [0]
        self._marks: list[tuple[int, str]] = [(0, " ")]  # raw offset, state of the fold there
        self._even = [True]  # whether behind the mark each raw character makes one folded

    def feed(self, text: str) -> str:
        """Raw text in, folded text out."""
        if self._read >= self._marks[-1][0] + _EVERY:
            self._marks_folded.append(self.length)
            self._marks.append((self._read, self._fold.last))
            self._even.append(True)
        out = self._fold.feed(text)
        if len(out) != len(text) or not (text.isascii() or _bare(text)[1]):
            self._even[-1] = False
        self._read += len(text)
        self.length += len(out)
        return out

    def seam(self, mark: str) -> str:
        """A folded character that stands for nothing of the raw text."""
        self._fold.last = " "
        self.length += 1
        self._marks_folded.append(self.length)
        self._marks.append((self._read, " "))
        self._even.append(True)
        return mark

    def forget(self, place: int) -> None:
        """Nobody will ask for folded places before this one any more."""
        keep = max(0, bisect_right(self._marks_folded, place) - 1)
        del self._marks_folded[:keep], self._marks[:keep], self._even[:keep]

    def place(self, folded: int) -> int:
        """The raw offset of a folded character; about right where the raw text is not held any more."""
        index = max(0, bisect_right(self._marks_folded, folded) - 1)
        at, (begin, last) = self._marks_folded[index], self._marks[index]
        if folded < at:
            return max(0, begin - (at - folded))
        end = self._marks[index + 1][0] if index + 1 < len(self._marks) else self._read
        text = "" if self._even[index] else self._raw(begin, end)
        if len(text) < end - begin:
            return min(end, begin + folded - at)
        raw = _raw_places(text, last, numbers=self._numbers)
        return begin + (raw[folded - at] if folded - at < len(raw) else len(text))


@lru_cache(maxsize=16)
def _raw_places(text: str, last: str, *, numbers: bool) -> Sequence[int]:
    """Which character of a raw text makes each one of its fold. Remembered: runs begin near each other."""
    each = _one_by_one(text, numbers=numbers)
    raw: Sequence[int] = range(len(text))
    if len(each) != len(text):  # a letter that folds to two
        raw = [place for place, char in enumerate(text) for _ in char.casefold()]
    kept = [char != before or char not in _ONCE[numbers] for before, char in pairwise((last, *each))]
    return list(compress(raw, kept))


def _one_by_one(text: str, *, numbers: bool) -> str:
    """The fold of a text before equal neighbours become one."""
    if text.isascii():
        return text.translate(_NUMBERS if numbers else _PLAIN)
    text = _MARK.sub(" ", text.casefold())
    return _DIGIT.sub("0", text) if numbers else text
