"""Whether the request wants the repetition: asked for in words, or already there to be copied.

Read only when a verdict is near. A false yes costs delay, a false no stops what the user asked for.
"""

import re
from collections.abc import Callable
from functools import cached_property

from ollama_guard.detect import counts, shape, wishes
from ollama_guard.detect.fold import Fold, Text
from ollama_guard.detect.wishes import Wishes
from ollama_guard.history import Talk

_TAIL = 6_000
"""Characters at the end of what the user said in which a wish counts: the latest turns."""
_SLOT_UNIT = 100
_REFRAIN = 300
_LABEL = 24
"""Characters of an answer to one of many lines, its line break among them."""
_MOST_LINES = 1000
_SHOWN = 12
"""Lines of the latest turn that are looked at for a list to go on with."""
_PIECE = 1024
_SLOW = 200_000
"""Characters that are folded of a conversation beyond ASCII: 15 ms or so."""
_SIGN = 4
"""A unit up to this length is taken for the thing that is asked for, whether or not it is named."""
_MANY = 10
_GLUED = 24
"""Characters of a word that is to be said without blanks."""
_BYTES_LONG = 4000
"""Characters of encoded bytes that are asked for."""
_LONGEST = 2000
"""Characters of what is to be said many times, at most."""
_QUOTED = 200
"""Characters that are taken from the conversation if they stand in it."""

