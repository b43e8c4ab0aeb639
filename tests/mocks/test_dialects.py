"""The bytes of each dialect, against the examples of the wire that were read in Ollama's source."""

import json
import re
from typing import Any

import pytest

from mocks import ask as asks
from mocks.dialects import Call, Chunk, Meter, Voice, error_body, voice
from mocks.dialects.base import Part, go_json, go_time, now
from tests.mocks.asking import ALL_PATHS, SSE, request

CALL = Call("read_file", {"path": "a.txt"}, 0, "call_q7r2m0xd")
DONE = Chunk(done=True, reason="stop", meter=Meter(31, 54, 910_000_000))


def speaker(path: str, **more: Any) -> Voice:
    return voice(asks.read(path, request(path, "demo:8b", **more)))


def said(speaking: Voice, *chunks: Chunk) -> str:
    """All bytes, with what differs from run to run made equal."""
    text = b"".join(data for chunk in chunks for data in speaking.stream(chunk)).decode()
    text = re.sub(r'"created_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z"', '"created_at":"T"', text)
    text = re.sub(r'"(created|created_at|completed_at)":\d+', r'"\1":1', text)
    return re.sub(r'"(chatcmpl|cmpl|resp|msg|rs|fc)[-_][0-9a-f_]+"', r'"\1"', text)


def test_json_is_escaped_as_go_does() -> None:
    assert go_json({"a": "<b>&\u2028\u2029\u0085é\x01\n"}) == (
        '{"a":"\\u003cb\\u003e\\u0026\\u2028\\u2029\u0085é\\u0001\\n"}'.encode()
    )


def test_times_are_written_as_go_does() -> None:
    moment = now().replace(2026, 8, 22, 10, 0, 0, 120_000)
    assert go_time(moment) == "2026-08-22T10:00:00.12Z"
    assert go_time(moment.replace(microsecond=0)) == "2026-08-22T10:00:00Z"


def test_api_chat() -> None:
    text = said(speaker("/api/chat"), Chunk(think="Ray"), Chunk(say="Blue"), Chunk(calls=(CALL,)), DONE)
    head = '{"model":"demo:8b","created_at":"T","message":{"role":"assistant","content":'
    assert text.split("\n") == [
        head + '"","thinking":"Ray"},"done":false}',
        head + '"Blue"},"done":false}',
        head + '"","tool_calls":[{"id":"call_q7r2m0xd","function":{"index":0,"name":"read_file",'
        '"arguments":{"path":"a.txt"}}}]},"done":false}',
        head + '""},"done":true,"done_reason":"stop","total_duration":910000000,"load_duration":22750000,'
        '"prompt_eval_count":31,"prompt_eval_duration":91000000,"eval_count":54,"eval_duration":682500000}',
        "",
    ]


def test_api_generate_has_calls_on_the_final_line_only() -> None:
    lines = said(speaker("/api/generate"), Chunk(say="Blue"), Chunk(calls=(CALL,)), DONE).split("\n")
    assert lines[0] == '{"model":"demo:8b","created_at":"T","response":"Blue","done":false}'
    assert len(lines) == 3
    last = json.loads(lines[1])
    assert list(last)[:6] == ["model", "created_at", "response", "done", "done_reason", "context"]
    assert last["tool_calls"][0]["function"]["name"] == "read_file"


def test_chat_completions() -> None:
    stream = speaker("/v1/chat/completions", stream_options={"include_usage": True})
    writes = [
        stream.stream(chunk) for chunk in (Chunk(say="Blue"), Chunk(think="Ray"), Chunk(calls=(CALL,)), DONE)
    ]
    assert [len(write) for write in writes] == [1, 1, 1, 1]
    assert writes[-1][0].count(b"data: ") == 3  # finish, usage and [DONE] are one write
    text = said(
        speaker("/v1/chat/completions", stream_options={"include_usage": True}),
        Chunk(say="Blue"), Chunk(say=" sky"), Chunk(think="Ray"), Chunk(calls=(CALL,)), DONE,
    )  # fmt: skip
    head = (
        'data: {"id":"chatcmpl","object":"chat.completion.chunk","created":1,"model":"demo:8b",'
        '"system_fingerprint":"fp_ollama","choices":['
    )
    end = ',"finish_reason":null}]}'
    assert text.split("\n\n") == [
        head + '{"index":0,"delta":{"role":"assistant","content":"Blue"}' + end,
        head + '{"index":0,"delta":{"content":" sky"}' + end,
        head + '{"index":0,"delta":{"content":"","reasoning":"Ray"}' + end,
        head
        + '{"index":0,"delta":{"content":"","tool_calls":[{"id":"call_q7r2m0xd","index":0,"type":"function",'
        '"function":{"name":"read_file","arguments":"{\\"path\\":\\"a.txt\\"}"}}]}' + end,
        head + '{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
        head + '],"usage":{"prompt_tokens":31,"completion_tokens":54,"total_tokens":85}}',
        "data: [DONE]",
        "",
    ]


def test_chat_completions_with_nothing_said_opens_with_a_role() -> None:
    deltas = [
        json.loads(line[6:])["choices"][0]
        for line in said(speaker("/v1/chat/completions"), DONE).split("\n\n")[:2]
    ]
    assert [choice["delta"] for choice in deltas] == [{"role": "assistant", "content": ""}, {}]


