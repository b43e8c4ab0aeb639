"""The server side of HTTP: what is let in, what is refused, how an answer is framed."""

import asyncio

import pytest

from mocks.clients import send
from mocks.http1 import BadRequestError, parse_head
from mocks.server import MockOllama

HEAD = b"POST /api/chat?x=1 HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 2\r\n\r\n"


def test_a_request_head_is_read_exactly() -> None:
    request = parse_head(HEAD)
    assert (request.method, request.target, request.path, request.query) == (
        "POST", "/api/chat?x=1", "/api/chat", "x=1",
    )  # fmt: skip
    assert (request.length, request.keep_alive) == (2, True)
    assert request.header("content-length") == "2"


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET http://evil.example/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n folded\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: b\x00c\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
    ],
)
def test_what_is_not_strict_http_is_refused(head: bytes, status: int) -> None:
    with pytest.raises(BadRequestError) as refused:
        parse_head(head)
    assert refused.value.status == status


def test_a_refused_request_is_in_the_journal_and_the_connection_closes(mock: MockOllama) -> None:
    seen = asyncio.run(send(mock.url, b"GET http://evil.example/ HTTP/1.1\r\nHost: a\r\n\r\n"))
    assert (seen.status, seen.header("connection")) == (400, "close")
    assert [entry.ended for entry in mock.journal] == ["refused"]


def test_a_chunked_body_is_read_whatever_its_chunks(mock: MockOllama) -> None:
    body = b'{"model":"mock:short","prompt":"Why?","stream":false}'
    chunks = b"".join(b"1;ext=1\r\n%c\r\n" % byte for byte in body) + b"0\r\nTrailer: x\r\n\r\n"
    head = b"POST /api/generate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    seen = asyncio.run(send(mock.url, head + chunks))
    assert seen.json()["response"] == "Blue light scatters most."
    assert mock.journal[0].body_bytes == len(body)


def test_a_second_request_on_the_same_connection_is_answered(mock: MockOllama) -> None:
    one = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    seen = asyncio.run(send(mock.url, one + one.replace(b"Host", b"Connection: close\r\nHost")))
    assert seen.text == "Ollama is running"
    assert mock.journal.wait(lambda journal: len(journal) == 2)
    assert mock.journal.settled()
    assert [entry.ended for entry in mock.journal] == ["finished", "finished"]


def test_headers_stand_as_go_writes_them(mock: MockOllama) -> None:
    async def raw() -> bytes:
        reader, writer = await asyncio.open_connection(mock.host, mock.port)
        body = b'{"model":"mock:short","prompt":"Why?"}'
        writer.write(
            b"POST /api/generate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        data = await reader.read()
        writer.close()
        await writer.wait_closed()
        return data

    head, _, rest = asyncio.run(raw()).partition(b"\r\n\r\n")
    names = [line.split(b":")[0] for line in head.split(b"\r\n")[1:]]
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert names == [b"Connection", b"Content-Type", b"Date", b"Transfer-Encoding"]
    assert rest.endswith(b"\r\n0\r\n\r\n")


def test_expect_100_continue_is_answered(mock: MockOllama) -> None:
    async def talk() -> tuple[bytes, bytes]:
        reader, writer = await asyncio.open_connection(mock.host, mock.port)
        writer.write(
            b"POST /api/show HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nConnection: close\r\n"
            b"Content-Length: 22\r\n\r\n"
        )
        first = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
        writer.write(b'{"model":"mock:short"}')
        rest = await reader.read()
        writer.close()
        await writer.wait_closed()
        return first, rest

    first, rest = asyncio.run(talk())
    assert first == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")
