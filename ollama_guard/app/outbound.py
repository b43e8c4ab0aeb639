"""Response bytes on their way to the client, in pieces, with a limit to how long it may take none.

uvicorn lets a write wait until the client has taken most of the one before; it never gives up on that.
"""

import asyncio
from http import HTTPStatus

from starlette.types import Send

WRITE_STALL_SEC = 600.0
"""A client that takes nothing for so long is taken for gone, though its kernel keeps the connection up."""

WRITE_BYTES = 1 << 16
"""How much is handed over at once: what has been handed over is memory of the server's, not of a queue."""


KNOWN = frozenset(HTTPStatus)


def status_for_client(status: int) -> int:
    """The status to send: one that uvicorn has no phrase for (520, 999) would break the response off."""
    return status if status in KNOWN else HTTPStatus.BAD_GATEWAY


class ClientStalled(Exception):
    """The client has taken nothing for WRITE_STALL_SEC."""


class Outbound:
    """Writes the body of one response. To be closed when the response is over.

    One timer watches all of its writes: setting and cancelling one for each would cost more than the write.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._began: float | None = None  # of the write that is under way
        self._writer: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stalled = False

    async def write(self, data: bytes) -> None:
        """Write body bytes, more to come. Raises ClientStalled."""
        for at in range(0, len(data), WRITE_BYTES):
            await self._write(data[at : at + WRITE_BYTES])

    def close(self) -> None:
        """Watch no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _write(self, piece: bytes) -> None:
        self._began = self._loop.time()
        if self._timer is None:
            self._writer = asyncio.current_task()
            self._timer = self._loop.call_later(WRITE_STALL_SEC, self._look)
        try:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        except asyncio.CancelledError:
            if self._stalled and self._writer is not None and self._writer.uncancel() == 0:
                raise ClientStalled from None
            raise
        finally:
            self._began = None

    def _look(self) -> None:
        self._timer = None
        if self._began is None:
            return  # the next write sets it again
        due = self._began + WRITE_STALL_SEC
        if self._loop.time() < due:
            self._timer = self._loop.call_at(due, self._look)
        elif self._writer is not None:
            self._stalled = True
            self._writer.cancel()
