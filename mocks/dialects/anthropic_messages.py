"""/v1/messages: `event:` and `data:`, content blocks with indexes, `message_stop` at the end.

Thinking blocks have no signature; thinking after the first text or tool call is dropped; no `ping` and no
`error` event is ever sent; an empty generation has no block at all.
"""

import random
from collections.abc import Sequence
from typing import Any

from mocks.dialects.base import Chunk, Part, Voice, go_json

_REASONS = {"stop": "end_turn", "length": "max_tokens"}


class Messages(Voice):
    media_type = "text/event-stream"
    extra_headers = (("Cache-Control", "no-cache"), ("Connection", "keep-alive"))

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._id = f"msg_{random.getrandbits(96):024x}"
        self._started = False
        self._index = 0
        self._open = ""  # the type of the open block
        self._thinking_done = False
        self._called = False

    def _event(self, name: str, **fields: Any) -> bytes:
        return f"event: {name}\n".encode() + b"data: " + go_json({"type": name} | fields) + b"\n\n"

    def _message(self, content: list[Any], reason: str, prompt: int, completion: int) -> dict[str, Any]:
        message: dict[str, Any] = {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
        }
        if reason:
            message["stop_reason"] = reason
        return message | {"usage": {"input_tokens": prompt, "output_tokens": completion}}

    def stream(self, chunk: Chunk) -> Sequence[bytes]:
        out: list[bytes] = []
        if not self._started:
            self._started = True
            message = self._message([], "", self.ask.prompt_tokens, 0)
            out.append(self._event("message_start", message=message))
        if chunk.think and not self._thinking_done:
            out += self._text("thinking", "thinking_delta", "thinking", chunk.think)
        if chunk.say:
            out += self._text("text", "text_delta", "text", chunk.say)
        for call in chunk.calls:
            arguments = go_json(call.arguments).decode()
            out += self._tool(Part(call.index, call.id, call.name, arguments, first=True, last=True))
        if chunk.part:
            out += self._tool(chunk.part)
        if chunk.done:
            out += self._ending(chunk)
        return out

    def _close(self) -> list[bytes]:
        if not self._open:
            return []
        self._thinking_done = self._thinking_done or self._open == "thinking"
        out = [self._event("content_block_stop", index=self._index)]
        self._open = ""
        self._index += 1
        return out

    def _text(self, block: str, delta: str, name: str, text: str) -> list[bytes]:
        out: list[bytes] = []
        if self._open != block:
            out += self._close()
            self._open = block
            self._thinking_done = self._thinking_done or block == "text"
            empty = {"type": block, name: ""}
            out.append(self._event("content_block_start", index=self._index, content_block=empty))
        out.append(self._event("content_block_delta", index=self._index, delta={"type": delta, name: text}))
        return out

    def _tool(self, part: Part) -> list[bytes]:
        out: list[bytes] = []
        if part.first:
            out += self._close()
            self._called = self._thinking_done = True
            self._open = "tool_use"
            block = {"type": "tool_use", "id": part.id, "name": part.name, "input": {}}
            out.append(self._event("content_block_start", index=self._index, content_block=block))
        delta = {"type": "input_json_delta", "partial_json": part.text}
        out.append(self._event("content_block_delta", index=self._index, delta=delta))
        return out + self._close() if part.last else out

    def _ending(self, chunk: Chunk) -> list[bytes]:
        counts = {"input_tokens": chunk.meter.prompt, "output_tokens": chunk.meter.completion}
        delta = {"stop_reason": self._reason(chunk)}
        return [
            *self._close(),
            self._event("message_delta", delta=delta, usage=counts),
            self._event("message_stop"),
        ]

    def _reason(self, chunk: Chunk) -> str:
        if self._called:
            return "tool_use"
        return _REASONS.get(chunk.reason, "stop_sequence") if chunk.reason else ""

    def whole(self, chunk: Chunk) -> bytes:
        self._called = bool(chunk.calls)
        content: list[dict[str, Any]] = []
        if chunk.think:
            content.append({"type": "thinking", "thinking": chunk.think})
        if chunk.say:
            content.append({"type": "text", "text": chunk.say})
        content += [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
            for call in chunk.calls
        ]
        counts = chunk.meter
        return go_json(self._message(content, self._reason(chunk), counts.prompt, counts.completion)) + b"\n"
