"""/v1/completions: text only. Reasoning is dropped: a run of empty texts while the model thinks.

The finish reason is on the last text chunk; with `include_usage` every chunk has an all-zero `usage`, and
one more chunk has the real numbers.
"""

import random
from collections.abc import Sequence
from typing import Any

from mocks.dialects.base import Chunk, Voice, go_json, now
from mocks.dialects.openai_chat import event, usage

_NO_USAGE = usage(Chunk())


class Completions(Voice):
    media_type = "text/event-stream"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._id = f"cmpl-{random.randrange(999)}"
        self._wants_usage = bool((self.ask.fields.get("stream_options") or {}).get("include_usage"))

    def _event(self, choices: list[Any], counts: dict[str, int], model: str | None = None) -> bytes:
        return event({
            "id": self._id,
            "object": "text_completion",
            "created": int(now().timestamp()),
            "choices": choices,
            "model": self.model if model is None else model,
            "system_fingerprint": "fp_ollama",
        } | ({"usage": counts} if self._wants_usage else {}))  # fmt: skip

    def stream(self, chunk: Chunk) -> Sequence[bytes]:
        out = self._event([_choice(chunk)], _NO_USAGE)
        if chunk.done:
            if self._wants_usage:
                out += self._event([], usage(chunk))
            out += b"data: [DONE]\n\n"
        return (out,)

    def failed(self, message: str) -> Sequence[bytes]:
        del message
        return (self._event([_choice(Chunk())], _NO_USAGE, model=""),)

    def whole(self, chunk: Chunk) -> bytes:
        return go_json({
            "id": self._id,
            "object": "text_completion",
            "created": int(now().timestamp()),
            "model": self.model,
            "system_fingerprint": "fp_ollama",
            "choices": [_choice(chunk)],
            "usage": usage(chunk),
        }) + b"\n"  # fmt: skip


def _choice(chunk: Chunk) -> dict[str, Any]:
    return {"text": chunk.say, "index": 0, "finish_reason": chunk.reason or None}
