"""/v1/responses: `event:` and `data:`, `sequence_number` from 0, `response.completed` at the end.

With Ollama's own surprises: no `response.reasoning_summary_part.added`, status always `completed`, text after
a tool call dropped. Events are Go maps, so their keys are sorted.
"""

import random
from collections.abc import Sequence
from typing import Any

from mocks.dialects.base import Call, Chunk, Part, Voice, go_json, now


def _ident() -> int:
    return random.randrange(999_999)


class Responses(Voice):
    media_type = "text/event-stream"
    extra_headers = (("Cache-Control", "no-cache"), ("Connection", "keep-alive"))

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._id = f"resp_{_ident()}"
        self._message_id = f"msg_{_ident()}"
        self._reasoning_id = ""
        self._sequence = 0
        self._index = 0
        self._thought = ""
        self._reasoning_done = False
        self._said = ""
        self._text_open = False
        self._calls: list[dict[str, Any]] = []

    def _event(self, name: str, **fields: Any) -> bytes:
        payload = fields | {"type": name, "sequence_number": self._sequence}
        self._sequence += 1
        return f"event: {name}\n".encode() + b"data: " + go_json(payload, sort=True) + b"\n\n"

    def stream(self, chunk: Chunk) -> Sequence[bytes]:
        out: list[bytes] = []
        if self._sequence == 0:
            begun = self._response("in_progress", [], None)
            out.append(self._event("response.created", response=begun))
            out.append(self._event("response.in_progress", response=begun))
        if chunk.think:
            out += self._reason(chunk.think)
        if chunk.calls:
            for number, call in enumerate(chunk.calls):
                out += self._tool(_whole(call), number)
        elif chunk.part:
            out += self._tool(chunk.part, chunk.part.index)
        elif chunk.say and not self._calls:
            out += self._say(chunk.say)
        if chunk.done:
            out += self._ending(chunk)
        return out

    # --- items ---

    def _reason(self, text: str) -> list[bytes]:
        out: list[bytes] = []
        if not self._reasoning_id:
            self._reasoning_id = f"rs_{_ident()}"
            item = {"id": self._reasoning_id, "type": "reasoning", "summary": []}
            out.append(self._event("response.output_item.added", output_index=self._index, item=item))
        self._thought += text
        out.append(self._event("response.reasoning_summary_text.delta", **self._summary_place(), delta=text))
        return out

    def _summary_place(self) -> dict[str, Any]:
        return {"item_id": self._reasoning_id, "output_index": self._index, "summary_index": 0}

    def _reasoning_item(self) -> dict[str, Any]:
        return {
            "id": self._reasoning_id,
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": self._thought}],
            "encrypted_content": self._thought,
        }

    def _end_reasoning(self) -> list[bytes]:
        if not self._reasoning_id or self._reasoning_done:
            return []
        self._reasoning_done = True
        place = self._summary_place()
        done = self._event("response.reasoning_summary_text.done", **place, text=self._thought)
        item = self._event("response.output_item.done", output_index=self._index, item=self._reasoning_item())
        self._index += 1
        return [done, item]

    def _tool(self, part: Part, number: int) -> list[bytes]:
        """`number` counts within a record: Ollama's output index does not go on after it, nor after text."""
        out: list[bytes] = []
        at = self._index + number
        if part.first:
            out = self._end_reasoning()
            at = self._index + number
            item = {"id": f"fc_{_ident()}_{number}", "type": "function_call", "status": "completed",
                    "call_id": part.id, "name": part.name, "arguments": ""}  # fmt: skip
            self._calls.append(item)
            begun = item | {"status": "in_progress"}
            out.append(self._event("response.output_item.added", output_index=at, item=begun))
        item = self._calls[-1]
        item["arguments"] += part.text
        place = {"item_id": item["id"], "output_index": at}
        out.append(self._event("response.function_call_arguments.delta", **place, delta=part.text))
        if part.last:
            whole = item["arguments"]
            out.append(self._event("response.function_call_arguments.done", **place, arguments=whole))
            out.append(self._event("response.output_item.done", output_index=at, item=item))
        return out

    def _text_part(self, text: str) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

    def _message_item(self) -> dict[str, Any]:
        content = [self._text_part(self._said)]
        return {"id": self._message_id, "type": "message", "status": "completed", "role": "assistant",
                "content": content}  # fmt: skip

    def _text_place(self) -> dict[str, Any]:
        return {"item_id": self._message_id, "output_index": self._index, "content_index": 0}

    def _say(self, text: str) -> list[bytes]:
        out = self._end_reasoning()
        if not self._text_open:
            self._text_open = True
            item = self._message_item() | {"status": "in_progress", "content": []}
            out.append(self._event("response.output_item.added", output_index=self._index, item=item))
            place = self._text_place()
            out.append(self._event("response.content_part.added", **place, part=self._text_part("")))
        self._said += text
        place = self._text_place()
        out.append(self._event("response.output_text.delta", **place, delta=text, logprobs=[]))
        return out

    # --- endings ---

    def _ending(self, chunk: Chunk) -> list[bytes]:
        out = self._end_reasoning()
        if self._text_open and not self._calls:
            place, item = self._text_place(), self._message_item()
            out += [
                self._event("response.output_text.done", **place, text=self._said, logprobs=[]),
                self._event("response.content_part.done", **place, part=self._text_part(self._said)),
                self._event("response.output_item.done", output_index=self._index, item=item),
            ]
        response = self._response("completed", self._output(), _usage(chunk))
        response["completed_at"] = int(now().timestamp())
        out.append(self._event("response.completed", response=response))
        return out

    def _output(self) -> list[dict[str, Any]]:
        items = [self._reasoning_item()] if self._reasoning_id else []
        if self._calls:
            return items + self._calls
        return items + ([self._message_item()] if self._text_open else [])

    def _response(self, status: str, output: list[Any], usage: dict[str, Any] | None) -> dict[str, Any]:
        asked = self.ask.fields
        wish = asked.get("reasoning")
        reasoning = {"effort": wish.get("effort"), "summary": wish.get("summary")} if wish else None
        return {
            "id": self._id,
            "object": "response",
            "created_at": int(self.began.timestamp()),
            "completed_at": None,
            "status": status,
            "incomplete_details": None,
            "model": self.model,
            "previous_response_id": None,
            "instructions": asked.get("instructions") or None,
            "output": output,
            "error": None,
            "tools": asked.get("tools") or [],
            "tool_choice": "auto",
            "truncation": asked.get("truncation") or "disabled",
            "parallel_tool_calls": True,
            "text": asked.get("text") or {"format": {"type": "text"}},
            "top_p": _number(asked.get("top_p")),
            "presence_penalty": 0,
            "frequency_penalty": 0,
            "top_logprobs": 0,
            "temperature": _number(asked.get("temperature")),
            "reasoning": reasoning,
            "usage": usage,
            "max_output_tokens": asked.get("max_output_tokens"),
            "max_tool_calls": None,
            "store": False,
            "background": bool(asked.get("background")),
            "service_tier": "default",
            "metadata": {},
            "safety_identifier": None,
            "prompt_cache_key": None,
        }  # fmt: skip

    def whole(self, chunk: Chunk) -> bytes:
        self._reasoning_id = f"rs_{self._id}" if chunk.think else ""
        self._thought, self._said, self._text_open = chunk.think, chunk.say, not chunk.calls
        for call in chunk.calls:
            self._tool(_whole(call), call.index)
        for number, item in enumerate(self._calls):
            item["id"] = f"fc_{self._id}_{number}"
        response = self._response("completed", self._output(), _usage(chunk))
        response["completed_at"] = int(now().timestamp())
        return go_json(response) + b"\n"  # here a Go struct: keys in this order


def _whole(call: Call) -> Part:
    return Part(call.index, call.id, call.name, go_json(call.arguments).decode(), first=True, last=True)


def _number(value: Any) -> Any:
    """Go prints 1.0 as 1."""
    value = 1.0 if value is None else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _usage(chunk: Chunk) -> dict[str, Any]:
    prompt, completion = chunk.meter.prompt, chunk.meter.completion
    return {
        "input_tokens": prompt,
        "output_tokens": completion,
        "total_tokens": prompt + completion,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
