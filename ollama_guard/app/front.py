"""Which way a request goes: guarded by a driver, or relayed untouched."""

import time
from collections.abc import AsyncIterator, Callable, Sequence

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ollama_guard.app.driver import Driver
from ollama_guard.app.inbound import ClientLeft, Inbound, TooLarge, TooSlow
from ollama_guard.app.policies import policy_for
from ollama_guard.app.registry import Registry
from ollama_guard.app.relay import Relay
from ollama_guard.config.schema import Settings
from ollama_guard.engine.messages import Header, Record
from ollama_guard.engine.streaks import BlockCounts
from ollama_guard.engine.stream import Exchange
from ollama_guard.engine.words import DRAINING, NAMESPACE
from ollama_guard.upstream import Upstream
from ollama_guard.wire.dialect import Dialect, Request
from ollama_guard.wire.headers import for_upstream
from ollama_guard.wire.table import dialect_for

MODELS_KEPT = 512
"""Models of which it is remembered whether they go on in place."""


class Front:
    """ASGI application behind the gate."""

    def __init__(
        self,
        settings: Settings,
        upstream: Upstream,
        registry: Registry,
        on_record: Callable[[str, Record], None],
        on_relay: Callable[[], None],
    ) -> None:
        """`on_record` gets an exchange's id and a row of it; `on_relay` is called for what is not guarded."""
        self._settings = settings
        self._upstream = upstream
        self._registry = registry
        self._on_record = on_record
        self._on_relay = on_relay
        self._memory: dict[str, bool] = {}
        self._blocks = BlockCounts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        inbound = Inbound(receive, self._settings.server.body_timeout_sec)
        dialect = dialect_for(scope["method"], scope["path"])
        if dialect is None or _encoded(scope):
            await self._relay(scope, receive, send, inbound, inbound.chunks())
            return
        body = await self._body(scope, receive, send, inbound, dialect)
        if body is None:
            return
        request = dialect.request(body)
        if request is None:
            await self._relay(scope, receive, send, inbound, body)
        elif refused := self._no_room(dialect):
            await refused(scope, receive, send)
        else:
            await self._guard(scope, send, inbound, dialect, request)

    async def _body(
        self, scope: Scope, receive: Receive, send: Send, inbound: Inbound, dialect: Dialect
    ) -> bytes | None:
        limit = self._settings.server.max_body_mb
        try:
            return await inbound.whole(limit << 20)
        except ClientLeft:
            return None
        except TooLarge:
            text = f"the request is larger than {limit} MiB (server.max_body_mb)"
            refused = _refusal(dialect, 413, NAMESPACE + "request_too_large", text)
        except TooSlow:
            text = "the request body did not come in time (server.body_timeout_sec)"
            refused = _refusal(dialect, 408, NAMESPACE + "request_timeout", text)
        await refused(scope, receive, send)
        return None

    def _no_room(self, dialect: Dialect) -> Response | None:
        if self._registry.draining:
            return _refusal(dialect, 503, DRAINING, "ollama-guard is being restarted; send the request again")
        if self._registry.live >= self._settings.server.max_exchanges:
            text = "too many answers at once (server.max_exchanges); try again shortly"
            return _refusal(dialect, 503, NAMESPACE + "busy", text)
        return None

    async def _guard(
        self, scope: Scope, send: Send, inbound: Inbound, dialect: Dialect, request: Request
    ) -> None:
        name = f"{self._registry.begun + 1:x}"
        if len(self._memory) >= MODELS_KEPT:
            self._memory.clear()  # it is only asked again
        exchange = Exchange(
            dialect,
            request,
            policy_for(self._settings, request.model),
            at=time.time(),
            extra_headers=[(b"x-ollama-guard", name.encode())],
            memory=self._memory,
            blocks=self._blocks,
        )
        headers = self._forwarded(scope)

        def with_length(body: bytes) -> Sequence[Header]:
            length = (b"content-length", str(len(body)).encode())
            return [*for_upstream(headers, self._authority(), guarded=True), length]

        driver = Driver(
            exchange,
            self._upstream,
            inbound,
            send,
            target=_target(scope),
            headers=with_length,
            on_record=lambda record: self._on_record(name, record),
            buffer_bytes=self._settings.server.client_buffer_kb << 10,
        )
        with self._registry.entry(driver.drain):
            await driver.run()

    async def _relay(
        self, scope: Scope, receive: Receive, send: Send, inbound: Inbound, body: bytes | AsyncIterator[bytes]
    ) -> None:
        headers = for_upstream(self._forwarded(scope), self._authority(), guarded=False)
        if not isinstance(body, bytes) and not _has_body(scope):
            async for _ in body:  # there is none; this reads to its end
                pass
            body = b""
        self._on_relay()
        relay = Relay(self._upstream, scope, inbound, receive, send)
        with self._registry.entry(relay.drain):
            await relay.run(_target(scope), headers, body)

    def _forwarded(self, scope: Scope) -> list[Header]:
        headers: list[Header] = scope["headers"]
        if self._settings.server.token:  # ours, and nobody else's to see
            headers = [h for h in headers if h[0].lower() not in (b"authorization", b"x-api-key")]
        return headers

    def _authority(self) -> bytes:
        return self._upstream.authority.encode("ascii")


def _target(scope: Scope) -> bytes:
    query: bytes = scope.get("query_string", b"")
    path: bytes = scope["raw_path"]
    return path + b"?" + query if query else path


def _encoded(scope: Scope) -> bool:
    """Whether the body is compressed (Ollama takes zstd on some routes): it cannot be read, so it passes."""
    codings = [value for name, value in scope["headers"] if name.lower() == b"content-encoding"]
    return any(value.strip().lower() != b"identity" for value in codings)


def _has_body(scope: Scope) -> bool:
    names = {name.lower() for name, _ in scope["headers"]}
    return b"content-length" in names or b"transfer-encoding" in names


def _refusal(dialect: Dialect, status: int, kind: str, message: str) -> Response:
    headers = {"retry-after": "5"} if status == 503 else {}
    return Response(dialect.failure(status, kind, message), status, headers, "application/json")
