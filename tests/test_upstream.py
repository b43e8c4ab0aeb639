"""The way to Ollama, against the mock and against sockets that do wrong."""

import asyncio
import hashlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, suppress

import httpx
import pytest

from mocks.server import MockOllama
from ollama_guard.config.schema import Settings
from ollama_guard.config.schema import Upstream as Section
from ollama_guard.connection import Connection
from ollama_guard.engine.messages import Trouble
from ollama_guard.upstream import PARTING_SEC, Call, Upstream, UpstreamFailure, UpstreamRefused, resolve
from tests.net import free_port, mock_server


def settings(url: str, **more: object) -> Settings:
    return Settings(upstream=Section(url=url, **more))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def mock() -> Iterator[MockOllama]:
    with mock_server() as server:
        yield server


async def body_of(call: Call) -> bytes:
    return b"".join([chunk async for chunk in call.chunks()])


# --- resolving ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:11434", "http://127.9.9.9", "https://127.0.0.1:444", "http://[::1]:1"]
)
def test_loopback_addresses_are_taken(url: str) -> None:
    assert resolve(settings(url)).url == url


def test_a_name_is_looked_up_once_and_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [[(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 11434))] * 2]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers.pop())
    upstream = resolve(settings("http://ollama.example:11434"))
    assert upstream.addresses == ("127.0.0.1",)
    with pytest.raises(UpstreamFailure):  # nobody is there; and there is no second answer to pop
        call_with(upstream, "GET", b"/x?y")


def test_one_address_of_a_name_that_is_not_loopback_spoils_all(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 1)) for host in ("127.0.0.1", "203.0.113.9")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(UpstreamRefused, match=r"203\.0\.113\.9.*allow_remote"):
        resolve(settings("http://two-faced.example"))
    assert resolve(settings("http://two-faced.example", allow_remote=True)).addresses[1] == "203.0.113.9"


@pytest.mark.parametrize(
    "url", ["", "localhost:11434", "ftp://127.0.0.1", "http://", "http://[::1", "http://a b", "//x"]
)
def test_what_is_no_address_is_refused_with_its_name(url: str) -> None:
    with pytest.raises(UpstreamRefused, match=r"upstream\.url|looked up"):
        resolve(settings(url))


