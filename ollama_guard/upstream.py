"""The way to Ollama: one locked address, a throw-away transport for each call. Only this module knows httpx.

A shared httpx pool leaks its slots when streams are cut (encode/httpcore#1093), and cutting is the main path
here; a transport of its own over one prebuilt SSL context costs next to nothing. Nothing is decoded, no
redirect is followed, no proxy variable of the environment is read, and no header is added but Host.
"""

import asyncio
import functools
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any, Self

import httpcore
import httpx
import msgspec

from ollama_guard.config.schema import Settings
from ollama_guard.engine.messages import Header, Trouble

PARTING_SEC = 0.05
"""How long a cut connection is read on after our half has been closed. Ollama's producer blocks for ever on a
chunk that nobody takes (ollama#17131), so it gets a moment in which everything is taken."""

TAKE_SEC = 600.0
"""How long Ollama may take nothing of a request body; it hashes and stores uploads as they come."""


class UpstreamRefused(Exception):
    """The configured upstream may not be used; the message names cause and remedy."""


class UpstreamFailure(Exception):
    """A call failed below HTTP."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble


@functools.cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)  # 20 ms to build: once


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
        self._host = url.host
        self._base = url.copy_with(port=port, raw_path=b"/")
        self._timeout = {"connect": connect_sec, "read": None, "write": TAKE_SEC, "pool": None}

    def call(self) -> "Call":
        """A fresh call; use it as an async context manager."""
        return Call(self)

    def request(
        self, address: str, method: str, target: bytes, headers: Sequence[Header], body: Any
    ) -> httpx.Request:
        """A request to one locked address. `target`: raw path and query, with one leading slash."""
        host = f"[{address}]" if ":" in address else address
        url = self._base.copy_with(host=host, raw_path=target)
        extensions = {"timeout": self._timeout, "sni_hostname": self._host}
        return httpx.Request(method, url, headers=list(headers), extensions=extensions, **body)

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
        self._transport: httpx.AsyncHTTPTransport | None = None
        self._response: httpx.Response | None = None
        self._network: httpcore.AsyncNetworkStream | None = None
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
        content: dict[str, Any]
        if isinstance(body, bytes):
            content, addresses = {"content": body}, self._upstream.addresses
        else:
            content, addresses = {"stream": _Pieces(body)}, self._upstream.addresses[:1]
            if all(name.lower() != b"content-length" for name, _ in headers):
                headers = [*headers, (b"transfer-encoding", b"chunked")]
        for last, address in enumerate(addresses, start=1 - len(addresses)):
            request = self._upstream.request(address, method, target, headers, content)
            try:
                await self._send(request)
            except UpstreamFailure as failure:
                if last == 0 or failure.trouble is not Trouble.CONNECT:
                    raise
            else:
                return

    async def _send(self, request: httpx.Request) -> None:
        request.extensions["trace"] = self._trace  # httpcore tells it what it does
        # verify: the context is shared; limits: this transport serves one request.
        self._transport = httpx.AsyncHTTPTransport(
            verify=_tls(),
            trust_env=False,
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=0),
        )
        try:
            self._response = await self._transport.handle_async_request(request)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise UpstreamFailure(Trouble.CONNECT, self._unreachable(error)) from error
        except httpx.TransportError as error:
            raise _broken(error) from error
        self.status = self._response.status_code
        self.headers = self._response.headers.raw

    def _unreachable(self, error: Exception) -> str:
        reason = str(error) or type(error).__name__
        return (
            f"cannot reach Ollama at {self._upstream.url}: {reason}. Is it running (`ollama serve`)? "
            "Another address is set with --upstream."
        )

    async def chunks(self) -> AsyncIterator[bytes]:
        """Body bytes as they come, de-chunked, otherwise untouched. Raises UpstreamFailure."""
        if self._response is None:
            return
        stream = self._response.stream
        assert isinstance(stream, httpx.AsyncByteStream)  # noqa: S101  # an async transport gives no other
        try:
            async for chunk in stream:
                yield chunk
        except httpx.TransportError as error:
            raise _broken(error) from error

    def part(self, task: asyncio.Task[None]) -> None:
        """Close our half of the connection, so that the upstream sees the end while it is still being read.

        A connection that is only being made is closed as soon as it is there. `task`, which makes this call,
        is cancelled PARTING_SEC later if it still hangs, but not while it closes: a connect or a close that
        is cancelled in the wrong moment leaves its socket open (httpcore#1093).
        """
        if self._parted or self._closed:
            return
        self._parted = True
        self._deadline = task.get_loop().call_later(PARTING_SEC, task.cancel)
        if self._network is None:
            return
        sock = self._network.get_extra_info("socket")
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_WR)

    async def _trace(self, event: str, info: dict[str, Any]) -> None:
        if event != "connection.connect_tcp.complete":
            return
        self._network = info["return_value"]
        if self._parted:
            await self._network.aclose()
            raise UpstreamFailure(Trouble.CONNECT, "the call was cut while it connected")

    async def close(self) -> None:
        """Close the connection, whatever state it is in."""
        self._closed = True
        if self._deadline is not None:
            self._deadline.cancel()
        response, self._response = self._response, None
        transport, self._transport = self._transport, None
        with suppress(httpx.TransportError, httpcore.ConnectionNotAvailable, OSError):
            if response is not None:
                await response.stream.aclose()  # type: ignore[union-attr]
            if transport is not None:
                await transport.aclose()


class _Pieces(httpx.AsyncByteStream):
    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            yield piece


def _broken(error: httpx.TransportError) -> UpstreamFailure:
    reason = str(error) or type(error).__name__
    disconnected = isinstance(error, httpx.NetworkError) or "disconnect" in reason or "peer closed" in reason
    trouble = Trouble.RESET if disconnected else Trouble.PROTOCOL
    return UpstreamFailure(trouble, f"the connection to Ollama broke: {reason}")
