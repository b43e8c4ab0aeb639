"""With no verdict the client gets what Ollama sent: status, end-to-end headers and body, byte for byte.

"What Ollama sent" is what a tap between guard and mock saw on the wire.
"""

import asyncio
import gzip
import hashlib
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import ollama
import openai
import pytest

from mocks.clients import Seen, ask, connect, request_bytes, send
from mocks.server import MockOllama
from tests.live.look import needs_proc, resident_mb, until, wait_rows
from tests.live.talk import CLIENTS, HEALTHY_ANSWER, HEALTHY_REASONING, ONE_OF_EACH, PATH, Asker, body
from tests.live.tee import Taken, Tap, tapped
from tests.net import Guard, guard_server

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}
ADDED = {"x-ollama-guard", "x-accel-buffering"}
STATUSES = (400, 401, 403, 404, 429, 500, 502, 503)


@dataclass(frozen=True)
class Path:
    """A guard with a tap between it and the mock."""

    guard: Guard
    tap: Tap

    def ask(self, path: str, content: object = None, **more: object) -> tuple[Seen, Taken]:
        """One request: what the client saw, and what the upstream sent for it."""
        before = len(self.tap.taken)
        seen = asyncio.run(ask(self.guard.url, path, content, **more))  # type: ignore[arg-type]
        (taken,) = self.tap.taken[before:]
        return seen, taken


@pytest.fixture(scope="module")
def way(upstream: MockOllama) -> Iterator[Path]:
    with tapped(upstream.url) as tap, guard_server(tap.url) as guard:
        yield Path(guard, tap)


def end_to_end(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted((n.lower(), v) for n, v in headers if n.lower() not in HOP_BY_HOP | ADDED)


def assert_same(seen: Seen, taken: Taken) -> None:
    assert seen.ended == "complete"
    assert seen.status == taken.status
    assert end_to_end(seen.headers) == end_to_end(taken.headers)
    assert seen.body == taken.body


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
@pytest.mark.parametrize(
    "script", ["healthy", "unicode", "code", "mixed", "think-tags", "tool-call", "truncated-content", "long"]
)
def test_a_healthy_stream_is_the_upstreams_own_bytes(
    mock: MockOllama, way: Path, path: str, script: str
) -> None:
    seen, taken = way.ask(path, body(f"mock:{script}"))
    assert_same(seen, taken)
    assert taken.body.endswith(b"\n")


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
def test_a_stream_with_bytes_that_are_no_event_passes_as_it_is(
    mock: MockOllama, way: Path, path: str
) -> None:
    assert_same(*way.ask(path, body("mock:garbage")))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/chat", "/api/generate", "/v1/messages"])
@pytest.mark.parametrize("status", STATUSES)
def test_an_error_before_the_stream_keeps_its_status_headers_and_body(
    mock: MockOllama, way: Path, path: str, status: int
) -> None:
    seen, taken = way.ask(path, body(f"mock:status-{status}", prompt="Why?", max_tokens=100))
    assert_same(seen, taken)
    assert seen.status == status
    assert (seen.header("retry-after") is not None) == (status == 429)
    assert len(mock.journal.generations()) == 1  # a refusal of the first attempt is the client's to retry


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/chat"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"model": 7}', b'{"stream": true}', b"\xff\xfe"])
def test_a_request_that_is_none_is_answered_in_ollamas_words(
    mock: MockOllama, way: Path, path: str, content: bytes
) -> None:
    assert_same(*way.ask(path, content))


def test_an_error_line_in_the_middle_is_passed_on(mock: MockOllama, way: Path) -> None:
    seen, taken = way.ask("/api/chat", body("mock:error-line"))
    assert_same(seen, taken)
    assert b"CUDA error" in seen.body.splitlines()[-1]


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_the_sdks_read_a_healthy_stream(mock: MockOllama, guard: Guard, client: Asker) -> None:
    heard = client(guard.url, "mock:healthy")
    assert heard.error is None
    assert (heard.reasoning, heard.content) == (HEALTHY_REASONING, HEALTHY_ANSWER)


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
@pytest.mark.parametrize("status", [400, 401, 404, 429, 503])
def test_the_sdks_raise_the_same_error_as_without_the_guard(
    mock: MockOllama, guard: Guard, client: Asker, status: int
) -> None:
    through, direct = client(guard.url, f"mock:status-{status}"), client(mock.url, f"mock:status-{status}")
    assert type(through.error) is type(direct.error)
    assert through.told == direct.told != ""
    assert isinstance(through.error, openai.APIStatusError | ollama.ResponseError)
    assert through.error.status_code == status


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"), ("HEAD", "/"), ("GET", "/api/version"), ("HEAD", "/api/version"), ("GET", "/api/tags"),
        ("HEAD", "/api/tags"), ("GET", "/api/ps"), ("GET", "/v1/models"), ("GET", "/v1/models/mock:healthy"),
        ("GET", "/nowhere"), ("POST", "/nowhere"), ("DELETE", "/api/chat"), ("GET", "/api/chat"),
        ("PUT", "/v1/chat/completions"), ("OPTIONS", "/api/chat"), ("PATCH", "/api/tags"),
        ("GET", "/api/tags?x=1&y=%20%2f"), ("GET", "/v1/models/a%2Fb%3Fc"), ("GET", "/api/tags/"),
        ("GET", "/a%0Ab"), ("GET", "/%2e%2e/api/tags"), ("GET", "/guard"), ("GET", "/guard/health/"),
        ("HEAD", "/api/blobs/sha256-00"), ("GET", "/with;semi,comma:colon@at/x"), ("GET", "/%FF%FE"),
    ],
)  # fmt: skip
def test_what_is_not_guarded_is_relayed_whatever_the_method(
    mock: MockOllama, way: Path, method: str, path: str
) -> None:
    seen, taken = way.ask(path, method=method)
    assert_same(seen, taken)
    if method == "HEAD":
        assert seen.body == b""
    (entry,) = mock.journal
    assert (entry.method, entry.target) == (method, path)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/api/show", {"model": "mock:healthy"}),
        ("/api/show", {"model": "nobody"}),
        ("/api/embed", {"model": "mock:healthy", "input": ["a", "b"]}),
        ("/v1/embeddings", {"model": "mock:healthy", "input": "a"}),
        ("/api/generate", {"model": "mock:healthy"}),  # a request without prompt loads the model
        ("/api/generate", {"model": "mock:healthy", "keep_alive": 0}),
        ("/api/chat", {"model": "mock:healthy", "messages": []}),
    ],
)
def test_requests_that_generate_nothing_are_answered_as_by_ollama(
    mock: MockOllama, way: Path, path: str, content: object
) -> None:
    assert_same(*way.ask(path, content))


