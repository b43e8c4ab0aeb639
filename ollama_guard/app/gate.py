"""First in line, on every path: is this request addressed to us, by somebody who may ask?

The guard must rewrite Host for Ollama to answer it, which takes Ollama's own defence against DNS rebinding
(CVE-2024-28224) away; so the guard makes the same checks itself, before anything else. The rules for Host and
Origin are Ollama's (server/routes.go, envconfig/config.go).
"""

import hmac
import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ollama_guard.app.cors import is_preflight, own_headers, readable
from ollama_guard.config.schema import Server

LOCAL_SUFFIXES = (".localhost", ".local", ".internal")
APP_ORIGINS = ("app://*", "file://*", "tauri://*", "vscode-webview://*", "vscode-file://*")
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1"})  # noqa: S104  # compared, not bound
PRIVATE_NETS = tuple(
    ipaddress.ip_network(net) for net in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)
"""What Go's netip.Addr.IsPrivate takes. Python's `is_private` takes documentation addresses too."""
STOP_PATH = "/guard/stop"
ASKS = "this guard asks for its token"
MAX_HEADERS = 100
MAX_TARGET = 16_384


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let in."""

    status: int
    message: str


class Gate:
    """ASGI middleware; refuses with a JSON body that names the cause and the remedy."""

    def __init__(self, app: ASGIApp, server: Server, *, loopback: bool) -> None:
        """`loopback`: whether the guard listens on loopback only (then Host must be a local name)."""
        self._app = app
        self._server = server
        self._loopback = loopback
        self._own_name = socket.gethostname().lower()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
            return
        headers = {"connection": "close"}
        if refusal.status == 401:
            headers["www-authenticate"] = "Bearer"
        response = JSONResponse({"error": refusal.message}, refusal.status, headers)
        await readable(response, self._for_pages(scope["headers"]))(scope, receive, send)

    def _for_pages(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """A page that is let in may read why its request was not."""
        hosts = _values(headers, b"host")
        refused = self._bad_host(hosts) or self._bad_origin(headers)
        return [] if refused else own_headers(headers)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        return (
            _bad_target(scope.get("raw_path") or scope["path"].encode(), scope.get("query_string", b""))
            or _bad_framing(headers)
            or self._bad_host(_values(headers, b"host"))
            or self._bad_origin(headers)
            # /guard/stop has a token of its own; a preflight does nothing, and is from an allowed origin
            or (None if is_preflight(scope) or scope["path"] == STOP_PATH else self._bad_token(headers))
            or _own_loop(headers)
        )

    def _bad_host(self, values: list[str]) -> Refusal | None:
        if len(values) != 1:
            return Refusal(400, "exactly one Host header is needed")
        name = host_name(values[0])
        if name is None:
            return Refusal(400, f"the Host header {values[0]!r} is no host")
        if not self._loopback or self._is_local(name) or name in self._server.allowed_hosts:
            return None
        return Refusal(
            403,
            f"the Host {values[0]!r} is not allowed (protection against DNS rebinding). "
            "Use localhost or 127.0.0.1, or add the name to server.allowed_hosts.",
        )

    def _is_local(self, name: str) -> bool:
        if name in LOCAL_NAMES or name == self._own_name or name.endswith(LOCAL_SUFFIXES):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return address.is_loopback or address.is_unspecified or any(address in net for net in PRIVATE_NETS)

    def _bad_origin(self, headers: list[tuple[bytes, bytes]]) -> Refusal | None:
        origins = _values(headers, b"origin")
        host = _values(headers, b"host")[0]
        if not origins or (len(origins) == 1 and self._origin_allowed(origins[0], host)):
            return None
        return Refusal(
            403,
            f"the Origin {', '.join(origins)!r} is not allowed. Add it to server.allowed_origins "
            "(or OLLAMA_ORIGINS) of the guard if this web page is to use your models.",
        )

    def _origin_allowed(self, origin: str, host: str) -> bool:
        patterns = (*APP_ORIGINS, *self._server.allowed_origins)
        if any(pattern == "*" or fnmatchcase(origin, pattern) for pattern in patterns):
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if parts.scheme not in ("http", "https"):
            return False
        return parts.netloc == host or (parts.hostname or "") in LOCAL_NAMES

    def _bad_token(self, headers: list[tuple[bytes, bytes]]) -> Refusal | None:
        token = self._server.token
        if not token:
            return None
        given = [value for name, value in headers if name.lower() == b"x-api-key"]
        for scheme, _, value in (v.partition(b" ") for n, v in headers if n.lower() == b"authorization"):
            if scheme.lower() == b"bearer":
                given.append(value)
        # As bytes: what is not ASCII in it comes as UTF-8, if it comes at all.
        if any(hmac.compare_digest(one.strip(), token.encode()) for one in given):
            return None
        return Refusal(401, f"{ASKS}, as `Authorization: Bearer …` or `x-api-key`")


def host_name(value: str) -> str | None:
    """The host of a Host header (RFC 9110 §7.2), lower case, without port, brackets and root dot."""
    if not value or any(c in value for c in "@/\\?# \t"):
        return None
    try:
        parts = urlsplit(f"//{value}")
        _ = parts.port
    except ValueError:
        return None
    name = (parts.hostname or "").removesuffix(".")
    return name or None


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def _bad_target(path: bytes, query: bytes) -> Refusal | None:
    # `@evil/x` pasted behind an address would dial evil; `//evil` is a host to some parsers.
    if not path.startswith(b"/") or path.startswith((b"//", b"/\\")):
        return Refusal(400, "the request target must be a path that begins with one slash")
    if len(path) + len(query) > MAX_TARGET:
        return Refusal(414, f"the request target is longer than {MAX_TARGET} bytes")
    if any(byte <= 0x20 or byte >= 0x7F or byte == 0x23 for byte in path + query):
        return Refusal(400, "the request target has characters that must be percent-encoded (RFC 3986)")
    return None


def _bad_framing(headers: list[tuple[bytes, bytes]]) -> Refusal | None:
    if len(headers) > MAX_HEADERS:
        return Refusal(431, f"more than {MAX_HEADERS} header fields")
    if _values(headers, b"content-length") and _values(headers, b"transfer-encoding"):
        return Refusal(400, "Content-Length together with Transfer-Encoding")
    return None


def _own_loop(headers: list[tuple[bytes, bytes]]) -> Refusal | None:
    if any("ollama-guard" in value for value in _values(headers, b"via")):
        return Refusal(
            508, "the guard's upstream is the guard itself; set --upstream to Ollama's own address"
        )
    return None
