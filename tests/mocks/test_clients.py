"""The awkward clients do what they say, against servers of a few bytes."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from mocks import clients
from mocks.clients import Seen
from mocks.server import MockOllama
from tests.mocks.asking import request

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def against(answer: bytes, client: Callable[[str], Coroutine[Any, Any, Seen]]) -> Seen:
    """What a client sees of a server that sends these bytes and closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()
        await writer.wait_closed()

    async def run() -> Seen:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await client(f"http://127.0.0.1:{port}")

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("answer", "ended", "body"),
    [
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n", "complete", b"abc"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n5\r\nc", "truncated", b"ab"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "truncated", b"ab"),
        (HEAD + b"Content-Length: 3\r\n\r\nabc", "complete", b"abc"),
        (HEAD + b"Content-Length: 9\r\n\r\nabc", "truncated", b"abc"),
        (HEAD + b"\r\nabc", "complete", b"abc"),
        (b"", "truncated", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"Content-Length: 1\r\n\r\na", "complete", b"a"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "complete", b""),
    ],
)
def test_how_a_response_ended_is_told(answer: bytes, ended: str, body: bytes) -> None:
    seen = against(answer, lambda url: clients.ask(url, "/", method="GET"))
    assert (seen.ended, seen.body) == (ended, body)


def test_http_chunks_are_kept_apart_with_their_times() -> None:
    answer = HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
    seen = against(answer, lambda url: clients.ask(url, "/", method="GET"))
    assert [data for _, data in seen.chunks] == [b"ab", b"c"]
    times = [seen.sent_at, seen.head_at, *(when for when, _ in seen.chunks), seen.ended_at]
    assert times == sorted(times)


def test_a_client_can_leave_after_some_chunks(mock: MockOllama) -> None:
    seen = asyncio.run(
        clients.ask(mock.url, "/api/chat", request("/api/chat", "mock:healthy"), leave_after=3)
    )
    assert (seen.ended, len(seen.chunks)) == ("left", 3)


def test_a_slow_reader_gets_a_byte_at_a_time(mock: MockOllama) -> None:
    seen = asyncio.run(clients.ask(mock.url, "/", method="GET", pace=400))
    assert seen.text == "Ollama is running"
    assert [len(data) for _, data in seen.chunks] == [1] * 17
    assert seen.ended_at - seen.head_at >= 17 / 400


def test_a_held_client_reads_nothing_until_it_is_told_to(mock: MockOllama) -> None:
    async def hold() -> Seen:
        body = request("/api/chat", "mock:short")
        async with clients.held(mock.url, "/api/chat", body) as (wire, seen):
            assert await mock.journal.until(
                lambda journal: [entry.ended for entry in journal] == ["finished"]
            )
            assert seen.chunks == []
            return await clients.finish(wire, seen)

    assert asyncio.run(hold()).ended == "complete"
