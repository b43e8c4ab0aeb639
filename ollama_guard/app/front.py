"""Which way a request goes: guarded by a driver, or relayed untouched."""

import time
from collections.abc import AsyncIterator, Callable, Sequence

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ollama_guard.app.cors import own_headers, readable
from ollama_guard.app.driver import Driver
from ollama_guard.app.inbound import ClientLeft, Inbound, TooLarge, TooSlow
from ollama_guard.app.policies import policy_for
from ollama_guard.app.registry import Registry
from ollama_guard.app.relay import Relay
from ollama_guard.config.schema import Settings
from ollama_guard.engine.messages import Header, Record
from ollama_guard.engine.policy import Policy
from ollama_guard.engine.streaks import BlockCounts
from ollama_guard.engine.stream import Exchange
from ollama_guard.engine.words import DRAINING, NAMESPACE
from ollama_guard.upstream import Upstream
from ollama_guard.wire.dialect import Dialect, Request
from ollama_guard.wire.headers import for_upstream
from ollama_guard.wire.table import dialect_for

CODINGS = frozenset({"br", "compress", "deflate", "gzip", "x-gzip", "zstd"})
"""Names that may stand in the log (RFC 9110 §8.4.1); what else a client writes there may not."""

MODELS_KEPT = 512
"""Models of which is remembered what holds for them, and whether they go on in place."""
NAME_KEPT = 256
"""Characters of a model's name that is remembered."""


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
        self._policies: dict[str, Policy] = {}
        self._blocks = BlockCounts()
        self._told_unread: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        inbound = Inbound(receive, self._settings.server.body_timeout_sec)
        dialect = dialect_for(scope["method"], scope["path"])
        coding = _encoding(scope)
        if dialect is None or coding:
            if dialect is not None:
                self._unread(dialect, coding)
            await self._relay(scope, receive, send, inbound, inbound.chunks())
            return
        body = await self._body(scope, receive, send, inbound, dialect)
        if body is None:
            return
        request = dialect.request(body)
        if request is None:
            await self._relay(scope, receive, send, inbound, body)
        elif refused := self._no_room(dialect):
            await readable(refused, own_headers(scope["headers"]))(scope, receive, send)
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
            refused = self._refusal(dialect, 413, NAMESPACE + "request_too_large", text)
        except TooSlow:
            text = "the request body did not come in time (server.body_timeout_sec)"
            refused = self._refusal(dialect, 408, NAMESPACE + "request_timeout", text)
        await readable(refused, own_headers(scope["headers"]))(scope, receive, send)
        return None

    def _unread(self, dialect: Dialect, coding: str) -> None:
        """Tell the operator, once for each API, that somebody's answers there are not guarded."""
        if dialect.name in self._told_unread:
            return
        self._told_unread.add(dialect.name)
        why = f"the request's body is compressed ({coding}), and passes unread"
        self._on_record("", Record("unguarded", {"dialect": dialect.name, "why": why}))

    def _no_room(self, dialect: Dialect) -> Response | None:
        if self._registry.draining:
            text = "ollama-guard is being restarted; send the request again"
            return self._refusal(dialect, 503, DRAINING, text)
        if self._registry.live >= self._settings.server.max_exchanges:
            text = "too many answers at once (server.max_exchanges); try again shortly"
            return self._refusal(dialect, 503, NAMESPACE + "busy", text)
        return None

    def _refusal(self, dialect: Dialect, status: int, kind: str, message: str) -> Response:
        """Turn a request away, and write it down: there is no exchange that would."""
        self._on_record("", Record("refused", {"dialect": dialect.name, "status": status, "error": kind}))
        headers = {"retry-after": "5"} if status == 503 else {}
        return Response(dialect.failure(status, kind, message), status, headers, "application/json")

    async def _guard(
        self, scope: Scope, send: Send, inbound: Inbound, dialect: Dialect, request: Request
    ) -> None:
        name = f"{self._registry.begun + 1:x}"
        if len(self._memory) >= MODELS_KEPT:
            self._memory.clear()  # it is only asked again
        exchange = Exchange(
            dialect,
            request,
            self._policy(request.model),
            at=time.time(),
            extra_headers=[(b"x-ollama-guard", name.encode())],
            own_headers=own_headers(scope["headers"]),
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

    def _policy(self, model: str) -> Policy:
        policy = self._policies.get(model)
        if policy is None:
            policy = policy_for(self._settings, model)
            if len(self._policies) >= MODELS_KEPT:
                self._policies.clear()
            if len(model) <= NAME_KEPT:  # it is the client's word, and may be of any length
                self._policies[model] = policy
        return policy

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


def _encoding(scope: Scope) -> str:
    """How the body is compressed, "" if it is not. Ollama takes zstd on some routes; it passes unread."""
    values = [value for name, value in scope["headers"] if name.lower() == b"content-encoding"]
    codings = {coding.strip().lower().decode("latin-1") for value in values for coding in value.split(b",")}
    codings -= {"", "identity"}
    return ", ".join(sorted(codings)) if codings <= CODINGS else "in a way of its own"


def _has_body(scope: Scope) -> bool:
    names = {name.lower() for name, _ in scope["headers"]}
    return b"content-length" in names or b"transfer-encoding" in names
