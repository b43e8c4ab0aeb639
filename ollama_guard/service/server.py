"""The HTTP server: uvicorn with its settings fixed, and an ending of our own.

The first signal begins the drain: no new connections, live exchanges go on until `drain_timeout`, then each
is told to end, and GRACE seconds later what is left is cut. A second signal does both at once. Either way
the exit code is 0, and the signal is never raised again. uvicorn's own ending tells the streams nothing, lets
them hang for ever or cancels them, and then dies of the signal.
"""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Protocol

import uvicorn

from ollama_guard.service.protocol import GuardProtocol
from ollama_guard.service.systemd import Notifier

GRACE = 5.0  # seconds from the drain's deadline to the end of the process
CUT_AFTER = 3.0  # of these, how long an exchange may take to write its error event
LAST_WORD = 0.2  # the same after a second signal
FORCED = 2.0  # seconds from a second signal to the end of the process
POLL = 0.05
KEEP_ALIVE = 120  # seconds; Go clients reuse a connection for 90, and must not race our close

SIGNALS = (signal.SIGINT, signal.SIGTERM)
if sys.platform == "win32":
    SIGNALS += (signal.SIGBREAK,)

log = logging.getLogger("ollama_guard.service")


def _hang_up() -> Iterator[signal.Signals]:
    """A terminal that is closed ends us like SIGTERM, unless we were told not to mind (nohup)."""
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        yield signal.SIGHUP


class Exchanges(Protocol):
    """What the server needs of the application's registry."""

    @property
    def live(self) -> int:
        """Exchanges in flight."""

    def begin_drain(self) -> None:
        """Refuse new exchanges from now on."""

    def end_all(self) -> None:
        """End every live exchange now, each with an error event of its dialect."""


def configure(app: Any) -> uvicorn.Config:
    """The one configuration we serve with: h11, which refuses what smuggles, and no proxy headers."""
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=GuardProtocol,
        ws="none",
        interface="asgi3",
        lifespan="auto",
        workers=1,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        access_log=False,
        log_config=None,
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE,
    )


class GuardServer(uvicorn.Server):
    """Serves until told to stop, then drains. `run` returns when every socket is closed.

    make_app gets the call that begins the drain, and returns the ASGI application.
    """

    leave: Callable[[int], None] = staticmethod(os._exit)

    def __init__(
        self,
        make_app: Callable[[Callable[[], None]], Any],
        exchanges: Exchanges,
        *,
        drain_timeout: float,
        notifier: Notifier,
        on_ready: Callable[[], None],
    ) -> None:
        super().__init__(configure(make_app(self.stop)))
        self._exchanges = exchanges
        self._drain_timeout = drain_timeout
        self._notifier = notifier
        self._on_ready = on_ready
        self._signals = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._watchdog: threading.Timer | None = None
        self._retired: set[Any] = set()

    def stop(self) -> None:
        """Begin the drain. Safe from a signal handler and from any thread; more calls change nothing."""
        if not self.should_exit:
            # armed here and not in `shutdown`: a loop that is stuck never comes there
            self._bite_after(self._drain_timeout + GRACE)
        self.should_exit = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended already
                self._loop.call_soon_threadsafe(self._stop.set)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """First signal: drain. Second: end everything now."""
        del sig, frame  # no logging in here: the interrupted code may be inside the log's own write
        self._signals += 1
        self.stop()
        if self._signals > 1:
            self.force_exit = True
            self._bite_after(FORCED)

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        """Handle the signals ourselves while inside (main thread only; elsewhere nothing is changed).

        Once one has come the handlers stay: the process is about to go, and a late second signal
        must not turn the exit code from 0 into a death by signal.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (*SIGNALS, *_hang_up())}
        try:
            yield
        finally:
            if not self._signals:
                for each, handler in before.items():
                    signal.signal(each, handler)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing here: `signals` is around all of it, and uvicorn would raise them again at the end."""
        yield

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve on the bound sockets until stopped. Raises SystemExit when the application does not start."""
        try:
            super().run(sockets)
        finally:
            if self._watchdog is not None:
                self._watchdog.cancel()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    async def main_loop(self) -> None:
        # uvicorn wakes ten times a second to look at a flag; with no date header an event is enough
        await self.on_tick(0)
        if not self.should_exit:
            await self._stop.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, drain, end, cut; bounded by drain_timeout + GRACE."""
        self._exchanges.begin_drain()
        self._notifier.stopping("draining", self._drain_timeout + GRACE + 5)
        log.info("draining: %d exchanges live, up to %g s", self._exchanges.live, self._drain_timeout)
        for server in self.servers:
            server.close()
        for each in sockets or []:
            each.close()
        if not await self._quiet(self._drain_timeout):
            what = "second signal" if self.force_exit else "drain time is over"
            log.warning("%s: %d exchanges are ended", what, self._exchanges.live)
            self._exchanges.end_all()
            # after a second signal too, or what is cut would be taken for clients that left
            await self._quiet(LAST_WORD if self.force_exit else CUT_AFTER, forced=self.force_exit)
        await self._cut()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await self.lifespan.shutdown()

    async def _quiet(self, seconds: float, *, forced: bool = False) -> bool:
        """Wait until no connection and no request is left, the time is over, or a second signal comes.

        forced: the second signal has come, and these seconds are spent all the same.
        """
        loop = asyncio.get_running_loop()
        deadline, told = loop.time() + seconds, -1
        while True:
            self._retire()
            if not (self.server_state.connections or self.server_state.tasks):
                return True
            if (self.force_exit and not forced) or loop.time() >= deadline:
                return False
            if self._exchanges.live != told:
                told = self._exchanges.live
                self._notifier.status(f"draining: {told} exchanges live")
            await asyncio.sleep(POLL)

    def _retire(self) -> None:
        """Close idle connections, and have the others closed after their response; each is told once.

        Asked again and again, since one that was accepted just before the listener closed comes up late.
        """
        for connection in self.server_state.connections - self._retired:
            self._retired.add(connection)
            connection.shutdown()

    async def _cut(self) -> None:
        """Close what is left hard. What listens for its client ends by that; the rest is cancelled."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        for cancelled in (False, True):
            tasks = list(self.server_state.tasks)
            if cancelled:
                for task in tasks:
                    task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=0.5)

    def _bite_after(self, seconds: float) -> None:
        """Whatever hangs (a blocked loop, a thread that does not end), the process is gone by then."""
        if self._loop is None:
            return
        if self._watchdog is not None:
            self._watchdog.cancel()
        self._watchdog = threading.Timer(seconds, self._bite)
        self._watchdog.daemon = True
        self._watchdog.start()

    def _bite(self) -> None:
        # in silence: a log that cannot be written is one of the things that hang
        self.leave(0)
