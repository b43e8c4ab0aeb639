"""uvicorn's h11 protocol, with the one time limit it lacks: a request's head has to come in time.

Without it a connection that sends half a head, or nothing at all, is held open for ever (Kludex/uvicorn#157).
The body's time limit is the application's.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SEC = 60.0


class GuardProtocol(H11Protocol):
    """Closes a connection whose next request head is not whole HEAD_SEC seconds after it began.

    The first one begins with the connection; a later one with its first byte, since waiting between two
    requests is what keep-alive is for, and has a limit of its own.
    """

    head_sec = HEAD_SEC
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()  # what was sent ahead may be half a head

    def _look(self) -> None:
        if self.cycle is None:
            return  # the deadline of the first head runs
        if self.cycle.response_complete and self.conn.trailing_data[0]:
            self._arm()
        else:
            self._disarm()

    def _arm(self) -> None:
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(self.head_sec, self.transport.abort)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
