"""The stream of /v1/responses as Ollama writes it (openai/responses.go), and a check of its grammar."""

import json
from collections.abc import Iterable
from typing import Any

from ollama_guard.wire.frame import Frame, Framing
from ollama_guard.wire.framing import Framer

Said = tuple[str, Any]
"""("reasoning", words), ("message", words) or ("function_call", (name, arguments))."""


def event(payload: dict[str, Any]) -> bytes:
    """One event as Go writes it."""
    return b"event: %s\ndata: %s\n\n" % (payload["type"].encode(), json.dumps(payload).encode())


def response(
    ident: str, model: str, status: str, output: list[Any], usage: Any, **more: Any
) -> dict[str, Any]:
    """A response object (shortened to what differs from the defaults)."""
    return {
        "id": ident,
        "object": "response",
        "created_at": 1_790_000_000 + len(ident),
        "completed_at": None,
        "status": status,
        "incomplete_details": None,
        "model": model,
        "output": output,
        "error": None,
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "usage": usage,
        "max_output_tokens": None,
        **more,
    }


class Writer:
    """Ollama's converter, quirks included."""

    def __init__(self, ident: str, model: str, **more: Any) -> None:
        self.events: list[dict[str, Any]] = []
        self._ident, self._model, self._more = ident, model, more
        self._index = 0
        self._open: dict[str, Any] | None = None
        self._text = ""
        self._output: list[Any] = []
        self._calls = 0
        for kind in ("response.created", "response.in_progress"):
            self.put(kind, response=response(ident, model, "in_progress", [], None, **more))

    def put(self, kind: str, **fields: Any) -> None:
        self.events.append({"sequence_number": len(self.events), "type": kind, **fields})

    def say(self, kind: str, words: str) -> None:
        if self._open is None or self._open["type"] != kind:
            self.close()
            self._open, self._text = self._item(kind), ""
            self.put("response.output_item.added", output_index=self._index, item=self._open)
            if kind == "message":
                place = {"item_id": self._open["id"], "output_index": self._index, "content_index": 0}
                self.put("response.content_part.added", **place, part=self._part())
        self._text += words
        place = {"item_id": self._open["id"], "output_index": self._index, "delta": words}
        if kind == "message":
            self.put("response.output_text.delta", **place, content_index=0, logprobs=[])
        else:
            self.put("response.reasoning_summary_text.delta", **place, summary_index=0)

    def call(self, name: str, arguments: Any, pieces: int = 1) -> None:
        if self._open and self._open["type"] == "reasoning":
            self.close()  # a message stays open, and the call takes its index
        text, ident = json.dumps(arguments), f"fc_{self._ident}_{self._calls}"
        item = {"id": ident, "type": "function_call", "call_id": f"call_{ident}", "name": name}
        started = {**item, "status": "in_progress", "arguments": ""}
        done = {**item, "status": "completed", "arguments": text}
        place = {"item_id": ident, "output_index": self._index + self._calls}
        self.put("response.output_item.added", output_index=self._index + self._calls, item=started)
        size = -(-len(text) // pieces)
        for start in range(0, len(text), size):
            self.put("response.function_call_arguments.delta", **place, delta=text[start : start + size])
        self.put("response.function_call_arguments.done", **place, arguments=text)
        self.put("response.output_item.done", output_index=self._index + self._calls, item=done)
        self._output.append(done)
        self._calls += 1

    def close(self) -> None:
        if self._open is None:
            return
        place = {"item_id": self._open["id"], "output_index": self._index}
        item = dict(self._open)
        if item["type"] == "message":
            part = {**self._part(), "text": self._text}
            item |= {"status": "completed", "content": [part]}
            at = {**place, "content_index": 0}
            self.put("response.output_text.done", **at, text=self._text, logprobs=[])
            self.put("response.content_part.done", **at, part=part)
        else:
            item |= {
                "summary": [{"type": "summary_text", "text": self._text}],
                "encrypted_content": self._text,
            }
            self.put("response.reasoning_summary_text.done", **place, summary_index=0, text=self._text)
        self.put("response.output_item.done", output_index=self._index, item=item)
        self._output.append(item)
        self._open = None
        self._index += 1

    def end(self, prompt: int, completion: int) -> None:
        if not self._calls:
            self.close()
        usage = {
            "input_tokens": prompt,
            "output_tokens": completion,
            "total_tokens": prompt + completion,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        last = response(self._ident, self._model, "completed", self._output, usage, **self._more)
        self.put("response.completed", response=last)

    @staticmethod
    def _part() -> dict[str, Any]:
        return {"type": "output_text", "text": "", "annotations": [], "logprobs": []}

    def _item(self, kind: str) -> dict[str, Any]:
        name = f"{self._ident}_{self._index}"
        if kind == "reasoning":
            return {"id": f"rs_{name}", "type": kind, "summary": []}
        return {
            "id": f"msg_{name}",
            "type": kind,
            "status": "in_progress",
            "role": "assistant",
            "content": [],
        }


def stream(
    said: Iterable[Said],
    *,
    ident: str = "resp_1",
    model: str = "demo:8b",
    end: bool = True,
    tokens: int = 9,
    prompt: int = 31,
    pieces: int = 1,
    **more: Any,
) -> list[bytes]:
    """A whole stream, or with `end=False` one that is cut inside its last item."""
    writer = Writer(ident, model, **more)
    for kind, value in said:
        if kind == "function_call":
            name, arguments = value
            writer.call(name, arguments, pieces)
        else:
            writer.say(kind, value)
    if end:
        writer.end(prompt, tokens)
    return [event(payload) for payload in writer.events]


def frames(parts: Iterable[bytes]) -> list[Frame]:
    """The frames of a stream."""
    framer = Framer(Framing.SSE)
    return [frame for part in parts for frame in framer.feed(part)] + framer.close()


def payloads(body: bytes) -> list[dict[str, Any]]:
    """The decoded events of a stream."""
    return [json.loads(frame.data) for frame in frames([body]) if frame.data]


class Grammar:
    """Follows a stream, and fails where it is not one well-formed response."""

    def __init__(self) -> None:
        self.last = -1
        self.ident = ""
        self.texts: dict[tuple[str, int], str] = {}
        self.items: list[dict[str, Any]] = []
        self.open: str | None = None
        self.ended = False

    def take(self, payload: dict[str, Any], *, gapless: bool) -> None:
        kind, number = payload["type"], payload["sequence_number"]
        assert not self.ended, f"{kind} after the end"
        if kind == "keepalive":
            assert self.ident
            assert number in (self.last, self.last + 1)
        else:
            assert not gapless or number == self.last + 1, f"{kind} has number {number} after {self.last}"
            assert number >= self.last
        self.last = number
        if "response" in payload:
            self._lifecycle(kind, payload["response"])
        elif kind == "response.output_item.added":
            assert self.open is None, "an item was begun inside another"
            assert payload["output_index"] == len(self.items)
            self.open = payload["item"]["id"]
            self.items.append(payload["item"])
            assert len({item["id"] for item in self.items}) == len(self.items)
        elif kind == "response.output_item.done":
            assert payload["item"]["id"] == self.open
            assert payload["output_index"] == len(self.items) - 1
            self.items[-1], self.open = payload["item"], None
        elif "item_id" in payload:
            assert payload["item_id"] == self.open
            assert payload["output_index"] == len(self.items) - 1
            self._text(kind, payload)

    def _lifecycle(self, kind: str, told: dict[str, Any]) -> None:
        assert (kind == "response.created") == (not self.ident)
        assert self.ident in ("", told["id"])
        self.ident = told["id"]
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            self.ended = True
            if kind != "response.failed":
                assert self.open is None, "the response ended inside an item"
                assert told["output"] == self.items

    def _text(self, kind: str, payload: dict[str, Any]) -> None:
        place = (payload["item_id"], payload.get("content_index", payload.get("summary_index", 0)))
        if kind.endswith(".delta"):
            self.texts[place] = self.texts.get(place, "") + payload["delta"]
        elif kind.endswith(("_text.done", "_arguments.done")):
            assert payload.get("text", payload.get("arguments")) == self.texts.get(place, "")


def check(body: bytes, *, gapless: bool = True) -> Grammar:
    """Fail when a stream is not one well-formed response that ended; what it said."""
    grammar = Grammar()
    for frame in frames([body]):
        assert frame.whole
        if frame.data:
            payload = json.loads(frame.data)
            assert frame.event == payload["type"]
            grammar.take(payload, gapless=gapless)
    assert grammar.ended, "no end"
    return grammar