def test_the_query_the_path_and_the_body_arrive_untouched(mock: MockOllama, guard: Guard) -> None:
    target = "/_mock/echo?b=2&a=%C3%A9+%20&&x"
    seen = asyncio.run(ask(guard.url, target, b'{ "odd":  [1.0, 1e2] }\n'))
    told = seen.json()
    assert told["target"] == target
    assert told["body"] == '{ "odd":  [1.0, 1e2] }\n'


def test_a_compressed_answer_is_not_touched(mock: MockOllama, way: Path) -> None:
    seen, taken = way.ask("/api/embed", {"model": "m", "input": "a"}, headers={"Accept-Encoding": "gzip"})
    assert_same(seen, taken)
    (entry,) = mock.journal
    assert entry.header("accept-encoding") == "gzip"


def test_a_compressed_stream_passes_unguarded(mock: MockOllama, way: Path) -> None:
    # Ollama compresses nothing that streams; what a proxy in front of it may do is not ours to read.
    seen, taken = way.ask("/api/chat", body("mock:gzip"), timeout=3)
    assert seen.body == taken.body
    assert seen.header("content-encoding") == "gzip"
    assert seen.body.startswith(b"\x1f\x8b")


def test_a_compressed_request_passes_unread_and_the_operator_is_told_once(mock: MockOllama) -> None:
    packed = gzip.compress(b'{"model": "mock:loop-content"}')
    with guard_server(mock.url) as guard:
        for coding in ("zstd", "identity, zstd", "sekret"):
            asyncio.run(ask(guard.url, "/v1/responses", packed, headers={"Content-Encoding": coding}))
            assert mock.journal[-1].header("content-encoding") == coding
            assert mock.journal[-1].body_bytes == len(packed)
        asyncio.run(ask(guard.url, "/api/chat", packed, headers={"Content-Encoding": "sekret"}))
        told = [(row["level"], row["dialect"], row["why"]) for row in wait_rows(guard, "unguarded", 2)]
    zstd, other = "compressed (zstd)", "compressed (in a way of its own)"
    assert [(level, name) for level, name, _ in told] == [
        ("warning", n) for n in ("openai-responses", "ollama-chat")
    ]
    assert zstd in told[0][2]
    assert other in told[1][2]


@pytest.mark.parametrize("encoding", ["", "identity", "Identity"])
def test_a_request_whose_coding_is_none_is_guarded(mock: MockOllama, guard: Guard, encoding: str) -> None:
    content = json.dumps(body("mock:loop-content")).encode()
    asyncio.run(ask(guard.url, "/api/chat", content, headers={"Content-Encoding": encoding}))
    assert len(mock.journal) > 1  # asked again after the loop


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/chat", "/v1/messages"])
def test_a_redirect_is_passed_on_and_not_followed(mock: MockOllama, way: Path, path: str) -> None:
    there = way.tap.url + "/api/tags"  # if it were followed, the tap and the mock would see it
    name = mock.script("moved", {"status": 307, "message": "moved", "headers": {"Location": there}})
    seen, taken = way.ask(path, body(name, max_tokens=10))
    assert_same(seen, taken)
    assert (seen.status, seen.header("location")) == (307, there)
    assert len(mock.journal) == 1


