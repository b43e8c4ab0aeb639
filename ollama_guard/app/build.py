"""Assembles the application: gate, the guard's own doors, everything else to the front. No logic."""

import hmac
import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ollama_guard import __version__
from ollama_guard.app.cors import is_preflight, own_headers, preflight, readable
from ollama_guard.app.front import Front
from ollama_guard.app.gate import STOP_PATH, Gate
from ollama_guard.app.registry import Registry
from ollama_guard.config.addresses import is_loopback
from ollama_guard.config.schema import Settings
from ollama_guard.engine.messages import Record
from ollama_guard.record import log
from ollama_guard.record.counters import Counters
from ollama_guard.upstream import Upstream


def build(
    settings: Settings,
    upstream: Upstream,
    registry: Registry,
    *,
    control_token: str,
    on_stop: Callable[[], None],
) -> ASGIApp:
    """The ASGI application. `on_stop` is called when somebody who knows `control_token` asks for a stop."""
    started = time.monotonic()
    counters = Counters()

    def record(exchange: str, row: Record) -> None:
        counters.observe(row)
        log.log_record(row, exchange=exchange)

    front = Front(settings, upstream, registry, record, counters.relayed)

    async def health(request: Request) -> Response:
        for_pages = own_headers(request.scope["headers"])
        if is_preflight(request.scope):
            return readable(preflight(request.scope), for_pages)
        state = {
            "status": "draining" if registry.draining else "ok",
            "version": __version__,
            "upstream": upstream.url,
            "live": registry.live,
            "uptime_sec": round(time.monotonic() - started, 1),
            "counters": counters.snapshot(),
        }
        return readable(JSONResponse(state), for_pages)

    async def stop(request: Request) -> JSONResponse:
        given = request.headers.get("x-ollama-guard-control", "")
        # A page in a browser cannot know the token, nor send this header across sites without a preflight.
        if not hmac.compare_digest(given.encode(), control_token.encode()):
            return JSONResponse({"error": "the control token is wrong or missing"}, 403)
        on_stop()
        return JSONResponse({"status": "stopping", "live": registry.live}, 202)

    routes = [
        Route("/guard/health", health, methods=["GET", "OPTIONS"]),
        Route(STOP_PATH, stop, methods=["POST"]),
    ]
    gate = Middleware(Gate, settings.server, loopback=is_loopback(settings.server.host))
    app = Starlette(routes=routes, middleware=[gate])
    # Not a Mount, whose pattern has no line feed (%0A) in it; and a path with a slash more is another path.
    app.router.default = front
    app.router.redirect_slashes = False
    return app
