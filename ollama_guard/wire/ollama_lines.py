"""Lines of Ollama's own chat and generate streams, read into events."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ollama_guard.events import Done, Event, Finish, ToolDelta, UpstreamError, Usage
from ollama_guard.wire import jsontext
from ollama_guard.wire.openai_chunks import error_message
from ollama_guard.wire.textparts import read_texts
from ollama_guard.wire.toolcalls import argument_text

ENDING = (
    "done_reason",
    "context",
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)
"""What only the last line has."""


@dataclass(frozen=True, slots=True)
class Form:
    """What differs between the two routes.

    nested: text is in `message`, not in the line itself. content: the key of the answer's text.
    """

    nested: bool
    content: str

    def box(self, line: Mapping[str, Any]) -> dict[str, Any] | None:
        """Where a line has its text and its tool calls."""
        box = line.get("message") if self.nested else line
        return box if isinstance(box, dict) else None


def line_events(form: Form, line: Mapping[str, Any]) -> list[Event]:
    """Events of one line, in order. The last line may have text and tool calls too (facts A.2)."""
    error = line.get("error")
    if error is not None:
        return [UpstreamError(error_message(error))]
    out: list[Event] = []
    box = form.box(line)
    if box is not None:
        read_texts(box, form.content, 0, out)
        if "tool_calls" in box:
            out.extend(tool_deltas(box))
    if line.get("done") is True:
        reason = line.get("done_reason")
        out.append(Finish(reason if reason and isinstance(reason, str) else "stop"))
        prompt, completion = line.get("prompt_eval_count"), line.get("eval_count")
        if type(prompt) is int or type(completion) is int:  # a zero is left out
            counts = (value if type(value) is int else 0 for value in (prompt, completion))
            out.append(Usage(*counts))
        out.append(Done())
    return out


def tool_deltas(box: Mapping[str, Any]) -> list[ToolDelta]:
    """The tool calls of one line: always whole. An index that is not written is the position."""
    calls = box.get("tool_calls")
    if not isinstance(calls, list):
        return []
    out = []
    for position, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            index, name = function.get("index"), function.get("name")
            out.append(
                ToolDelta(
                    index if type(index) is int else position,
                    name if name and isinstance(name, str) else None,
                    argument_text(function.get("arguments")),
                    whole=True,
                )
            )
    return out


def failure(kind: str, message: str) -> bytes:
    """The error, as a body or as a stream's last line. `error` is a string, as Ollama's clients read it;
    since most of them show nothing else, it names the kind too."""
    text = message if kind in message else f"{message} ({kind})"
    return jsontext.dumps({"error": text, "type": kind})
