"""Chunks of OpenAI's chat and completions streams, as Ollama and llama-server write them, as events."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ollama_guard.events import Done, Event, Finish, ToolDelta, UpstreamError, Usage
from ollama_guard.wire import jsontext, sse
from ollama_guard.wire.frame import Frame
from ollama_guard.wire.textparts import read_texts
from ollama_guard.wire.toolcalls import argument_text, complete

IDENTITY = ("id", "created", "model", "system_fingerprint")
"""What must be the same in every chunk of one answer."""


@dataclass(frozen=True, slots=True)
class Form:
    """What differs between the two routes.

    object: the `object` of a chunk. prefix: of ids. nested: text is in `delta`, not in the choice itself.
    content: the key of the answer's text.
    """

    object: str
    prefix: str
    nested: bool
    content: str


def error_message(error: Any) -> str:
    """The words of an `error` member, which is a string, an object with `message`, or anything."""
    if isinstance(error, str):
        return error
    if isinstance(error, Mapping):
        message = error.get("message")
        return message if isinstance(message, str) else jsontext.dumps(error).decode()
    return ""


def choice_index(choice: Mapping[str, Any]) -> int:
    """Which alternative a choice belongs to; 0 where it does not say."""
    index = choice.get("index")
    return index if type(index) is int else 0


def tool_delta(call: Any, position: int, choice: int) -> ToolDelta | None:
    """One entry of `tool_calls`."""
    if not isinstance(call, dict):
        return None
    index = call.get("index")
    function = call.get("function")
    if not isinstance(function, dict):
        function = {}
    name = function.get("name")
    name = name if name and isinstance(name, str) else None
    arguments = argument_text(function.get("arguments"))
    whole = name is not None and complete(arguments)
    return ToolDelta(index if type(index) is int else position, name, arguments, whole=whole, choice=choice)


def tool_deltas(box: Mapping[str, Any], choice: int) -> list[ToolDelta]:
    """The tool calls of one delta, in order."""
    calls = box.get("tool_calls")
    if not isinstance(calls, list):
        return []
    found = (tool_delta(call, position, choice) for position, call in enumerate(calls))
    return [delta for delta in found if delta is not None]


def chunk_events(form: Form, chunk: Mapping[str, Any]) -> list[Event]:
    """Events of one chunk. A chunk that Ollama wrote in place of an error is an UpstreamError (facts A.7)."""
    out: list[Event] = []
    choices = chunk.get("choices")
    error = chunk.get("error")
    if error is not None and (error or not choices):
        return [UpstreamError(error_message(error))]
    if not isinstance(choices, list):
        choices = []
    ended = False
    for choice in choices:
        if isinstance(choice, dict):
            ended = _choice_events(form, choice, out) or ended
    if choices and not out and chunk.get("model") == "":
        return [UpstreamError("")]
    # Ollama's completions carry an all-zero usage on every chunk, other servers a running one: only the last
    # says what the attempt cost.
    if (ended or not choices) and (usage := read_usage(chunk)) is not None:
        out.append(usage)
    return out


def read_usage(chunk: Mapping[str, Any]) -> Usage | None:
    """The token counts of a chunk; none where all are zero, which is how Ollama fills a place."""
    usage = chunk.get("usage")
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    counts = Usage(prompt if type(prompt) is int else 0, completion if type(completion) is int else 0)
    return counts if counts.prompt or counts.completion else None


def frame_events(form: Form, frame: Frame) -> tuple[Any | None, list[Event]]:
    """The decoded chunk of a frame, if it is one, and its events."""
    if not frame.data:
        return None, _stray_error(frame.raw)
    if frame.data.strip() == b"[DONE]":
        return None, [Done()]
    chunk = jsontext.loads(frame.data)
    if not isinstance(chunk, dict):
        return None, []
    return chunk, chunk_events(form, chunk)


def error_event(kind: str, message: str) -> bytes:
    """The mid-stream error, as an object: the string form loses its text in openai-python (facts E.3)."""
    return sse.event(failure(kind, message)) + sse.DONE


def failure(kind: str, message: str) -> bytes:
    """The body of an error response. Ollama leaves `code` null in all of its own; `type` tells them apart."""
    return jsontext.dumps({"error": {"message": message, "type": kind, "param": None, "code": None}})


def _choice_events(form: Form, choice: Mapping[str, Any], out: list[Event]) -> bool:
    """Append the events of one choice; true if it has ended."""
    index = choice_index(choice)
    box = choice.get("delta") if form.nested else choice
    if isinstance(box, dict):
        read_texts(box, form.content, index, out)
        if "tool_calls" in box:
            out.extend(tool_deltas(box, index))
    reason = choice.get("finish_reason")
    if reason and isinstance(reason, str):
        out.append(Finish("tool_calls" if reason == "function_call" else reason, index))
        return True
    return False


def _stray_error(raw: bytes) -> list[Event]:
    """An error that is not in a `data:` line: Ollama's native line, or llama-server's old `error:` field."""
    text = raw.strip()
    named = text.startswith(b"error:")
    if not named and not text.startswith(b'{"error"'):
        return []
    value = jsontext.loads(text.removeprefix(b"error:"))
    if not isinstance(value, dict):
        return []
    return [UpstreamError(error_message(value if named and "error" not in value else value.get("error")))]
