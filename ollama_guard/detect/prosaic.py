"""Whether the latest text is prose, and no table, code or data. Asked often where a verdict is near."""

import re
from string import ascii_letters

from ollama_guard.detect import shape
from ollama_guard.detect.page import Page
from ollama_guard.detect.scripts import UNSPACED

_PROSE_SYMBOLS = re.compile(r"[*#]")
_NO_LETTERS = dict.fromkeys(map(ord, ascii_letters))
_SAMPLE = 2400
_LONG = 16
"""Mean length of a word from which text is no prose but encoded data. (Scripts without blanks apart.)"""
_FEW = 60
"""Different characters that are sooner counted one by one."""
_LETTERS = 0.65
"""Share of letters from which the latest text is prose. Tables, code and figures are left alone."""


class Prose:
    """The text of one channel, looked at where it ends."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._hopeless = 0  # up to this length the latest text cannot be prose

    def ends(self, length: int) -> bool:
        """Whether the text is prose where it has this length.

        Where it is far from that, it is not looked at again before it can be: a character more brings one
        letter at most, or half a word.
        """
        if length < self._hopeless:
            return False
        text = self._page.text(length - _SAMPLE, length)
        letters = _letters(text)
        if letters < _LETTERS * len(text):
            self._hopeless = length + int(_LETTERS * len(text) - letters)
            return False
        words, ideographs = len(text.split()), len(UNSPACED.findall(text))
        if words * _LONG < len(text) and ideographs * 3 < letters:
            more = min(2 * (len(text) // _LONG - words), (letters - 3 * ideographs) // 4)
            self._hopeless = length + more - 2
            return False
        return shape.indented(text) < 0.5 and shape.symbols(_PROSE_SYMBOLS.sub("", text) or " ") < 0.05


def _letters(text: str) -> int:
    if text.isascii():  # in text that stays near a verdict this is asked at every block
        return len(text) - len(text.translate(_NO_LETTERS))
    kinds = set(text)
    if len(kinds) > _FEW:
        return sum(map(str.isalpha, text))
    return sum(map(text.count, filter(str.isalpha, kinds)))
