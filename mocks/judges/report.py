"""What a streamed answer said, and all that is wrong with it."""

import json
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass
class Report:
    """What a stream said, and all that is wrong with it."""

    problems: list[str] = field(default_factory=list)
    content: str = ""
    reasoning: str = ""
    calls: dict[int, dict[str, str]] = field(default_factory=dict)  # index -> id, name, arguments
    finish: list[str] = field(default_factory=list)
    usage: list[Any] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    endings: int = 0
    heartbeats: int = 0
    frames: list[Any] = field(default_factory=list)  # decoded, in order
    identity: dict[str, set[Any]] = field(default_factory=dict)  # id, model, created

    def wrong(self, what: str) -> None:
        self.problems.append(f"frame {len(self.frames)}: {what}")

    def note(self, frame: dict[str, Any], *names: str) -> None:
        """These fields must keep their first value over the stream."""
        for name in names:
            if name in frame:
                self.identity.setdefault(name, set()).add(frame[name])

    def call(self, index: int, **parts: str) -> None:
        """A piece of a tool call; `id` and `name` may come once only, `arguments` are joined."""
        known = self.calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        for name, value in parts.items():
            if name == "arguments":
                known[name] += value
            elif value and known[name]:
                self.wrong(f"tool call {index} has a second {name}")
            else:
                known[name] = value or known[name]


class Reader(Protocol):
    """Reads the frames of one dialect into a report: the SSE event name (or ""), and the decoded object."""

    def read(self, name: str, frame: Any) -> None:
        """One frame, in order; None stands for [DONE]."""


def decoded(text: str) -> dict[str, Any] | None:
    """A JSON object, or None. Two objects glued together are not one."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
