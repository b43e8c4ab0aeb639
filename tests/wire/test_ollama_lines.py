"""What a line of /api/chat or /api/generate says."""

from typing import Any

import pytest
from hypothesis import given

from ollama_guard.events import Done, Event, Finish, Text, ToolDelta, UpstreamError, Usage
from ollama_guard.wire.ollama_lines import Form, line_events
from tests.wire.ollama_writes import SAY, THINK
from tests.wire.test_openai_chunks import json_values

CHAT = Form(nested=True, content="content")
GENERATE = Form(nested=False, content="response")
CALL = {"id": "x", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}


def line(done: bool = False, more: dict[str, Any] | None = None, **message: Any) -> dict[str, Any]:
    box = {"role": "assistant", "content": "", **message}
    return {"model": "m", "created_at": "t", "message": box, "done": done, **(more or {})}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (line(content="Blue"), [Text(SAY, "Blue")]),
        (line(thinking="hm"), [Text(THINK, "hm")]),
        (line(thinking="hm", content="Blue"), [Text(THINK, "hm"), Text(SAY, "Blue")]),
        (line(tool_calls=[CALL]), [ToolDelta(0, "f", '{"a":1}', whole=True)]),
        (line(more={"logprobs": []}), []),
        (line(done=True), [Finish("stop"), Done()]),
        (line(done=True, more={"done_reason": "load"}), [Finish("load"), Done()]),
        (
            line(done=True, more={"done_reason": "length", "eval_count": 5}),
            [Finish("length"), Usage(0, 5), Done()],
        ),
        ({"error": "boom"}, [UpstreamError("boom")]),
        ({"error": {"message": "boom"}}, [UpstreamError("boom")]),
        ({"StatusCode": 429, "Status": "429", "error": "limit"}, [UpstreamError("limit")]),
        ({}, []),
        ({"status": "pulling"}, []),
    ],
)
def test_a_line_is_read(value: dict[str, Any], expected: list[Event]) -> None:
    assert line_events(CHAT, value) == expected


def test_the_last_line_may_say_everything_in_order() -> None:
    more = {"done_reason": "stop", "prompt_eval_count": 3, "eval_count": 4}
    assert line_events(CHAT, line(done=True, more=more, thinking="a", content="b", tool_calls=[CALL])) == [
        Text(THINK, "a"),
        Text(SAY, "b"),
        ToolDelta(0, "f", '{"a":1}', whole=True),
        Finish("stop"),
        Usage(3, 4),
        Done(),
    ]


def test_a_generate_line_is_read() -> None:
    value = {
        "response": "Blue",
        "thinking": "hm",
        "done": True,
        "done_reason": "stop",
        "tool_calls": [CALL],
        "context": [1],
    }
    assert line_events(GENERATE, value) == [
        Text(THINK, "hm"),
        Text(SAY, "Blue"),
        ToolDelta(0, "f", '{"a":1}', whole=True),
        Finish("stop"),
        Done(),
    ]


@given(json_values)
def test_nothing_raises_whatever_the_types(value: Any) -> None:
    for form in (CHAT, GENERATE):
        line_events(
            form,
            {"message": value, "tool_calls": value, "response": value, "done": True, "done_reason": value},
        )
        if isinstance(value, dict):
            line_events(form, value)
