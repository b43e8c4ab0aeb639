"""What is played: a text, cut into deltas, with what is known about it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import repeat

DELTA = 4
"""Characters a delta where nothing was recorded: about a token."""


class Truth(StrEnum):
    """What a text is. Of `gray` either verdict is fine: it looped, and ended by itself."""

    LOOP = "loop"
    HEALTHY = "healthy"
    GRAY = "gray"


@dataclass(frozen=True, slots=True)
class Label:
    """What is known about a text. Offsets are in characters.

    kind:   the kind of loop ("exact", "drifting counter", ...), "" for healthy ones.
    onset:  the start of the second copy: nobody can know before.
    begins: from here on the text does not recover; a verdict before it is a false one. <= onset.
    period: characters in one unit, 0 when there is no fixed one.
    """

    truth: Truth
    kind: str = ""
    onset: int = 0
    begins: int = 0
    period: int = 0


HEALTHY = Label(Truth.HEALTHY)


@dataclass(frozen=True, slots=True)
class Sample:
    """One text of one channel.

    group: what it is counted with ("runs", "content", "fence", ...). chunks: recorded lengths of the deltas,
    or None. first_line: the line of the source that the text begins with; None when it has no lines of its
    own. cut: the source goes on, and was too long.
    """

    name: str
    group: str
    channel: str
    text: str
    label: Label = HEALTHY
    prompt: str = ""
    chunks: Sequence[int] | None = None
    first_line: int | None = 1
    cut: bool = False

    def deltas(self, size: int | None = None) -> Iterator[str]:
        """The text piece by piece: of `size` characters, or as recorded (None; else `DELTA`)."""
        recorded = self.chunks if size is None else None
        begin = 0
        for length in recorded or repeat(size or DELTA):
            if begin >= len(self.text):
                return
            yield self.text[begin : begin + length]
            begin += length
        if begin < len(self.text):  # chunks that do not add up
            yield self.text[begin:]

    def place(self, offset: int) -> str:
        """Where that is, for people."""
        if self.first_line is None:
            return f"{self.name}, character {offset}"
        return f"{self.name}:{self.text.count(chr(10), 0, offset) + self.first_line}"
