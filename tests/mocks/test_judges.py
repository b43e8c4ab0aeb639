"""The strict readers find what is wrong; that they accept what is right is shown with the server."""

import asyncio

import pytest

from mocks.clients import ask
from mocks.judges import judge
from mocks.server import MockOllama
from tests.mocks.asking import ALL_PATHS, SSE, request

CHAT = "/v1/chat/completions"


@pytest.fixture
def good(mock: MockOllama, path: str) -> bytes:
    return asyncio.run(ask(mock.url, path, request(path, "mock:healthy"))).body


def frames(path: str, body: bytes) -> list[bytes]:
    mark = b"\n\n" if path in SSE else b"\n"
    return [frame + mark for frame in body.split(mark)[:-1]]


def problems(path: str, *parts: bytes) -> str:
    return "; ".join(judge(path, b"".join(parts)).problems)


@pytest.mark.parametrize("path", ALL_PATHS)
def test_a_missing_ending_is_found(path: str, good: bytes) -> None:
    assert "0 endings" in problems(path, *frames(path, good)[:-1])
    assert judge(path, b"".join(frames(path, good)[:-1]), ended=False).problems == []


@pytest.mark.parametrize("path", ALL_PATHS)
def test_something_after_the_ending_is_found(path: str, good: bytes) -> None:
    parts = frames(path, good)
    assert "after the ending" in problems(path, *parts, parts[-1])


@pytest.mark.parametrize("path", ALL_PATHS)
def test_two_frames_glued_together_are_found(path: str, good: bytes) -> None:
    first, second, *rest = frames(path, good)
    assert problems(path, first.rstrip(b"\n") + second, *rest)
    assert problems(path, first, second, *rest) == ""


@pytest.mark.parametrize("path", ALL_PATHS)
def test_half_a_frame_at_the_end_is_found(path: str, good: bytes) -> None:
    parts = frames(path, good)
    assert "not whole" in problems(path, *parts[:-1], parts[-1][:-3])


@pytest.mark.parametrize("path", ["/api/chat", CHAT, "/v1/messages", "/v1/responses"])
def test_another_id_or_model_is_found(path: str, good: bytes, mock: MockOllama) -> None:
    other = asyncio.run(ask(mock.url, path, request(path, "mock:plain"))).body
    assert "changed" in problems(path, *frames(path, good)[:1], *frames(path, other))


@pytest.mark.parametrize("path", [CHAT])
def test_a_second_role_is_found(path: str, good: bytes) -> None:
    first, *rest = frames(path, good)
    assert "role" in problems(path, first, first, *rest)


@pytest.mark.parametrize("path", ["/v1/messages"])
def test_a_second_message_start_and_a_used_block_index_are_found(path: str, good: bytes) -> None:
    first, block, *rest = frames(path, good)
    assert "second message_start" in problems(path, first, first, block, *rest)
    assert "inside another" in problems(path, first, block, block, *rest)
    assert "before message_start" in problems(path, block, first, *rest)


@pytest.mark.parametrize("path", ["/v1/responses"])
def test_a_restarted_sequence_and_an_unknown_item_are_found(path: str, good: bytes) -> None:
    first, second, third, *rest = frames(path, good)
    assert "sequence number" in problems(path, first, second, first, third, *rest)
    assert "not added" in problems(path, first, second, *rest)


def test_a_blank_ndjson_line_is_found_and_a_leading_space_is_a_heartbeat() -> None:
    line = b'{"model":"m","created_at":"t","message":{"role":"assistant","content":"a"},"done":%s}\n'
    body = line % b"false" + b"\n" + line % b"true"
    assert "blank" in problems("/api/chat", body)
    report = judge("/api/chat", line % b"false" + b" " + line % b"true")
    assert (report.problems, report.heartbeats) == ([], 1)


def test_comments_and_empty_deltas_are_heartbeats() -> None:
    chunk = b'data: {"id":"a","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}\n\n'
    parts = [
        chunk % (b'{"role":"assistant","content":"a"}', b"null"),
        b": hb\n",
        chunk % (b'{"content":""}', b"null"),
        chunk % (b"{}", b'"stop"'),
        b"data: [DONE]\n\n",
    ]
    report = judge(CHAT, b"".join(parts))
    assert (report.problems, report.heartbeats, report.finish) == ([], 2, ["stop"])


def test_a_half_tool_call_is_found() -> None:
    call = b'{"tool_calls":[{"index":%d,"id":"c","function":{"name":"f","arguments":"%s"}}]}'
    chunk = b'data: {"id":"a","choices":[{"index":0,"delta":%s}]}\n\n'
    assert "broken arguments" in problems(CHAT, chunk % (call % (0, b"{")), b"data: [DONE]\n\n")
    assert "gaps" in problems(CHAT, chunk % (call % (1, b"{}")), b"data: [DONE]\n\n")
    assert "second id" in problems(CHAT, *[chunk % (call % (0, b"{}"))] * 2, b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/api/chat", b'{"error":"gone"}\n'),
        (CHAT, b'data: {"error":{"message":"gone","type":"t"}}\n\ndata: [DONE]\n\n'),
        ("/v1/messages", b'event: error\ndata: {"type":"error","error":{"type":"t","message":"gone"}}\n\n'),
    ],
)
def test_errors_are_reported_and_no_problem(path: str, error: bytes) -> None:
    report = judge(path, error)
    assert report.problems == []
    assert "gone" in str(report.errors)