@pytest.mark.parametrize(
    "target", [b"//evil.example/x", b"/@evil.example", b"/http://evil.example/", b"/a%2F..%2Fb?c=d"]
)
def test_no_target_leads_to_another_host(target: bytes) -> None:
    async def go() -> bytes:
        asked: list[bytes] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            upstream = resolve(settings(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
            with pytest.raises(UpstreamFailure):
                async with upstream.call() as call:
                    await call.send("GET", target, [(b"host", b"x")], b"")
        return asked[0]

    assert asyncio.run(go()).startswith(b"GET " + target + b" HTTP/1.1\r\nhost: x\r\n")


# --- calling -----------------------------------------------------------------------------------------------


def call_with(
    upstream: Upstream, method: str, target: bytes, body: bytes | AsyncIterator[bytes] = b""
) -> tuple[int, bytes]:
    async def go() -> tuple[int, bytes]:
        async with upstream.call() as call:
            headers = [(b"host", upstream.authority.encode())]
            await call.send(method, target, headers, body)
            return call.status, await body_of(call)

    return asyncio.run(go())


def test_no_header_is_added_but_what_frames_the_body(mock: MockOllama) -> None:
    mock.reset()
    call_with(resolve(settings(mock.url)), "GET", b"/api/version")
    assert [name.lower() for name, _ in mock.journal[0].headers] == ["host"]


def test_a_body_in_pieces_without_a_length_goes_out_in_chunks(mock: MockOllama) -> None:
    mock.reset()

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"abc"

    digest = hashlib.sha256(b"abc" * 3).hexdigest()
    status, _ = call_with(
        resolve(settings(mock.url)), "POST", f"/api/blobs/sha256:{digest}".encode(), pieces()
    )
    assert status == 201
    assert mock.journal[0].header("transfer-encoding") == "chunked"


def test_the_second_address_is_tried_where_nobody_listens_at_the_first(mock: MockOllama) -> None:
    upstream = resolve(settings(mock.url))
    two = Upstream(httpx.URL(mock.url), ("127.0.0.2", "127.0.0.1"), upstream.port, 5.0)
    assert call_with(two, "GET", b"/api/version")[0] == 200


def test_nobody_there_is_a_failure_to_connect_that_names_the_remedy() -> None:
    with pytest.raises(UpstreamFailure, match="ollama serve") as caught:
        call_with(resolve(settings(f"http://127.0.0.1:{free_port()}")), "GET", b"/")
    assert caught.value.trouble is Trouble.CONNECT


async def answering(answer: bytes) -> tuple[Trouble, bytes]:
    """What a call makes of an upstream that sends these bytes and closes; what it got before."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    got = b""
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        upstream = resolve(settings(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
        async with upstream.call() as call:
            try:
                await call.send("GET", b"/", [(b"host", b"x")], b"")
                async for chunk in call.chunks():
                    got += chunk
            except UpstreamFailure as failure:
                return failure.trouble, got
    raise AssertionError("no failure")


@pytest.mark.parametrize(
    ("answer", "trouble", "got"),
    [
        (b"", Trouble.RESET, b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", Trouble.RESET, b"abc"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", Trouble.RESET, b"abc"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n", Trouble.PROTOCOL, b"abc"),
        (b"SSH-2.0-x\r\n\r\n", Trouble.PROTOCOL, b""),
    ],
)
def test_each_way_to_break_off_has_its_name(answer: bytes, trouble: Trouble, got: bytes) -> None:
    assert asyncio.run(answering(answer)) == (trouble, got)


# --- cutting -----------------------------------------------------------------------------------------------


def test_parting_lets_the_upstream_see_the_end_while_it_is_still_read(mock: MockOllama) -> None:
    mock.reset()
    name = mock.script("endless", {"delay": 0.001, "steps": [{"say": {"ramble": None}}]})
    body = b'{"model": "%s", "messages": [{"role": "user", "content": "x"}]}' % name.encode()

    async def go() -> bool:
        upstream = resolve(settings(mock.url))
        async with upstream.call() as call:
            headers = [(b"host", upstream.authority.encode()), (b"content-length", b"%d" % len(body))]
            await call.send("POST", b"/api/chat", headers, body)
            parted = False
            async for _ in call.chunks():
                if not parted:
                    task = asyncio.current_task()
                    assert task is not None
                    call.part(task)
                    parted = True
            return True

    async def bounded() -> None:
        async with asyncio.timeout(10):
            try:
                await go()
            except UpstreamFailure as failure:
                assert failure.trouble is Trouble.RESET  # noqa: PT017

    asyncio.run(bounded())
    assert mock.journal.settled()
    assert mock.journal[0].ended == "client_closed"


def listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def to(listener: socket.socket) -> Upstream:
    return resolve(settings(f"http://127.0.0.1:{listener.getsockname()[1]}"))


async def attempt(call: Call) -> None:
    with suppress(UpstreamFailure):
        async with call:
            await call.send("GET", b"/", [(b"host", b"x")], b"")


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8, 13, 30])
def test_a_call_is_over_soon_whenever_it_is_cut_and_the_upstream_sees_it(turns: int) -> None:
    with closing(listening()) as listener:

        async def go() -> float:
            call, loop = to(listener).call(), asyncio.get_running_loop()
            async with asyncio.TaskGroup() as tasks:
                task = tasks.create_task(attempt(call))
                for _ in range(turns):
                    await asyncio.sleep(0)
                call.part(task)
                began = loop.time()
            return loop.time() - began

        assert asyncio.run(go()) < PARTING_SEC + 1
        listener.settimeout(0.2)
        with suppress(TimeoutError):  # it may not even have got so far
            sock, _ = listener.accept()
            with sock:
                while sock.recv(1000):  # a request perhaps, and then the end
                    pass


def test_a_cut_never_interrupts_the_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    # It did: a close that was cancelled left its socket open, one in some thirty cuts.
    async def slow_close(connection: Connection) -> None:
        await asyncio.sleep(3 * PARTING_SEC)
        await at_once(connection)
        closed.append("whole")

    at_once = Connection.aclose
    closed: list[str] = []
    monkeypatch.setattr("ollama_guard.connection.Connection.aclose", slow_close)
    with closing(listening()) as listener:

        async def go() -> None:
            call = to(listener).call()
            async with asyncio.TaskGroup() as tasks:
                task = tasks.create_task(attempt(call))
                while call._connection is None:
                    await asyncio.sleep(0)
                call.part(task)
                sock, _ = await asyncio.to_thread(listener.accept)
                sock.close()  # so that the call ends by itself, and closes

        asyncio.run(go())
    assert closed == ["whole"]


def test_a_call_that_was_cut_before_it_connected_asks_nothing() -> None:
    with closing(listening()) as listener:

        async def go() -> None:
            async with to(listener).call() as call:
                task = asyncio.current_task()
                assert task is not None
                call.part(task)
                await call.send("GET", b"/", [(b"host", b"x")], b"")

        with pytest.raises(UpstreamFailure, match="cut"):
            asyncio.run(go())
        listener.settimeout(2)
        sock, _ = listener.accept()
        with sock:
            assert sock.recv(100) == b""  # not one byte of a request
