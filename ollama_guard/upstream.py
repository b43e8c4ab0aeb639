"""The way to Ollama: one locked address, a connection of its own for each call. Only this module knows httpx.

A shared httpx pool leaks its slots when streams are cut (encode/httpcore#1093), and cutting is the main path
here. So each call speaks through httpx's own engine, httpcore, over one `Connection`, with no client, pool or
request object above it. Nothing is decoded, no redirect is followed, no proxy variable of the environment is
read, and no header is added but the length of a body.
"""

import asyncio
import functools
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Self

import httpcore
import httpx
import msgspec

from ollama_guard.config.schema import Settings
from ollama_guard.connection import Connection
from ollama_guard.engine.messages import Header, Trouble

PARTING_SEC = 0.05
"""How long a cut connection is read on after our half has been closed. Ollama's producer blocks for ever on a
chunk that nobody takes (ollama#17131), so it gets a moment in which everything is taken."""

TAKE_SEC = 600.0
"""How long Ollama may take nothing of a request body; it hashes and stores uploads as they come."""

WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
"""Methods whose requests say their length even when it is none (RFC 9110 §8.6)."""

TROUBLES = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)


class UpstreamRefused(Exception):
    """The configured upstream may not be used; the message names cause and remedy."""


class UpstreamFailure(Exception):
    """A call failed below HTTP."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble


@functools.cache
def _tls() -> ssl.SSLContext:
    context = httpx.create_ssl_context(trust_env=False)  # 20 ms to build: once
    context.set_alpn_protocols(["http/1.1"])
    return context


def resolve(settings: Settings) -> "Upstream":
    """Look the upstream up once, for good. Raises UpstreamRefused."""
    text = settings.upstream.url
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError) as error:
        raise UpstreamRefused(f"upstream.url = {text!r} is no address: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise UpstreamRefused(f"upstream.url = {text!r} must be http://HOST:PORT or https://HOST:PORT")
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UpstreamRefused(f"the upstream host {url.host!r} cannot be looked up: {error}") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    far = [a for a in addresses if not ipaddress.ip_address(a.partition("%")[0]).is_loopback]
    if far and not settings.upstream.allow_remote:
        raise UpstreamRefused(
            f"the upstream {text!r} is not on this machine ({', '.join(far)}). "
            "The guard speaks to loopback only; set upstream.allow_remote = true if you mean it."
        )
    return Upstream(url, addresses, port, settings.upstream.connect_timeout_sec)


class Upstream:
    """A resolved Ollama. `url` as configured; `authority` is what goes into Host."""

    def __init__(self, url: httpx.URL, addresses: Sequence[str], port: int, connect_sec: float) -> None:
        self.url = str(url).rstrip("/")
        self.addresses = tuple(addresses)
        self.port = port
        self.authority = url.netloc.decode("ascii")
        self.origin = httpcore.Origin(url.raw_scheme, url.raw_host, port)
        self._connect_sec = connect_sec

    async def connect(self, address: str) -> Connection:
        """A connection to one of the locked addresses. Raises httpcore's errors."""
        tls = _tls() if self.origin.scheme == b"https" else None
        name = self.origin.host.decode("ascii")  # whose certificate is wanted, whatever the address
        return await Connection.open(address, self.port, self._connect_sec, tls, name)

    def call(self) -> "Call":
        """A fresh call; use it as an async context manager."""
        return Call(self)

    async def get_json(self, path: str, timeout: float) -> tuple[int, Any]:  # noqa: ASYNC109
        """GET a small JSON document. Raises UpstreamFailure; the body is None when it is not JSON."""
        headers = [(b"host", self.authority.encode()), (b"accept", b"application/json")]
        try:
            async with asyncio.timeout(timeout), self.call() as call:
                await call.send("GET", path.encode(), headers, b"")
                body = b"".join([chunk async for chunk in call.chunks()])
        except TimeoutError as error:
            raise UpstreamFailure(Trouble.CONNECT, f"no answer within {timeout:g} s") from error
        try:
            return call.status, msgspec.json.decode(body)
        except msgspec.DecodeError:
            return call.status, None