def test_the_lines_of_a_pull_arrive_as_they_are_written(mock: MockOllama, way: Path) -> None:
    content = {"model": "big", "mock": {"lines": 10, "delay": 0.1}}
    seen, taken = way.ask("/api/pull", content)
    assert_same(seen, taken)
    assert [chunk.count(b"\n") for _, chunk in seen.chunks] == [1] * len(seen.chunks)
    assert len(seen.chunks) == 14
    took = seen.chunks[-1][0] - seen.chunks[0][0]
    assert took > 1.0  # 13 pauses of 0.1 s: they came one by one, not at the end
    assert seen.chunks[5][0] - seen.sent_at < took


def test_each_event_of_a_stream_arrives_when_it_is_written(mock: MockOllama, way: Path) -> None:
    name = mock.script("ticking", {"delay": 0.15, "steps": [{"say": "one two three four five", "chunk": 5}]})
    seen, taken = way.ask("/api/chat", body(name))
    assert_same(seen, taken)
    gaps = [later[0] - earlier[0] for earlier, later in zip(seen.chunks, seen.chunks[1:], strict=False)]
    assert sum(gap > 0.07 for gap in gaps) >= 4


UPLOAD_MB = 64


@needs_proc
@pytest.mark.parametrize("chunked", [False, True], ids=["content-length", "chunked"])
def test_an_upload_streams_through_and_takes_no_memory(
    mock: MockOllama, guard: Guard, *, chunked: bool
) -> None:
    piece = hashlib.sha256(b"x").digest() * 2048  # 64 KiB
    digest = hashlib.sha256(piece * (UPLOAD_MB * 16)).hexdigest()
    before, most = resident_mb(guard.process.pid), 0.0
    parts = urlsplit(guard.url)
    with socket.create_connection((parts.hostname or "", parts.port or 80), 30) as sock:
        framing = (
            "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(piece) * UPLOAD_MB * 16}"
        )
        head = f"POST /api/blobs/sha256:{digest} HTTP/1.1\r\nHost: {parts.netloc}\r\n{framing}\r\n\r\n"
        sock.sendall(head.encode())
        for number in range(UPLOAD_MB * 16):
            sock.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            if number == 64:  # 4 MB: the upstream has some of it while the client still sends
                assert until(lambda: mock.requests != [] and mock.requests[-1].body_bytes > 0)
            if number % 64 == 0:
                most = max(most, resident_mb(guard.process.pid))
        if chunked:
            sock.sendall(b"0\r\n\r\n")
        answer = sock.recv(65536)
    assert answer.startswith(b"HTTP/1.1 201 ")
    (entry,) = mock.journal
    assert (entry.body_bytes, entry.body_sha256) == (len(piece) * UPLOAD_MB * 16, digest)
    assert most - before < 16


def test_an_upload_that_ollama_refuses_is_told_so(mock: MockOllama, guard: Guard) -> None:
    seen = asyncio.run(ask(guard.url, "/api/blobs/sha256:00", b"abc"))
    assert (seen.status, "digest mismatch" in seen.text) == (400, True)


@pytest.mark.parametrize("path", ["/api/chat", "/api/pull"])
def test_one_connection_carries_many_requests(mock: MockOllama, guard: Guard, path: str) -> None:
    async def twice() -> list[bytes]:
        wire = await connect(guard.url)
        answers = []
        for _ in range(3):
            wire.writer.write(request_bytes(guard.url, path, body("mock:short")))
            answers.append(await asyncio.wait_for(wire.reader.readuntil(b"0\r\n\r\n"), 20))
        await wire.close()
        return answers

    answers = asyncio.run(twice())
    assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in answers)


def test_a_client_that_speaks_http_1_0_is_answered_until_the_close(mock: MockOllama, guard: Guard) -> None:
    content = b'{"model": "mock:healthy", "messages": [{"role": "user", "content": "hi"}]}'
    host = urlsplit(guard.url).netloc
    raw = f"POST /api/chat HTTP/1.0\r\nHost: {host}\r\nContent-Length: {len(content)}\r\n\r\n".encode()
    seen = asyncio.run(send(guard.url, raw + content))
    assert seen.header("transfer-encoding") is None
    assert b'"done":true' in seen.body


def test_expect_100_continue_is_answered(mock: MockOllama, guard: Guard) -> None:
    headers = {"Expect": "100-continue"}
    seen = asyncio.run(ask(guard.url, "/api/chat", body("mock:short"), headers=headers))
    assert seen.status == 200
    assert b"Blue light" in seen.body.replace(b'"},', b"") or seen.ended == "complete"
    (entry,) = mock.journal
    assert entry.header("expect") is None
