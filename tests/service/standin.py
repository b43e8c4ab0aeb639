"""A small service to be run as a process: the real server, signals and state file, a stand-in application.

    python standin.py PORT DRAIN_TIMEOUT [MODE]

GET /stream      sends "tick\n" ten times a second for `?seconds=`, or "ended\n" when the drain ends it
GET /deaf        the same without end, and hears neither the end of the drain nor cancellation at first
GET /            "fine"; 503 while draining
POST /guard/stop with the control token begins the drain
MODE `stuck`     GET /block blocks the event loop for a minute; `broken` does not start
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from ollama_guard.service.exits import Exit
from ollama_guard.service.listen import CannotListen
from ollama_guard.service.operate import Refused, complain, open_sockets, operate, refuse_unsafe
from ollama_guard.service.protocol import GuardProtocol


class Exchanges:
    """The registry's side of the bargain, as small as it can be."""

    def __init__(self) -> None:
        self.live = 0
        self.draining = False
        self.ended = asyncio.Event()

    def begin_drain(self) -> None:
        self.draining = True

    def end_all(self) -> None:
        self.ended.set()


class App:
    def __init__(self, exchanges: Exchanges, token: str, on_stop: Callable[[], None], mode: str) -> None:
        self.exchanges, self.token, self.on_stop, self.mode = exchanges, token, on_stop, mode

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            kind = "failed" if self.mode == "broken" else "complete"
            await send({"type": f"lifespan.startup.{kind}"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        match scope["path"]:
            case "/stream":
                await self.stream(scope, receive, send)
            case "/deaf":
                await self.deaf(send)
            case "/block":
                time.sleep(60)  # a stuck loop is what is tested
            case "/guard/stop":
                given = dict(scope["headers"]).get(b"x-ollama-guard-control", b"").decode()
                if given == self.token:
                    self.on_stop()
                await whole(send, 202 if given == self.token else 403, b"{}")
            case _:
                await whole(send, 503 if self.exchanges.draining else 200, b"fine")

    async def stream(self, scope: Any, receive: Any, send: Any) -> None:
        seconds = float(parse_qs(scope["query_string"].decode()).get("seconds", ["1"])[0])
        gone = asyncio.create_task(leaves(receive))  # noqa: TID251
        self.exchanges.live += 1
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline and not self.exchanges.ended.is_set() and not gone.done():
                await send({"type": "http.response.body", "body": b"tick\n", "more_body": True})
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.exchanges.ended.wait(), 0.1)
            last = b"ended\n" if self.exchanges.ended.is_set() else b"done\n"
            await send({"type": "http.response.body", "body": last, "more_body": False})
        finally:
            self.exchanges.live -= 1
            gone.cancel()

    async def deaf(self, send: Any) -> None:
        self.exchanges.live += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"tick\n", "more_body": True})
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
        await asyncio.sleep(600)


async def leaves(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def whole(send: Any, status: int, body: bytes) -> None:
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def main() -> int:
    import os

    GuardProtocol.head_sec = float(os.environ.get("STANDIN_HEAD_SEC", GuardProtocol.head_sec))
    port, drain_timeout = int(sys.argv[1]), float(sys.argv[2])
    mode = sys.argv[3] if len(sys.argv) > 3 else ""
    try:
        sockets = open_sockets("127.0.0.1", port, os.environ)
        refuse_unsafe(sockets, "127.0.0.1:9", token="")
    except CannotListen as error:
        return complain(error, Exit.CANNOT_START)
    except Refused as error:
        return complain(error, Exit.REFUSED)
    exchanges = Exchanges()
    return operate(
        lambda token, on_stop: App(exchanges, token, on_stop, mode),
        exchanges,
        sockets,
        drain_timeout=drain_timeout,
        upstream="http://127.0.0.1:9",
    )


if __name__ == "__main__":
    sys.exit(main())
