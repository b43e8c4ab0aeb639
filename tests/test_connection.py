"""One connection on asyncio, against sockets that behave as they like."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress

import httpcore
import pytest

from ollama_guard.config.schema import Settings
from ollama_guard.config.schema import Upstream as Section
from ollama_guard.connection import HIGH_WATER, Connection
from ollama_guard.upstream import UpstreamFailure, resolve
from tests.net import free_port

Peer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
CHUNKS = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


@asynccontextmanager
async def listening(peer: Peer) -> AsyncIterator[int]:
    """A port at which one peer answers; nothing of it is left afterwards."""
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                await peer(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            over.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield int(server.sockets[0].getsockname()[1])
        await over.wait()


async def with_peer(peer: Peer, use: Callable[[Connection], Awaitable[None]]) -> None:
    """Connect to the peer, use the connection and close it."""
    async with listening(peer) as port:
        connection = await Connection.open("127.0.0.1", port, 5.0, None, "x")
        try:
            await use(connection)
        finally:
            await connection.aclose()


async def flood(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"x" * (8 << 20))
    await writer.drain()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"first")
    writer.write(await reader.read())  # up to the end
    await writer.drain()


def test_what_is_not_read_is_not_taken_from_the_socket_and_comes_whole_later() -> None:
    async def use(connection: Connection) -> None:
        await asyncio.sleep(0.1)
        assert len(connection._received) < 3 * HIGH_WATER
        size = 0
        while data := await connection.read(1 << 16):
            size += len(data)
            assert len(data) <= 1 << 16
        assert size == 8 << 20

    asyncio.run(with_peer(flood, use))


def test_after_half_a_close_the_other_half_is_still_read() -> None:
    async def use(connection: Connection) -> None:
        await connection.write(b" and last")
        connection.half_close()
        got = b""
        while data := await connection.read(100):
            got += data
        assert got == b"first and last"

    asyncio.run(with_peer(echo, use))


def test_a_peer_that_takes_nothing_is_waited_for_only_so_long() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:

        async def go() -> None:
            connection = await Connection.open("127.0.0.1", listener.getsockname()[1], 5.0, None, "x")
            with pytest.raises(httpcore.WriteTimeout):
                await connection.write(b"x" * (32 << 20), timeout=0.05)
            with pytest.raises(httpcore.ReadTimeout):
                await connection.read(1, timeout=0.01)
            await connection.aclose()

        asyncio.run(go())


def test_a_write_to_a_closed_connection_is_a_write_error() -> None:
    async def use(connection: Connection) -> None:
        connection.abort()
        with pytest.raises(httpcore.WriteError):
            await connection.write(b"x")

    asyncio.run(with_peer(echo, use))


def test_a_write_after_half_a_close_is_one_too() -> None:
    # It was a RuntimeError of asyncio's, which nobody expected: a cut in the midst of sending a request.
    async def use(connection: Connection) -> None:
        connection.half_close()
        with pytest.raises(httpcore.WriteError):
            await connection.write(b"x")

    asyncio.run(with_peer(echo, use))


def test_a_reset_comes_after_what_was_received_before_it() -> None:
    async def reset(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"abc")
        await writer.drain()
        await asyncio.sleep(0.05)
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.close()

    async def use(connection: Connection) -> None:
        await connection._lost.wait()
        assert await connection.read(100) == b"abc"
        with pytest.raises(httpcore.ReadError):
            await connection.read(100)

    asyncio.run(with_peer(reset, use))


def test_nobody_there_is_a_connect_error_and_a_silent_address_a_timeout() -> None:
    with pytest.raises(httpcore.ConnectError):
        asyncio.run(Connection.open("127.0.0.1", free_port(), 5.0, None, "x"))

    async def held() -> None:
        with closing(socket.socket()) as full:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            name = full.getsockname()
            with closing(socket.create_connection(name)), pytest.raises(httpcore.ConnectTimeout):
                await Connection.open(name[0], name[1], 0.05, None, "x")  # its queue is full

    asyncio.run(held())


def test_closing_leaves_no_descriptor_open() -> None:
    async def use(connection: Connection) -> None:
        sock = connection.get_extra_info("socket")
        await connection.aclose()
        assert sock.fileno() == -1

    asyncio.run(with_peer(echo, use))


# --- what comes in one read is given at once ---------------------------------------------------------------


def poured(answer: list[bytes]) -> tuple[list[bytes], bool]:
    """What `Call.pour` gives of an answer that is written in these pieces; and whether it broke."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in answer:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.05)

    given: list[bytes] = []

    async def take(data: bytes) -> None:
        given.append(data)

    async def go() -> bool:
        async with listening(serve) as port:
            upstream = resolve(Settings(upstream=Section(url=f"http://127.0.0.1:{port}")))
            async with upstream.call() as call:
                await call.send("GET", b"/", [(b"host", b"x")], b"")
                try:
                    await call.pour(take)
                except UpstreamFailure:
                    return True
        return False

    return given, asyncio.run(go())


def test_chunks_of_one_read_are_one_piece_and_those_of_the_next_another() -> None:
    pieces = [CHUNKS + b"1\r\na\r\n1\r\nb\r\n", b"1\r\nc\r\n1\r\nd\r\n0\r\n\r\n"]
    assert poured(pieces) == ([b"ab", b"cd"], False)


def test_what_was_good_before_the_nonsense_is_given() -> None:
    assert poured([CHUNKS + b"1\r\na\r\n1\r\nb\r\nnonsense\r\n"]) == ([b"ab"], True)


def test_an_answer_that_ends_with_the_connection_is_whole() -> None:
    assert poured([b"HTTP/1.1 200 OK\r\n\r\nabc", b"def"]) == ([b"abc", b"def"], False)