_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\s*\d[\d\s]*")
_ESCAPES = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r"))
_ESCAPES_OF_GO = (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"))
"""What Go's JSON, and so Ollama, escapes beyond need."""


class Asked:
    """A conversation's text, asked about units that repeat in the answer.

    prompt: what the user said, where wishes stand. talk: gives all that was said, which may be copied.
    """

    def __init__(self, prompt: str, talk: Callable[[], Talk] | None = None) -> None:
        self._tail = prompt[-_TAIL:].casefold()
        self._talk_of = talk or (lambda: Talk(prompt, prompt))
        self._forms: dict[tuple[Text, bool, bool], str] = {}

    # Found out when first asked for: it takes milliseconds, and most answers never come near a verdict.

    @cached_property
    def upto(self) -> int:
        """How far the latest turns may ask to count, or for how many things. 0 for no number."""
        return self.upto_but(frozenset())

    def upto_but(self, facts: frozenset[int]) -> int:
        """The same without these figures."""
        return counts.upto(self._tail, self._talk.turn, self.lines, facts)

    @cached_property
    def _talk(self) -> Talk:
        return self._talk_of()

    @cached_property
    def _wishes(self) -> Wishes:
        return wishes.read(self._tail)

    @cached_property
    def lines(self) -> int:
        """How many lines the latest turn has, each of which may be answered."""
        return min(_MOST_LINES, sum(1 for line in self._talk.turn.splitlines() if line.strip()))

    @cached_property
    def shown(self) -> list[str]:
        """The last lines of the latest turn."""
        return [line for line in self._talk.turn[-_TAIL:].splitlines() if line.strip()][-_SHOWN:]

    def wants(self, unit: str, text: Text = Text.RAW, *, escaped: bool = False) -> bool:
        """Whether a repetition of this unit (of raw or folded text) is to be expected.

        escaped: the text that repeats is JSON's. A raw unit has its escapes undone, a folded one cannot.
        """
        return self._wishes_for(unit) or self._holds(unit, text, escaped=escaped)

    def wants_again(self, said: str) -> int:
        """For how many characters the request wants such text again and again, whatever its copies are; 0 if
        it does not.

        said: a stretch of it that begins and ends anywhere.
        """
        if not self._tail:
            return 0
        asked = self._wishes
        again = asked.song or (asked.filler and wishes.may_be_filler(said))
        if not again and (asked.repeated or asked.often or asked.size or asked.cells):
            words = {word for word in _WORD.findall(said.casefold())[1:-1] if not word.isdigit()}
            again = bool(words) and all(word in self._tail for word in words)
        if not again and said[-_QUOTED:] not in self._talk.text:
            return 0
        return max(1, asked.often * min(len(self._tail), _LONGEST), asked.size)

    def allowance(self, unit: str) -> int:
        """Characters that the request asks for by a number ("100 times", "600 digits"). 0 for none."""
        asked = self._wishes
        count = max(asked.often, asked.slots if len(unit) <= _SLOT_UNIT else 0, self._things(unit))
        if asked.cells:
            count = max(count, asked.side if "\n" in unit else asked.cells)
        encoded = _BYTES_LONG if asked.encoded and wishes.may_be_bytes(unit) else 0
        return max(count * len(unit), asked.size, encoded)

    def labels(self, unit: str, text: Text = Text.RAW) -> int:
        """Characters that a short line may repeat as it answers each line of the latest turn. 0 for none."""
        if len(unit) > _LABEL or (text is Text.RAW and unit.count("\n") != 1):
            return 0
        return self.lines * len(unit)

    def _wishes_for(self, unit: str) -> bool:
        if not self._tail:
            return False
        asked = self._wishes
        size = len(unit)
        if asked.filler and size <= _REFRAIN and wishes.may_be_filler(unit):
            return True
        if (asked.song and size <= _REFRAIN) or (asked.slots and size <= _SLOT_UNIT):
            return True
        if (asked.cells and not _LETTER.search(unit)) or (asked.digits and _DIGITS.fullmatch(unit)):
            return True
        if (asked.encoded and wishes.may_be_bytes(unit)) or self._things(unit):
            return True
        if asked.often and size > _SIGN and not _WORD.search(unit):  # rows to be filled in
            return True
        if size <= _SIGN and (asked.repeated or asked.often >= _MANY or asked.size):
            return True
        return bool(asked.repeated or asked.often or asked.size or asked.cells) and self._names(unit)

    def _things(self, unit: str) -> int:
        """How many of what the unit names the request asks for: of "null, ", if it says "100 nulls"."""
        words = set(_WORD.findall((3 * unit).casefold())[1:-1]) if len(unit) <= _SLOT_UNIT else set()
        word = words.pop() if len(words) == 1 else ""
        count = wishes.how_many(word, self._tail) if len(word) > 1 and word.isalpha() else 0
        return count if count >= _MANY else 0

    def _holds(self, unit: str, text: Text, *, escaped: bool) -> bool:
        """Whether the unit stands back to back in the conversation, as in a log or a table to be copied.

        Twice over matches at any phase once three copies stand there; short units need sixteen characters.
        """
        repeated = unit * max(2, -(-16 // len(unit)))
        if repeated in self._form(text, escaped=escaped, of_go=False):
            return True
        return escaped and "u0" in unit and repeated in self._form(text, escaped=True, of_go=True)

    def _form(self, text: Text, *, escaped: bool, of_go: bool) -> str:
        """The conversation in the form that a unit is in."""
        known = self._forms.get((text, escaped, of_go))
        if known is not None:
            return known
        said = self._talk.text
        if text is not Text.RAW and not said.isascii():
            said = said[-_SLOW:]
        for plain, written in (*(_ESCAPES if escaped else ()), *(_ESCAPES_OF_GO if of_go else ())):
            said = said.replace(plain, written)
        if text is not Text.RAW:
            fold = Fold(numbers=text is Text.NUMBERS)  # in pieces: those of ASCII are many times faster
            said = "".join(fold.feed(said[at : at + _PIECE]) for at in range(0, len(said), _PIECE))
        elif escaped:
            said = shape.unescaped(said)  # as the unit was
        self._forms[text, escaped, of_go] = said
        return said

    def _names(self, unit: str) -> bool:
        """Whether the words of the unit stand in the latest turns ("0" may be a folded number).

        The unit is seen as a circle: its first and last word may be two halves of one.
        """
        unit = unit.casefold()
        words = _WORD.findall(unit * 2)
        if len(words) == 1 and len(unit) <= _GLUED:  # nothing divides its copies
            return any(unit[at:] + unit[:at] in self._tail for at in range(len(unit)))
        words = words[1:-1] or words
        return bool(words) and all(word in self._tail for word in set(words) - {"0"})
