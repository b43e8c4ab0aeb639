"""The server side of HTTP/1.1, by hand and strict: what a sloppy proxy sends is refused, not repaired.

Framing by RFC 9112. Responses are written as Go's net/http writes them: the handler's headers in
alphabetical order, then Date, then Content-Length or Transfer-Encoding; one chunk for each write.
"""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus

from mocks.link import Link

HEAD_LIMIT = 64 * 1024
_REQUEST_LINE = re.compile(rb"([A-Z]+) ([\x21-\x7e]+) HTTP/1\.([01])")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})(?:;[^\r\n]*)?\r\n")
_SMALL = 2048  # Go sends a length for bodies up to this, and chunks beyond

Header = tuple[str, str]


class BadRequestError(Exception):
    """The request is not HTTP as it should be. Answered with `status`, then the connection is closed."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(slots=True)
class Request:
    """A request head. `target` is as sent; `path` is what stands before the query."""

    method: str
    target: str
    headers: list[Header]
    keep_alive: bool
    length: int | None = None  # None: chunked

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    def header(self, name: str) -> str | None:
        """The value of a field, several joined by commas (RFC 9110 section 5.2); None if absent."""
        values = [value for key, value in self.headers if key.lower() == name]
        return ", ".join(values) if values else None


async def read_request(link: Link) -> Request | None:
    """The next request head on this connection; None when the client closed between requests."""
    try:
        head = await link.read_until(b"\r\n\r\n", HEAD_LIMIT)
    except ValueError:
        raise BadRequestError(431, "header too large") from None
    return None if head is None else parse_head(head)


def parse_head(head: bytes) -> Request:
    """Read a request head with its blank line. Raises BadRequestError."""
    first, *lines = head[:-4].split(b"\r\n")
    match = _REQUEST_LINE.fullmatch(first)
    if not match:
        raise BadRequestError(400, "malformed request line")
    method, target, minor = match[1].decode(), match[2].decode(), match[3]
    if not target.startswith("/"):
        raise BadRequestError(400, "target is not in origin form")
    headers: list[Header] = []
    for line in lines:
        item = _FIELD.fullmatch(line)
        if not item:
            raise BadRequestError(400, "malformed header")
        headers.append((item[1].decode(), item[2].decode("latin-1")))
    request = Request(method, target, headers, keep_alive=minor == b"1")
    _check_connection(request)
    request.length = _body_length(request)
    return request


def _check_connection(request: Request) -> None:
    hosts = [value for name, value in request.headers if name.lower() == "host"]
    if len(hosts) != 1:
        raise BadRequestError(400, "exactly one Host header is required")
    wish = (request.header("connection") or "").lower()
    if "close" in wish:
        request.keep_alive = False


def _body_length(request: Request) -> int | None:
    coding, length = request.header("transfer-encoding"), request.header("content-length")
    if coding is not None:
        if length is not None:
            raise BadRequestError(400, "both Transfer-Encoding and Content-Length")
        if coding.lower() != "chunked":
            raise BadRequestError(501, "unsupported transfer encoding")
        return None
    if length is None:
        return 0
    if not re.fullmatch(r"[0-9]{1,18}", length):
        raise BadRequestError(400, "bad Content-Length")
    return int(length)


async def read_body(link: Link, request: Request) -> AsyncIterator[bytes]:
    """The body in pieces as they arrive. Raises BadRequestError, or PeerLeftError if it ends early."""
    if (request.header("expect") or "").lower() == "100-continue" and request.length != 0:
        await link.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if request.length is not None:
        async for piece in _exactly(link, request.length):
            yield piece
        return
    while size := await _chunk_size(link):
        async for piece in _exactly(link, size):
            yield piece
        if await link.read_until(b"\r\n", 2) != b"\r\n":
            raise BadRequestError(400, "chunk without its end")
    while await link.read_until(b"\r\n", HEAD_LIMIT) not in (b"\r\n", None):
        pass  # trailers are read and dropped


async def _exactly(link: Link, size: int) -> AsyncIterator[bytes]:
    while size:
        piece = await link.read(size)
        size -= len(piece)
        yield piece


async def _chunk_size(link: Link) -> int:
    match = _CHUNK_SIZE.fullmatch(await link.read_until(b"\r\n", 256) or b"")
    if not match:
        raise BadRequestError(400, "bad chunk size")
    return int(match[1], 16)


@dataclass(slots=True)
class Response:
    """The one response to a request. Headers leave with the first byte of the body, as in Ollama."""

    link: Link
    head_only: bool = False  # HEAD: headers as for GET, no body
    keep_alive: bool = True
    common: Sequence[Header] = ()  # go with every response to this request
    status: int = 0  # 0 until the headers have left
    ended: bool = False
    _chunked: bool = field(default=False, repr=False)

    def head(self, status: int, headers: Iterable[Header], length: int | None) -> bytes:
        """Status line and headers; `length` None announces chunks."""
        self.status, self._chunked = status, length is None
        own = {**dict(self.common), **dict(headers)}
        if not self.keep_alive:
            own["Connection"] = "close"
        lines = [f"HTTP/1.1 {status} {_phrase(status)}"]
        lines += [f"{name}: {own[name]}" for name in sorted(own)]
        lines.append(f"Date: {formatdate(usegmt=True)}")
        if length is not None:
            lines.append(f"Content-Length: {length}")
        elif not self.head_only:
            lines.append("Transfer-Encoding: chunked")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    async def send(self, status: int, headers: Iterable[Header], body: bytes) -> bool:
        """A whole response. False when the client left."""
        bodyless = status in {204, 304}
        length = len(body) if len(body) <= _SMALL or self.head_only else None
        head = self.head(status, headers, length if not bodyless else None)
        if bodyless:
            head = head.replace(b"Transfer-Encoding: chunked\r\n", b"")
        payload = b"" if self.head_only or bodyless else _framed(body) if length is None else body
        return await self._last(head + payload)

    async def start(self, status: int, headers: Iterable[Header], first: bytes = b"") -> bool:
        """Headers of a streamed response, with the first chunk in the same write."""
        return await self.link.write(self.head(status, headers, None) + (_chunk(first) if first else b""))

    async def chunk(self, data: bytes) -> bool:
        """One HTTP chunk. False when the client left."""
        return await self.link.write(_chunk(data)) if data else self.link.gone is None

    async def end(self) -> bool:
        """The terminating chunk."""
        return await self._last(b"0\r\n\r\n")

    async def _last(self, data: bytes) -> bool:
        """Write the end; it counts as ended when the kernel took it, even if the client then left at once."""
        there = self.link.gone is None
        await self.link.write(data)
        self.ended = there and self.link.flushed
        return self.ended


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _framed(body: bytes) -> bytes:
    return _chunk(body) + b"0\r\n\r\n"


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "status code " + str(status)
