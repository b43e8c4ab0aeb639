"""Awkward clients over raw sockets: they do wrong what they are told to, and note when each byte came.

    seen = await ask(url, "/api/chat", body)                    # well-behaved: reads to the end
    seen = await ask(url, "/api/chat", body, leave_after=3)     # leaves after 3 chunks (0: with the request)
    async with held(url, "/api/chat", body) as (wire, seen):    # sends, and never reads while the block runs
    seen = await ask(url, "/api/chat", body, pace=1)            # a byte a second

Nothing is decoded that did not come whole. Standard library only.
"""

import asyncio
import contextlib
import json
import socket
import struct
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

COMPLETE = "complete"  # the response ended as HTTP says it should
TRUNCATED = "truncated"  # EOF inside the response
RESET = "reset"  # RST
LEFT = "left"  # we left
TIMEOUT = "timeout"  # we gave up waiting


@dataclass(slots=True)
class Seen:
    """What one client saw. Times are monotonic seconds; `chunks` are HTTP chunks (or reads) in order."""

    sent_at: float
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    chunks: list[tuple[float, bytes]] = field(default_factory=list)
    ended: str = ""
    ended_at: float = 0.0
    head_at: float = 0.0

    @property
    def body(self) -> bytes:
        return b"".join(data for _, data in self.chunks)

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON. Raises ValueError."""
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)

    @property
    def longest_silence(self) -> float:
        """Seconds of the longest gap between two chunks, the wait for the first included."""
        times = [self.sent_at, *(when for when, _ in self.chunks), self.ended_at]
        return max((after - before for before, after in pairwise(times)), default=0.0)


@dataclass(slots=True)
class Wire:
    """An open connection to a server, with the response read as far as asked."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    pace: float | None = None  # bytes a second

    async def some(self, size: int) -> bytes:
        """One to `size` bytes; b"" at EOF."""
        if self.pace:
            await asyncio.sleep(1 / self.pace)
            size = 1
        return await self.reader.read(size)

    async def line(self) -> bytes:
        """A line with its CRLF; what there is of it at EOF."""
        if not self.pace:
            return await self.reader.readline()
        line = b""
        while not line.endswith(b"\n") and (byte := await self.some(1)):
            line += byte
        return line

    async def exactly(self, size: int) -> AsyncIterator[bytes]:
        """`size` bytes in pieces. Raises EOFError when there are fewer."""
        while size:
            piece = await self.some(size)
            if not piece:
                raise EOFError
            size -= len(piece)
            yield piece

    def reset(self) -> None:
        """Leave with an RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def close(self) -> None:
        """Leave with a FIN."""
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


def request_bytes(
    url: str,
    path: str,
    body: Any = None,
    *,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """The bytes of a request; `body` is bytes, or a value that is sent as JSON, or None."""
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    own = {"Host": urlsplit(url).netloc}
    if body is not None:
        own |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
    own |= headers or {}
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in own.items())
    return head.encode("latin-1") + b"\r\n" + data


async def connect(url: str, *, pace: float | None = None, buffer: int | None = None) -> Wire:
    """A connection to the server of `url`; `buffer` bytes of receive buffer in the kernel, if given."""
    parts = urlsplit(url)
    host, port = parts.hostname or "127.0.0.1", parts.port or 80
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    if buffer:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, (host, port))
    # A stream reads ahead up to twice its limit; a client that reads slowly should not.
    reader, writer = await asyncio.open_connection(sock=sock, limit=64 if pace else 2**16)
    return Wire(reader, writer, pace)


async def send(url: str, raw: bytes, timeout: float = 10.0) -> Seen:  # noqa: ASYNC109
    """Any bytes as a request, and the response to it."""
    wire = await connect(url)
    seen = Seen(time.monotonic())
    try:
        wire.writer.write(raw)
        await _read_all(wire, seen, None, timeout)
    finally:
        await wire.close()
    return seen


async def ask(
    url: str,
    path: str,
    body: Any = None,
    *,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
    leave_after: int | None = None,
    leave_by: str = "close",
    pace: float | None = None,
    timeout: float = 30.0,  # noqa: ASYNC109
) -> Seen:
    """One request. `leave_after` so many chunks the client is gone (`leave_by` "close" or "reset")."""
    wire = await connect(url, pace=pace)
    seen = Seen(time.monotonic())
    try:
        wire.writer.write(request_bytes(url, path, body, method=method, headers=headers))
        if leave_after == 0:
            await wire.writer.drain()
            seen.ended = LEFT
        else:
            await _read_all(wire, seen, leave_after, timeout, bodyless=method == "HEAD")
    finally:
        seen.ended_at = seen.ended_at or time.monotonic()
        if leave_by == "reset":
            wire.reset()
        else:
            await wire.close()
    return seen


@contextlib.asynccontextmanager
async def held(
    url: str, path: str, body: Any = None, *, buffer: int | None = 4096, method: str = "POST"
) -> AsyncIterator[tuple[Wire, Seen]]:
    """A client that sends its request and does not read; the block may read later through the wire."""
    wire = await connect(url, buffer=buffer)
    seen = Seen(time.monotonic())
    wire.writer.transport.pause_reading()  # type: ignore[attr-defined]  # asyncio's transports can
    try:
        wire.writer.write(request_bytes(url, path, body, method=method))
        yield wire, seen
    finally:
        seen.ended_at = time.monotonic()
        wire.reset()


async def finish(wire: Wire, seen: Seen, timeout: float = 30.0) -> Seen:  # noqa: ASYNC109
    """Read what a held connection has, to the end."""
    wire.writer.transport.resume_reading()  # type: ignore[attr-defined]
    await _read_all(wire, seen, None, timeout)
    return seen


async def _read_all(
    wire: Wire, seen: Seen, chunks: int | None, seconds: float, *, bodyless: bool = False
) -> None:
    """Fill `seen` until the response ends, or so many chunks have come."""
    try:
        async with asyncio.timeout(seconds):
            await _read_head(wire, seen)
            bodyless = bodyless or seen.status in (204, 304)
            async with contextlib.aclosing(_body(wire, seen, bodyless=bodyless)) as source:
                async for piece in source:
                    seen.chunks.append((time.monotonic(), piece))
                    if chunks is not None and len(seen.chunks) >= chunks:
                        seen.ended = LEFT
                        return
            seen.ended = COMPLETE
    except TimeoutError:
        seen.ended = TIMEOUT
    except ConnectionError:
        seen.ended = RESET
    except EOFError:
        seen.ended = TRUNCATED
    finally:
        seen.ended_at = time.monotonic()


async def _read_head(wire: Wire, seen: Seen) -> None:
    first = await wire.line()
    if not first:
        raise EOFError
    seen.head_at = time.monotonic()
    seen.status = int(first.split(b" ", 2)[1])
    while (line := await wire.line()) not in (b"\r\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        seen.headers.append((name, value.strip()))
    if seen.status == 100:
        seen.headers.clear()
        await _read_head(wire, seen)


async def _body(wire: Wire, seen: Seen, *, bodyless: bool) -> AsyncGenerator[bytes]:
    """The body: HTTP chunks one by one, or a body of known length, or all until EOF, in pieces."""
    if bodyless:
        return
    if (seen.header("transfer-encoding") or "").lower() == "chunked":
        while size := await _chunk_size(wire):
            yield b"".join([piece async for piece in wire.exactly(size)])
            await wire.line()
        while (await wire.line()) not in (b"\r\n", b""):
            pass
        return
    length = seen.header("content-length")
    if length is not None:
        async for piece in wire.exactly(int(length)):
            yield piece
        return
    while piece := await wire.some(65536):
        yield piece


async def _chunk_size(wire: Wire) -> int:
    line = await wire.line()
    if not line.endswith(b"\r\n"):
        raise EOFError
    return int(line.split(b";")[0], 16)