def test_a_failure_in_chat_completions_is_a_chunk_without_a_model() -> None:
    stream = speaker("/v1/chat/completions")
    stream.stream(Chunk(say="Blue"))
    (data,) = stream.failed("out of memory")
    chunk = json.loads(data[6:])
    assert chunk["model"] == ""
    assert chunk["choices"] == [{"index": 0, "delta": {"content": ""}, "finish_reason": None}]
    assert b"memory" not in data


def test_completions_drop_reasoning_and_finish_on_the_last_text() -> None:
    texts = said(speaker("/v1/completions"), Chunk(think="Ray"), Chunk(say="Blue"), DONE).split("\n\n")
    choices = [json.loads(text[6:])["choices"][0] for text in texts[:3]]
    assert [(choice["text"], choice["finish_reason"]) for choice in choices] == [
        ("", None), ("Blue", None), ("", "stop"),
    ]  # fmt: skip
    assert texts[3:] == ["data: [DONE]", ""]
    assert list(json.loads(texts[0][6:])) == [
        "id",
        "object",
        "created",
        "choices",
        "model",
        "system_fingerprint",
    ]


def test_messages() -> None:
    text = said(speaker("/v1/messages"), Chunk(think="Ray"), Chunk(say="Blue"), Chunk(calls=(CALL,)), DONE)
    events = [block.split("\n")[0].removeprefix("event: ") for block in text.split("\n\n")[:-1]]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert events == ["message_start", *block, *block, *block, "message_delta", "message_stop"]
    assert (
        '{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"call_q7r2m0xd",'
        '"name":"read_file","input":{}}}' in text
    )
    assert '"delta":{"type":"input_json_delta","partial_json":"{\\"path\\":\\"a.txt\\"}"}' in text
    assert '"delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":31,"output_tokens":54}' in text
    assert "signature" not in text


def test_thinking_after_the_answer_is_dropped_in_messages() -> None:
    text = said(speaker("/v1/messages"), Chunk(say="Blue"), Chunk(think="Ray"), Chunk(say=" sky"), DONE)
    assert "Ray" not in text
    assert text.count("content_block_start") == 2  # one event: its name and its type


def test_responses_are_numbered_and_sorted() -> None:
    text = said(speaker("/v1/responses"), Chunk(think="Ray"), Chunk(say="Blue"), DONE)
    payloads = [json.loads(block.split("\ndata: ")[1]) for block in text.split("\n\n")[:-1]]
    assert [payload["sequence_number"] for payload in payloads] == list(range(len(payloads)))
    assert [payload["type"].removeprefix("response.") for payload in payloads] == [
        "created", "in_progress",
        "output_item.added", "reasoning_summary_text.delta",
        "reasoning_summary_text.done", "output_item.done",
        "output_item.added", "content_part.added", "output_text.delta",
        "output_text.done", "content_part.done", "output_item.done", "completed",
    ]  # fmt: skip
    assert all(list(payload) == sorted(payload) for payload in payloads)
    assert [item["type"] for item in payloads[-1]["response"]["output"]] == ["reasoning", "message"]


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/responses"])
def test_a_failure_in_the_event_dialects_says_nothing(path: str) -> None:
    assert speaker(path).failed("out of memory") == ()


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/responses"])
def test_arguments_in_pieces_are_one_call(path: str) -> None:
    parts = [
        Chunk(part=Part(0, "call_1", "f", '{"a":', first=True, last=False)),
        Chunk(part=Part(0, "call_1", "f", "1}", first=False, last=True)),
    ]
    text = said(speaker(path), *parts, DONE)
    assert text.count('"name":"f"') == (3 if path == "/v1/responses" else 1)
    assert '{\\"a\\":"' in text


@pytest.mark.parametrize("path", ALL_PATHS)
def test_a_body_that_is_not_streamed_has_everything(path: str) -> None:
    body = speaker(path, stream=False).whole(Chunk(think="Ray", say="Blue", done=True, reason="length"))
    text = body.decode()
    assert "Blue" in text
    assert ("Ray" in text) == (path != "/v1/completions")
    assert body.endswith(b"\n") == path.startswith("/v1/")


@pytest.mark.parametrize("path", ALL_PATHS)
def test_content_types_are_those_of_the_family(path: str) -> None:
    stream = dict(speaker(path).headers(stream=True))["Content-Type"]
    single = dict(speaker(path).headers(stream=False))["Content-Type"]
    if path in SSE:
        assert (stream, single) == ("text/event-stream", "application/json")
    else:
        assert (stream, single) == ("application/x-ndjson", "application/json; charset=utf-8")


def test_errors_before_the_stream_have_the_form_of_the_family() -> None:
    assert error_body("/api/chat", 404, "gone")[1] == b'{"error":"gone"}'
    assert error_body("/v1/chat/completions", 404, "gone")[1] == (
        b'{"error":{"message":"gone","type":"not_found_error","param":null,"code":null}}\n'
    )
    anthropic = json.loads(error_body("/v1/messages", 503, "busy")[1])
    assert (anthropic["type"], anthropic["error"]["type"]) == ("error", "overloaded_error")
