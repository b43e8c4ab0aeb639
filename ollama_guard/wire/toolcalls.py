"""Tool calls over several attempts: which index the client knows a call by, and which delta is which call."""

from collections.abc import Sequence
from typing import Any

from ollama_guard.events import ToolDelta
from ollama_guard.wire import jsontext


class Indexes:
    """Indexes of tool calls as the client counts them, per choice, over the whole stream."""

    def __init__(self) -> None:
        self._next: dict[int, int] = {}
        self._placed: dict[tuple[int, int], int] = {}

    def begin_attempt(self) -> None:
        """A later attempt counts from zero again; what it calls 0 is a new call."""
        self._placed.clear()

    def given(self, choice: int, index: int) -> None:
        """The client was shown this index as the upstream wrote it."""
        self._next[choice] = max(self._next.get(choice, 0), index + 1)
        self._placed[choice, index] = index

    def place(self, delta: ToolDelta) -> int:
        """The client's index for a delta that is re-rendered. A whole call is always a new one."""
        key = (delta.choice, delta.index)
        if delta.whole or key not in self._placed:
            self._placed[key] = self._next.get(delta.choice, 0)
            self._next[delta.choice] = self._placed[key] + 1
        return self._placed[key]

    def used(self, choice: int) -> bool:
        """Whether the client has been shown any call."""
        return choice in self._next


def argument_text(arguments: Any) -> str:
    """Arguments as JSON text: OpenAI writes a string, Ollama an object."""
    if isinstance(arguments, str):
        return arguments
    return jsontext.text(arguments) if isinstance(arguments, dict | list) else ""


def complete(arguments: str) -> bool:
    """Whether the text is a finished JSON object."""
    if not arguments.rstrip().endswith("}"):
        return False
    return isinstance(jsontext.loads(arguments.encode("utf-8", "surrogatepass")), dict)


def pair(own: Sequence[ToolDelta], wanted: Sequence[ToolDelta]) -> list[ToolDelta | None]:
    """For each call of a frame the delta that is to stand in its place, or None if it was taken out.

    When none was taken out they pair by order, whatever was changed in them; else by what they say.
    """
    if len(own) == len(wanted):
        return list(wanted)
    left = list(wanted)
    out: list[ToolDelta | None] = []
    for call in own:
        match = next((each for each in left if _same(each, call)), None)
        if match is not None:
            left.remove(match)
        out.append(match)
    return out


def _same(one: ToolDelta, other: ToolDelta) -> bool:
    return (one.name, one.arguments, one.choice) == (other.name, other.arguments, other.choice)
