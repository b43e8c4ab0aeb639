"""The guard inside this process, on a thread of its own: its tasks can be seen from nowhere else."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
import uvicorn

from ollama_guard.app.build import build
from ollama_guard.app.registry import Registry
from ollama_guard.config.schema import Log, Settings, Upstream
from ollama_guard.record import log
from ollama_guard.service.server import configure
from ollama_guard.upstream import resolve


@dataclass
class Inside:
    """A guard whose event loop can be looked into."""

    url: str
    registry: Registry
    loop: asyncio.AbstractEventLoop

    @property
    def tasks(self) -> int:
        """Tasks of the guard's loop."""

        async def count() -> int:
            return len(asyncio.all_tasks())

        return asyncio.run_coroutine_threadsafe(count(), self.loop).result(10)


@contextmanager
def guard_inside(upstream: str, settings: Settings | None = None) -> Iterator[Inside]:
    """The application on uvicorn, configured as the service does it."""
    given = settings or Settings(upstream=Upstream(url=upstream))
    registry = Registry()
    log.setup(Log(level="error"))
    app = build(given, resolve(given), registry, control_token="none", on_stop=lambda: None)
    server = uvicorn.Server(configure(app))
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    started: list[asyncio.AbstractEventLoop] = []
    ready = threading.Event()

    async def main() -> None:
        started.append(asyncio.get_running_loop())
        ready.set()
        await server.serve(sockets=[listener])

    thread = threading.Thread(target=lambda: asyncio.run(main()), name="guard", daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield Inside(url, registry, started[0])
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
        log.close()
        structlog.reset_defaults()
