"""The joint between what the client has of an answer and the continuation that a later attempt writes.

A model that is told to go on often restates the last words first. What it restates is trimmed; a missing
space between two words is put in. Text is held only while it could still be such a restatement.
"""

import re
from collections.abc import Sequence
from typing import TypeGuard

from msgspec.structs import replace

from ollama_guard.events import Channel, Event, Finish, Text, ToolDelta

TAIL = 600
"""Characters of the shown answer in which a restatement is looked for."""

SHORTEST = 8
"""A shorter overlap is taken for chance."""

SHORTEST_CJK = 4
"""The same where one character is a word or half of one."""

SEAM = 120
"""Characters within which a better place to end is looked for."""

SENTENCE = re.compile(r"\n+|[.!?…:;]\s+|[。！？；]")
WORD = re.compile(r"\s+")

FENCE = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)
OPENING = re.compile(r"\s*(```|~~~)[^\S\n]*[\w+#-][^\n`]*\n")
"""A fence that names a language opens a block; a bare one may as well close it."""

CJK_FROM = 0x2E80
"""Scripts from here on put no space between words."""


class Joint:
    """Takes the events of a continuation, gives them back with the restatement trimmed."""

    def __init__(self, shown: str, *, broken: bool = False, thought: bool = False) -> None:
        """`broken`: the client has more than what is gone on from, so the continuation starts a paragraph.
        `thought`: the client has reasoning that was cut off, so more of it starts a paragraph too.
        """
        self._broken = broken
        self._thought = thought
        self._tail = shown[-TAIL:]
        self._fenced = len(FENCE.findall(shown)) % 2 == 1
        self._pending = ""
        self._open = bool(shown.strip())

    def mend(self, events: Sequence[Event]) -> list[Event]:
        """The same events; content text may come later or shorter, and is all there at the finish."""
        if not (self._open or self._thought):
            return list(events)
        mended: list[Event] = []
        for event in events:
            if self._thought and _is_text(event, Channel.REASONING):
                mended += self._paragraph(event)
            elif self._open and _is_text(event, Channel.CONTENT):
                self._pending += event.text
                if not self._undecided():
                    mended += self._settle(event)
            else:
                if self._open and isinstance(event, Finish | ToolDelta):  # neither may overtake the text
                    mended += self._settle(Text(Channel.CONTENT, " "))
                mended.append(event)
        return mended

    def adds(self, events: Sequence[Event]) -> bool:
        """Whether the client gets any answer text that it has not, once these events are the last ones."""
        last = "".join(event.text for event in events if _is_text(event, Channel.CONTENT))
        return not self._open or bool(self._new(self._pending + last).strip())

    @property
    def owes_paragraph(self) -> bool:
        """Whether the paragraph that the continuation was to begin has not begun."""
        return self._broken and self._open

    def _paragraph(self, event: Text) -> list[Event]:
        text = event.text.lstrip()
        self._thought = not text
        return [replace(event, text="\n\n" + text)] if text else []

    def _undecided(self) -> bool:
        text = self._pending.lstrip()
        if not text or len(text) >= TAIL:
            return not text
        fence = self._fenced and text[0] in "`~" and "\n" not in text
        # A paragraph begins with words: blanks behind the restatement may be their indentation.
        blank = self._broken and not self._new(self._pending).strip()
        return fence or blank or text in self._tail

    def _new(self, text: str) -> str:
        if self._fenced and (again := OPENING.match(text)):
            text = text[again.end() :]  # the block that it would go on with is open
        return self._trimmed(text)

    def _settle(self, like: Text) -> list[Event]:
        self._open = False
        text = self._new(self._pending)
        if self._broken and text.strip():
            # What is gone on from ends with a line: the blanks in front of the next one are its indentation.
            text = text.lstrip("\r\n" if self._tail.endswith("\n") else None)
            text = ("\n" if self._fenced else "\n\n") + text
        return [replace(like, text=text)] if text else []

    def _trimmed(self, text: str) -> str:
        bare = text.lstrip()
        ending = self._tail.rstrip()
        blank = self._tail[len(ending) :]
        if overlap := self._overlap(ending, bare):
            text = bare[overlap:]
        if overlap or blank:
            return text[_shared(blank, text) :]
        if _words_meet(self._tail[-1:], text[:1]):
            return " " + text
        return text

    @staticmethod
    def _overlap(ending: str, text: str) -> int:
        shortest = SHORTEST_CJK if text and ord(text[0]) >= CJK_FROM else SHORTEST
        for size in range(min(len(ending), len(text)), shortest - 1, -1):
            if ending.endswith(text[:size]) and _at_word(ending, size):
                return size
        return 0


def clean_end(shown: str, onset: int, period: int) -> int:
    """Where to end the clean part of an answer that looped from `onset` on: at a boundary near by, if any.

    A loop begins wherever its unit happens to begin, often in the middle of a sentence: as much of the next
    copy as completes the sentence, or else the word, is kept, if the client has it.
    """
    ahead = shown[onset : onset + min(period, SEAM)]
    for boundary in (SENTENCE, WORD):
        if boundary.search(shown[max(0, onset - 2) : onset]) and not ahead[:1].isspace():
            return onset
        if found := boundary.search(ahead):
            return onset + found.end()
    return onset


def _is_text(event: Event, channel: Channel) -> TypeGuard[Text]:
    return isinstance(event, Text) and event.channel is channel and event.choice == 0


def _at_word(ending: str, size: int) -> bool:
    """Whether a restatement of this size begins at the start of a word."""
    before, first = ending[-size - 1 : -size], ending[-size : -size + 1 or None]
    return not (before.isalnum() and first.isalnum()) or ord(first) >= CJK_FROM


def _shared(blank: str, text: str) -> int:
    """How much of the white space that the client has already is at the start of the text again."""
    size = 0
    while size < len(blank) and blank[size : size + 1] == text[size : size + 1]:
        size += 1
    return size


def _words_meet(last: str, first: str) -> bool:
    return last.isalnum() and first.isalnum() and ord(last) < CJK_FROM and ord(first) < CJK_FROM
