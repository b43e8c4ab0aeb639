"""Reasoning that a model writes into its answer, between tags: told apart for judging, never touched.

Only a block that opens the answer counts (after white space, or after another such block): a tag further on
is something that the answer talks about.
"""

from ollama_guard.events import Channel

TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reason>": "</reason>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",  # Seed-OSS
    "<|START_THINKING|>": "<|END_THINKING|>",  # Command A
    "[THINK]": "[/THINK]",  # Magistral
    "◁think▷": "◁/think▷",  # Kimi
}

Piece = tuple[Channel, str]


class ThinkTags:
    """Cuts answer text into pieces that are thought and pieces that are answered.

    `inside`: the closing tag that is being waited for, or "". `answer_at`: offset, in the whole text, of the
    first character that is answer.
    """

    def __init__(self) -> None:
        self.inside = ""
        self.answer_at = 0
        self._answering = False
        self._pending = ""

    def split(self, text: str) -> list[Piece]:
        """The pieces of one more delta; what may be half a tag comes with the next."""
        if self._answering:
            return [(Channel.CONTENT, text)]
        pieces: list[Piece] = []
        self._pending += text
        while self._pending and self._advance(pieces):
            pass
        return pieces

    def rest(self) -> list[Piece]:
        """What is still held, when the text is over."""
        pending, self._pending = self._pending, ""
        if not pending.strip():
            return []
        return [(Channel.REASONING if self.inside else Channel.CONTENT, pending)]

    def _advance(self, pieces: list[Piece]) -> bool:
        return self._leave(pieces) if self.inside else self._enter(pieces)

    def _enter(self, pieces: list[Piece]) -> bool:
        bare = self._pending.lstrip()
        for opening, closing in TAGS.items():
            if bare.startswith(opening):
                self._take(len(self._pending) - len(bare) + len(opening))
                self.inside = closing
                return True
        if not bare or any(opening.startswith(bare) for opening in TAGS):
            return False
        pieces.append((Channel.CONTENT, self._pending))
        self._answering = True
        self._pending = ""
        return False

    def _leave(self, pieces: list[Piece]) -> bool:
        at = self._pending.find(self.inside)
        if at >= 0:
            thought = self._pending[:at]
            self._take(at + len(self.inside))
            self.inside = ""
        else:
            keep = _half(self._pending, self.inside)
            thought = self._pending[: len(self._pending) - keep]
            self._take(len(thought))
        if thought:
            pieces.append((Channel.REASONING, thought))
        return at >= 0

    def _take(self, size: int) -> None:
        self._pending = self._pending[size:]
        self.answer_at += size


def _half(text: str, tag: str) -> int:
    """How many characters at the end of the text may be the beginning of the tag."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
