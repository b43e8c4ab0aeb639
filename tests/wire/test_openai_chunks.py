"""What a chunk of /v1/chat/completions (and, where it differs, /v1/completions) says."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.events import Done, Event, Finish, Text, ToolDelta, UpstreamError, Usage
from ollama_guard.wire.frame import Frame, Framing
from ollama_guard.wire.framing import Framer
from ollama_guard.wire.openai_chunks import Form, error_event, failure, frame_events
from tests.wire.ollama_writes import SAY, THINK

CHAT = Form("chat.completion.chunk", "chatcmpl-", nested=True, content="content")
PLAIN = Form("text_completion", "cmpl-", nested=False, content="text")


def chunk(*deltas: Any, reason: Any = None, **more: Any) -> dict[str, Any]:
    choices = [{"index": n, "delta": delta, "finish_reason": reason} for n, delta in enumerate(deltas)]
    return {"id": "c", "model": "m", "choices": choices, **more}


def events(value: Any, form: Form = CHAT) -> list[Event]:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return frame_events(form, Frame(b"data: " + data + b"\n\n", data))[1]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (chunk({"role": "assistant", "content": ""}), []),
        (chunk({"role": "assistant", "content": None}), []),
        (chunk({"content": "Blue"}), [Text(SAY, "Blue")]),
        (chunk({"content": "", "reasoning": "hm"}), [Text(THINK, "hm")]),
        (chunk({"reasoning_content": "hm"}), [Text(THINK, "hm")]),
        (chunk({"thinking": "hm"}), [Text(THINK, "hm")]),
        (chunk({"reasoning": "hm", "reasoning_content": "hm"}), [Text(THINK, "hm")]),
        (chunk({"content": "a", "reasoning": "b"}), [Text(THINK, "b"), Text(SAY, "a")]),
        (chunk({"content": "a"}, {"content": "b"}), [Text(SAY, "a"), Text(SAY, "b", 1)]),
        (chunk({}, reason="stop"), [Finish("stop")]),
        (chunk({"content": "a"}, reason="length"), [Text(SAY, "a"), Finish("length")]),
        (chunk({}, reason="function_call"), [Finish("tool_calls")]),
        ({"model": "m", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}, [Usage(3, 4)]),
        (chunk({}, reason="stop", usage={"prompt_tokens": 3}), [Finish("stop"), Usage(3, 0)]),
        (b"[DONE]", [Done()]),
        (b" [DONE] ", [Done()]),
    ],
)
def test_a_chunk_is_read(value: Any, expected: list[Event]) -> None:
    assert events(value) == expected


def test_a_running_usage_is_not_the_attempts_usage() -> None:
    assert events(chunk({"content": "a"}, usage={"prompt_tokens": 3, "completion_tokens": 1})) == [
        Text(SAY, "a")
    ]


def test_an_all_zero_usage_is_none() -> None:
    zero = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    assert events({"model": "m", "choices": [], "usage": zero}) == []
    assert events(
        {"choices": [{"text": "a", "index": 0, "finish_reason": "stop"}], "usage": zero}, PLAIN
    ) == [
        Text(SAY, "a"),
        Finish("stop"),
    ]


def test_a_whole_tool_call_is_whole() -> None:
    call = {"id": "x", "index": 2, "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    assert events(chunk({"content": "", "tool_calls": [call]})) == [ToolDelta(2, "f", '{"a":1}', whole=True)]


def test_pieces_of_a_tool_call_are_not_whole() -> None:
    first = {"id": "x", "index": 0, "function": {"name": "f", "arguments": ""}}
    later = {"index": 0, "function": {"arguments": '{"a":1}'}}
    assert events(chunk({"tool_calls": [first]})) == [ToolDelta(0, "f", "")]
    assert events(chunk({"tool_calls": [later]})) == [ToolDelta(0, None, '{"a":1}')]


def test_arguments_that_are_an_object_are_read_as_text() -> None:
    call = {"function": {"name": "f", "arguments": {"a": 1}}}
    assert events(chunk({"tool_calls": [call, call]})) == [
        ToolDelta(0, "f", '{"a":1}', whole=True),
        ToolDelta(1, "f", '{"a":1}', whole=True),
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"error": {"message": "boom", "type": "api_error"}}, "boom"),
        ({"error": "boom"}, "boom"),
        ({"error": {"code": 500}}, '{"code":500}'),
        (chunk({"content": ""}, model=""), ""),
        ({"model": "", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}, ""),
    ],
)
def test_an_error_is_read(value: Any, message: str) -> None:
    assert events(value) == [UpstreamError(message)]


def test_a_dead_completions_chunk_is_an_error() -> None:
    assert events({"model": "", "choices": [{"text": "", "index": 0, "finish_reason": None}]}, PLAIN) == [
        UpstreamError("")
    ]


def test_a_chunk_without_a_model_that_says_something_is_no_error() -> None:
    assert events(chunk({"content": "a"}, model="")) == [Text(SAY, "a")]
    assert events({"choices": [{"delta": {"content": ""}}]}) == []
    assert events(chunk({"content": "a"}, error=None)) == [Text(SAY, "a")]


@pytest.mark.parametrize(
    "raw", [b'{"error":"boom"}', b'{"error":"boom"}\n', b'error: {"message":"boom"}\n\n']
)
def test_an_error_outside_a_data_line_is_read(raw: bytes) -> None:
    framer = Framer(Framing.SSE)
    found = [*framer.feed(raw), *framer.close()]
    assert [event for frame in found for event in frame_events(CHAT, frame)[1]] == [UpstreamError("boom")]


KEYS = ["choices", "delta", "content", "reasoning", "tool_calls", "function", "name", "arguments", "index"]
KEYS += ["finish_reason", "usage", "prompt_tokens", "error", "message", "model", "text", "role", "logprobs"]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=25,
)


@given(json_values, st.sampled_from([CHAT, PLAIN]))
def test_nothing_raises_whatever_the_types(value: Any, form: Form) -> None:
    for event in events(value, form):
        assert isinstance(event, Text | ToolDelta | Finish | Usage | UpstreamError | Done)
        assert not isinstance(event, Text) or event.text


@given(st.binary(max_size=40))
def test_nothing_raises_whatever_the_bytes(data: bytes) -> None:
    frame_events(CHAT, Frame(data, data))
    frame_events(CHAT, Frame(data))


def test_an_error_is_the_same_object_as_a_body_and_inside_a_stream() -> None:
    told = {"message": "no", "type": "ollama_loop_guard_stall", "param": None, "code": None}  # as Ollama's
    assert json.loads(failure("ollama_loop_guard_stall", "no")) == {"error": told}
    event, done = error_event("ollama_loop_guard_stall", "no").split(b"\n\n", 1)
    assert json.loads(event.removeprefix(b"data: ")) == {"error": told}
    assert done == b"data: [DONE]\n\n"
