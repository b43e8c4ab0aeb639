"""The stream of /v1/messages as Ollama writes it (anthropic/anthropic.go), and a check of its grammar."""

import json
from collections.abc import Iterable
from typing import Any

from ollama_guard.wire.frame import Frame, Framing
from ollama_guard.wire.framing import Framer

Said = tuple[str, Any]
"""("thinking", words), ("text", words) or ("tool_use", (name, arguments))."""


def event(payload: dict[str, Any]) -> bytes:
    """One event as Go writes it."""
    return b"event: %s\ndata: %s\n\n" % (payload["type"].encode(), json.dumps(payload).encode())


def stream(
    said: Iterable[Said],
    *,
    ident: str = "msg_one",
    model: str = "demo:8b",
    stop: str | None = "end_turn",
    tokens: int = 9,
    prompt: int = 31,
) -> list[bytes]:
    """A whole stream, or with `stop=None` one that is cut inside its last block."""
    usage = {"input_tokens": 7, "output_tokens": 0}
    start = {
        "id": ident,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "usage": usage,
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    index, kind = -1, ""
    for what, value in said:
        if what != kind or what == "tool_use":
            if kind:
                events.append({"type": "content_block_stop", "index": index})
            index, kind = index + 1, what
            block: dict[str, Any] = {"type": what, what: ""}
            if what == "tool_use":
                block = {"type": what, "id": f"call_{ident}_{index}", "name": value[0], "input": {}}
            events.append({"type": "content_block_start", "index": index, "content_block": block})
        delta = {"type": f"{what}_delta", what: value}
        if what == "tool_use":
            delta = {"type": "input_json_delta", "partial_json": json.dumps(value[1])}
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
    if stop is not None:
        if kind:
            events.append({"type": "content_block_stop", "index": index})
        usage = {"input_tokens": prompt, "output_tokens": tokens}
        events += [
            {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage},
            {"type": "message_stop"},
        ]
    return [event(payload) for payload in events]


def frames(parts: Iterable[bytes]) -> list[Frame]:
    """The frames of a stream."""
    framer = Framer(Framing.SSE)
    return [frame for part in parts for frame in framer.feed(part)] + framer.close()


def payloads(body: bytes) -> list[dict[str, Any]]:
    """The decoded events of a stream."""
    return [json.loads(frame.data) for frame in frames([body]) if frame.data]


def check(body: bytes) -> None:
    """Fail when a stream is not one well-formed message."""
    started, opened, count, finished, stopped = False, None, 0, False, False
    for frame in frames([body]):
        assert frame.whole
        if not frame.data:
            continue
        payload = json.loads(frame.data)
        kind = payload["type"]
        assert frame.event == kind
        assert not stopped, f"{kind} after the end"
        if kind == "ping":
            continue
        assert started == (kind != "message_start"), f"{kind} out of place"
        if kind == "message_start":
            started = True
        elif kind == "content_block_start":
            assert opened is None
            assert not finished
            assert payload["index"] == count
            opened, count = payload["content_block"]["type"], count + 1
        elif kind == "content_block_delta":
            assert payload["index"] == count - 1
            expected = {"thinking_delta": "thinking", "text_delta": "text", "input_json_delta": "tool_use"}
            assert expected.get(payload["delta"]["type"], opened) == opened
        elif kind == "content_block_stop":
            assert opened is not None
            assert payload["index"] == count - 1
            opened = None
        elif kind == "message_delta":
            assert opened is None
            assert not finished
            finished = True
        elif kind == "message_stop":
            assert finished
            stopped = True
    assert stopped, "no message_stop"
