"""/v1/chat/completions: `data:` events only, then `data: [DONE]`.

As Ollama of August 2026 writes it: the role in the first chunk only, one `created` for the stream, the finish
reason on a chunk of its own with an empty delta, usage (if asked for) on one more, all three in one write.
"""

import random
from collections.abc import Sequence
from typing import Any

from mocks.dialects.base import Call, Chunk, Part, Voice, go_json

ZERO_TIME = -62135596800  # Go's zero time as Unix seconds: `created` when nothing ever came


def _call(call: Call) -> dict[str, Any]:
    arguments = go_json(call.arguments).decode()
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "index": call.index, "type": "function", "function": function}


def _part(part: Part) -> dict[str, Any]:
    """A streamed piece in OpenAI's own form: id and name once, then arguments only."""
    if part.first:
        function = {"name": part.name, "arguments": part.text}
        return {"id": part.id, "index": part.index, "type": "function", "function": function}
    return {"index": part.index, "function": {"arguments": part.text}}


def event(payload: Any) -> bytes:
    """One SSE event."""
    return b"data: " + go_json(payload) + b"\n\n"


def usage(chunk: Chunk) -> dict[str, int]:
    """Token counts in OpenAI's form."""
    prompt, completion = chunk.meter.prompt, chunk.meter.completion
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


class ChatCompletions(Voice):
    media_type = "text/event-stream"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._id = f"chatcmpl-{random.randrange(999)}"
        self._created = int(self.began.timestamp())
        self._role_sent = False
        self._called = False
        self._wants_usage = bool((self.ask.fields.get("stream_options") or {}).get("include_usage"))

    def _event(self, choices: list[Any], model: str | None = None, **more: Any) -> bytes:
        return event({
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self.model if model is None else model,
            "system_fingerprint": "fp_ollama",
            "choices": choices,
            **more,
        })  # fmt: skip

    def _delta(self, delta: dict[str, Any], model: str | None = None) -> bytes:
        if not self._role_sent:
            self._role_sent = True
            delta = {"role": "assistant"} | delta
        return self._event([{"index": 0, "delta": delta, "finish_reason": None}], model)

    def stream(self, chunk: Chunk) -> Sequence[bytes]:
        out = b""
        made = [_call(call) for call in chunk.calls] + ([_part(chunk.part)] if chunk.part else [])
        calls = {"tool_calls": made} if made else {}
        self._called = self._called or bool(calls)
        if chunk.think and (chunk.say or calls):  # one record with both becomes two chunks
            out += self._delta({"reasoning": chunk.think}) + self._delta({"content": chunk.say} | calls)
        elif chunk.think:
            out += self._delta({"content": "", "reasoning": chunk.think})
        elif chunk.say or calls or not chunk.done or not self._role_sent:
            out += self._delta({"content": chunk.say} | calls)
        return (out + self._finish(chunk),) if chunk.done else (out,)

    def _finish(self, chunk: Chunk) -> bytes:
        reason = self._reason(chunk)
        out = self._event([{"index": 0, "delta": {}, "finish_reason": reason}])
        if self._wants_usage:
            out += self._event([], usage=usage(chunk))
        return out + b"data: [DONE]\n\n"

    def _reason(self, chunk: Chunk) -> str:
        return "tool_calls" if self._called and chunk.reason == "stop" else chunk.reason

    def failed(self, message: str) -> Sequence[bytes]:
        del message
        if not self._role_sent:
            self._created = ZERO_TIME
        return (self._delta({"content": ""}, model=""),)

    def whole(self, chunk: Chunk) -> bytes:
        self._called = bool(chunk.calls)
        message: dict[str, Any] = {"role": "assistant", "content": chunk.say}
        if chunk.think:
            message["reasoning"] = chunk.think
        if chunk.calls:
            message["tool_calls"] = [_call(call) for call in chunk.calls]
        reason = self._reason(chunk) or None
        return go_json({
            "id": self._id,
            "object": "chat.completion",
            "created": self._created,
            "model": self.model,
            "system_fingerprint": "fp_ollama",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": usage(chunk),
        }) + b"\n"  # fmt: skip