class Call:
    """One request and its response: `send`, then `status`, `headers` and `chunks`, and `part` to cut it."""

    def __init__(self, upstream: Upstream) -> None:
        self.status = 0
        self.headers: Sequence[Header] = ()
        self._upstream = upstream
        self._connection: Connection | None = None
        self._answer: httpcore.Response | None = None
        self._parted = self._closed = False
        self._deadline: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def send(
        self, method: str, target: bytes, headers: Sequence[Header], body: bytes | AsyncIterator[bytes]
    ) -> None:
        """Send the request and wait for the status line. Raises UpstreamFailure.

        A body that comes piece by piece can be sent to the first address only. It goes out in chunks unless
        the headers give its length (RFC 9112 §6.3: a request with neither has no body).
        """
        addresses = self._upstream.addresses
        named = {name.lower() for name, _ in headers}
        if not isinstance(body, bytes):
            addresses = addresses[:1]
            if b"content-length" not in named:
                headers = [*headers, (b"transfer-encoding", b"chunked")]
        elif b"content-length" not in named and (body or method in WITH_BODY):
            headers = [*headers, (b"content-length", b"%d" % len(body))]
        origin = self._upstream.origin
        request = httpcore.Request(
            method,
            httpcore.URL(scheme=origin.scheme, host=origin.host, port=origin.port, target=target),
            headers=headers,
            content=body,
            extensions={"timeout": {"write": TAKE_SEC}},
        )
        try:
            await self._connect(addresses)
            await self._send(request)
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            raise UpstreamFailure(Trouble.CONNECT, self._unreachable(error)) from error
        except TROUBLES as error:
            raise _broken(error) from error

    async def _connect(self, addresses: Sequence[str]) -> None:
        """Connect to the first address at which somebody listens."""
        for last, address in enumerate(addresses, start=1 - len(addresses)):
            try:
                self._connection = await self._upstream.connect(address)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if last == 0:
                    raise
            else:
                break
        if self._parted:
            raise UpstreamFailure(Trouble.CONNECT, "the call was cut while it connected")

    async def _send(self, request: httpcore.Request) -> None:
        assert self._connection is not None  # noqa: S101  # `_connect` has come back
        protocol = httpcore.AsyncHTTP11Connection(self._upstream.origin, self._connection)
        self._answer = await protocol.handle_async_request(request)
        self.status = self._answer.status
        self.headers = self._answer.headers

    def _unreachable(self, error: Exception) -> str:
        reason = str(error) or type(error).__name__
        return (
            f"cannot reach Ollama at {self._upstream.url}: {reason}. Is it running (`ollama serve`)? "
            "Another address is set with --upstream."
        )

    async def chunks(self) -> AsyncIterator[bytes]:
        """Body bytes as they come, de-chunked, otherwise untouched. Raises UpstreamFailure."""
        if self._answer is None:
            return
        stream = self._answer.stream
        assert isinstance(stream, AsyncIterable)  # noqa: S101  # an async connection gives no other
        try:
            async for chunk in stream:
                yield chunk
        except TROUBLES as error:
            raise _broken(error) from error

    async def pour(self, take: Callable[[bytes], Awaitable[None]]) -> None:
        """Give the body to `take`, as `chunks` would, but all that came in one read at once: the HTTP chunks
        of a fast upstream are many, and each way through the guard costs. Raises UpstreamFailure.
        """
        parts: list[bytes] = []

        async def give() -> None:
            if parts:
                data = b"".join(parts)
                parts.clear()
                await take(data)

        if self._connection is not None:
            self._connection.before_read = give
        try:
            async for chunk in self.chunks():
                parts.append(chunk)  # noqa: PERF401  # `give` empties it meanwhile
        except UpstreamFailure:
            await give()  # what was good of the last read
            raise
        await give()

    def part(self, task: asyncio.Task[None]) -> None:
        """Close our half of the connection, so that the upstream sees the end while it is still being read.

        A connection that is only being made is closed as soon as it is there. `task`, which makes this call,
        is cancelled PARTING_SEC later if it still hangs, but not while it closes.
        """
        if self._parted or self._closed:
            return
        self._parted = True
        self._deadline = task.get_loop().call_later(PARTING_SEC, task.cancel)
        if self._connection is not None:
            self._connection.half_close()

    async def close(self) -> None:
        """Close the connection, whatever state it is in."""
        self._closed = True
        if self._deadline is not None:
            self._deadline.cancel()
        connection, self._connection, self._answer = self._connection, None, None
        if connection is not None:
            await connection.aclose()


def _broken(error: Exception) -> UpstreamFailure:
    reason = str(error) or type(error).__name__
    disconnected = (
        isinstance(error, httpcore.NetworkError) or "disconnect" in reason or "peer closed" in reason
    )
    trouble = Trouble.RESET if disconnected else Trouble.PROTOCOL
    return UpstreamFailure(trouble, f"the connection to Ollama broke: {reason}")
