"""One accepted connection: bytes in, bytes out, and the very moment the other side leaves.

Written on asyncio.Protocol and not on streams because the mock must notice a client that is gone while it
writes, or while it waits: `eof_received` and `connection_lost` say so at once, with no reader task.
Only one task, the connection's own, waits on a link.
"""

import asyncio
import socket
import struct
import time
from collections.abc import Callable

READ_AHEAD = 256 * 1024  # bytes held before the socket is no longer read


class PeerLeftError(Exception):
    """The other side closed or reset the connection while more was expected of it."""


class Link(asyncio.Protocol):
    """`gone` is None, "client_closed" (EOF) or "reset"; `gone_at` is the monotonic time of it."""

    def __init__(self, accepted: Callable[["Link"], None]) -> None:
        self._accepted = accepted
        self._inbox = bytearray()
        self._changed = asyncio.Event()
        self._writable = True
        self._transport: asyncio.Transport | None = None
        self.gone: str | None = None
        self.gone_at: float | None = None

    # --- what asyncio calls ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a link needs a stream transport")
        self._transport = transport
        # Like Go: a write blocks as soon as the kernel takes no more, so that little is generated ahead.
        transport.set_write_buffer_limits(high=0)
        self._accepted(self)

    def data_received(self, data: bytes) -> None:
        self._inbox += data
        if len(self._inbox) > READ_AHEAD and self._transport:
            self._transport.pause_reading()
        self._changed.set()

    def eof_received(self) -> bool:
        self._leave("client_closed")
        return True  # the connection is closed by its own task, once it has seen this

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave("reset" if exc else "client_closed")

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        self._changed.set()

    def _leave(self, how: str) -> None:
        if self.gone is None:
            self.gone, self.gone_at = how, time.monotonic()
        self._changed.set()

    # --- what the connection's task calls ---

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _take(self, size: int) -> bytes:
        taken = bytes(self._inbox[:size])
        del self._inbox[:size]
        if self._transport and not self._transport.is_closing() and len(self._inbox) <= READ_AHEAD:
            self._transport.resume_reading()
        return taken

    async def read_until(self, mark: bytes, limit: int) -> bytes | None:
        """Bytes up to and with `mark`; None for a clean EOF before the first byte.

        Raises PeerLeftError for an EOF inside, ValueError when `limit` bytes hold no mark.
        """
        seen = 0
        while True:
            at = self._inbox.find(mark, max(0, seen - len(mark)))
            if at >= 0:
                return self._take(at + len(mark))
            seen = len(self._inbox)
            if seen > limit:
                raise ValueError(f"no {mark!r} in {limit} bytes")
            if self.gone:
                if seen:
                    raise PeerLeftError(self.gone)
                return None
            await self._change()

    async def read(self, size: int) -> bytes:
        """One to `size` bytes, as they come. Raises PeerLeftError at EOF."""
        while not self._inbox:
            if self.gone:
                raise PeerLeftError(self.gone)
            await self._change()
        return self._take(size)

    async def write(self, data: bytes) -> bool:
        """Write and wait until the kernel has taken it; False when the peer is gone."""
        if self.gone is None and self._transport:
            self._transport.write(data)
        while not self._writable and self.gone is None:
            await self._change()
        return await self.pause(0)

    async def pause(self, seconds: float | None) -> bool:
        """Let time pass (None: for ever); False at once when the peer leaves."""
        if seconds == 0:  # one turn of the loop, so that an EOF that is already there is seen
            await asyncio.sleep(0)
            return self.gone is None
        try:
            async with asyncio.timeout(seconds):
                while self.gone is None:
                    await self._change()
        except TimeoutError:
            pass
        return self.gone is None

    @property
    def flushed(self) -> bool:
        """Whether the kernel has taken all that was written."""
        return self._writable

    def reset(self) -> None:
        """Break the connection with a TCP RST."""
        if self._transport is None:
            return
        sock = self._transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def close(self) -> None:
        """Close in the ordinary way (FIN), after what was written."""
        if self._transport is not None:
            self._transport.close()
