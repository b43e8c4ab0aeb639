"""The one interface through which detectors are compared, and our own behind it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ollama_guard.detect.rules import WatchRules
from ollama_guard.detect.watch import Watch

GUARD = "guard"


@dataclass(frozen=True, slots=True)
class Hit:
    """A verdict. Offsets are in characters of the channel's text.

    rule: which rule of the detector it was; at: the length of the text when the verdict fell; onset: where
    the detector says that the repetition began (start of the second copy), None when it does not say; unit:
    what it says repeats, shortened; repeats: copies, 0 when it does not say; detail: a sentence for people.
    """

    rule: str
    at: int
    onset: int | None = None
    unit: str = ""
    repeats: float = 0.0
    detail: str = ""


class Detector(Protocol):
    """Fed with the text of one attempt as it comes; says at most once that it loops."""

    def feed(self, channel: str, text: str) -> Hit | None:
        """Text of "reasoning", "content" or "tool:<index>"."""
        ...


Make = Callable[[str], Detector]
"""A new detector for one attempt; it is given the conversation's text."""


class Guard:
    """The very watch that the proxy uses."""

    def __init__(self, rules: WatchRules, prompt: str = "") -> None:
        self._watch = Watch(rules, prompt=prompt)

    def feed(self, channel: str, text: str) -> Hit | None:
        found = self._watch.feed(channel, text)
        if found is None:
            return None
        return Hit(str(found.kind), found.at, found.onset, found.unit, found.repeats, found.detail)


class Stream(Protocol):
    """A detector of one channel."""

    def feed(self, text: str) -> Hit | None: ...


class PerChannel:
    """A detector that looks at each channel by itself. make: its part for a channel, None for one it
    ignores."""

    def __init__(self, make: Callable[[str], Stream | None]) -> None:
        self._make = make
        self._streams: dict[str, Stream | None] = {}

    def feed(self, channel: str, text: str) -> Hit | None:
        if channel not in self._streams:
            self._streams[channel] = self._make(channel.partition(":")[0])
        stream = self._streams[channel]
        return stream.feed(text) if stream is not None else None
