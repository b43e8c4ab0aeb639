"""/api/chat and /api/generate: NDJSON, one line a record, the last with `"done":true`."""

from collections.abc import Sequence
from typing import Any

from mocks.dialects.base import Call, Chunk, Voice, go_json, go_time, now


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "function": {"index": call.index, "name": call.name, "arguments": call.arguments}}


def _metrics(chunk: Chunk) -> dict[str, int]:
    """Durations in nanoseconds and counts; Go omits those that are zero."""
    total, meter = chunk.meter.total_ns, chunk.meter
    values = {
        "total_duration": total,
        "load_duration": total // 40,
        "prompt_eval_count": meter.prompt,
        "prompt_eval_duration": total // 10,
        "eval_count": meter.completion,
        "eval_duration": total * 3 // 4,
    }
    return {name: value for name, value in values.items() if value}


class Chat(Voice):
    """`message.content` is always there; `thinking` and `tool_calls` only when not empty."""

    media_type = "application/x-ndjson"

    def _record(self, chunk: Chunk) -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": chunk.say}
        if chunk.think:
            message["thinking"] = chunk.think
        if chunk.calls:
            message["tool_calls"] = [_call(call) for call in chunk.calls]
        record: dict[str, Any] = {"model": self.model, "created_at": go_time(now()), "message": message}
        return go_json(record | _ending(chunk))

    def stream(self, chunk: Chunk) -> Sequence[bytes]:
        return (self._record(chunk) + b"\n",)

    def whole(self, chunk: Chunk) -> bytes:
        return self._record(chunk)

    def failed(self, message: str) -> Sequence[bytes]:
        return (go_json({"error": message}) + b"\n",)


class Generate(Chat):
    """Text in `response`; tool calls only on the final record; `context` there unless `raw`."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._calls: tuple[Call, ...] = ()

    def _record(self, chunk: Chunk) -> bytes:
        self._calls += chunk.calls
        record: dict[str, Any] = {"model": self.model, "created_at": go_time(now()), "response": chunk.say}
        if chunk.think:
            record["thinking"] = chunk.think
        ending = _ending(chunk)
        record["done"] = ending.pop("done")
        if chunk.done:
            record["done_reason"] = ending.pop("done_reason")
            if not self.ask.fields.get("raw") and chunk.reason not in ("load", "unload"):
                record["context"] = [151644, 872, 198, 151645]
        if chunk.done and self._calls:
            ending["tool_calls"] = [_call(call) for call in self._calls]
        return go_json(record | ending)

    def stream(self, chunk: Chunk) -> Sequence[bytes]:
        record = self._record(chunk)
        return () if chunk.calls and not chunk.done and not (chunk.say or chunk.think) else (record + b"\n",)


def _ending(chunk: Chunk) -> dict[str, Any]:
    if not chunk.done:
        return {"done": False}
    return {"done": True, "done_reason": chunk.reason} | _metrics(chunk)
