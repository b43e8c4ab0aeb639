"""A watch whose own faults cost its verdicts, never the client's stream.

The detectors are the largest part of the guard and see any text there is. Should one of them raise, the rest
of the attempt goes by unjudged, as it would without a guard, and the fault is told once.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import PurePath

from ollama_guard.detect.finding import Finding
from ollama_guard.detect.rules import WatchRules
from ollama_guard.detect.watch import Watch
from ollama_guard.history import Talk

PIECE = 2048
"""Characters of a long text that are judged at a time: some 5 ms, and 25 where the text is hostile."""


class Watching:
    """What an attempt needs of a `Watch`. `on_fault` is told what was raised and where, without any text."""

    def __init__(self, rules: WatchRules, prompt: str, talk: Callable[[], Talk] | None = None) -> None:
        self._rules = rules
        self._watch = Watch(rules, prompt=prompt, talk=talk)
        self._later: list[tuple[str, str]] | None = None
        self.on_fault: Callable[[str], None] = lambda _: None

    def feed(self, channel: str, text: str) -> Finding | None:
        """As `Watch.feed`; None from a fault on, and for what is put off."""
        if self._later is not None:
            self._later.append((channel, text))
            return None
        try:
            return self._watch.feed(channel, text)
        except Exception as error:  # noqa: BLE001  # whatever it is, the answer must go on
            self._watch = _blind(self._rules)
            self.on_fault(_told(error))
            return None

    def put_off(self) -> None:
        """Judge what is fed from now on when it is caught up with."""
        self._later = []

    def catch_up(self) -> Iterator[Finding | None]:
        """Judge what was put off by the piece, and tell of each what `feed` does. Verdicts are the same."""
        later, self._later = self._later or [], None
        for channel, text in later:
            for piece in _pieces(text):
                yield self.feed(channel, piece)

    def suspect(self, channel: str) -> bool:
        """As `Watch.suspect`."""
        return self._watch.suspect(channel)

    def equal_deltas(self, channel: str) -> int:
        """As `Watch.equal_deltas`; counted anew from a fault on."""
        return self._watch.equal_deltas(channel)

    def length(self, channel: str) -> int:
        """As `Watch.length`; counted anew from a fault on."""
        return self._watch.length(channel)


def _blind(rules: WatchRules) -> Watch:
    """A watch that only counts."""
    reasoning, content, tool = (
        replace(rules.channel(name), enabled=False) for name in ("reasoning", "content", "tool")
    )
    return Watch(replace(rules, reasoning=reasoning, content=content, tool=tool))


def _pieces(text: str) -> Iterator[str]:
    """No two in a row are of the same length: pieces of one delta are no run of equal ones."""
    begin, size = 0, PIECE
    while begin < len(text):
        yield text[begin : begin + size]
        begin, size = begin + size, 2 * PIECE - 1 - size


def _told(error: Exception) -> str:
    """The class of an error and the line it came from; its message may hold text of the answer."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    return f"{type(error).__name__} in {PurePath(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
