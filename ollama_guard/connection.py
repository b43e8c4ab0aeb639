"""One connection to the upstream: what httpcore reads from and writes to, straight on asyncio.

httpcore's own stream (anyio's) asks the kernel to watch the socket before every read and to leave it after
it, inside a cancel scope: for a stream of small events that costs more than reading them. Here the socket is
watched all the time, and a read takes what has come. What is not taken is bounded.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Self, cast

import httpcore

HIGH_WATER = 1 << 18
"""Bytes that wait to be read before the socket is left alone."""


class Connection(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """A connected stream. `open` gives one; `aclose` leaves nothing of it, whatever state it is in."""

    def __init__(self) -> None:
        self.before_read: Callable[[], Awaitable[None]] | None = None  # what came before has been used up
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._ended = False  # nothing more will come
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._paused = False
        self._half_closed = False
        self._writable = asyncio.Event()
        self._writable.set()
        self._lost = asyncio.Event()

    @classmethod
    async def open(cls, host: str, port: int, timeout: float, tls: ssl.SSLContext | None, name: str) -> Self:  # noqa: ASYNC109
        """Connect to an address; `name` is whose certificate is wanted. Raises httpcore's errors."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                _, connection = await loop.create_connection(
                    cls, host, port, ssl=tls, server_hostname=name if tls else None
                )
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"no connection within {timeout:g} s") from error
        except OSError as error:  # of which ssl.SSLError is one
            raise httpcore.ConnectError(str(error)) from error
        return connection

    # --- what httpcore asks for ------------------------------------------------------------------------

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """What has come, at least a byte; b"" at the end."""
        if self.before_read is not None:
            await self.before_read()
        if not self._received and not self._ended:
            self._reader = self._loop.create_future()
            try:
                if timeout is None:
                    await self._reader
                else:
                    await _within(timeout, self._reader, httpcore.ReadTimeout)
            finally:
                self._reader = None
        if not self._received and self._error is not None:
            raise httpcore.ReadError(str(self._error)) from self._error
        data = bytes(self._received[:max_bytes])
        del self._received[:max_bytes]
        if self._paused and len(self._received) < HIGH_WATER:
            self._paused = False
            self._connected().resume_reading()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Hand bytes over; waits while the upstream takes none."""
        if self._half_closed or self._lost.is_set() or self._connected().is_closing():
            raise httpcore.WriteError("the connection is closed")
        self._connected().write(buffer)
        if not self._writable.is_set():
            await _within(timeout, self._writable.wait(), httpcore.WriteTimeout)
            if self._lost.is_set():
                raise httpcore.WriteError(str(self._error or "the connection was closed"))

    async def aclose(self) -> None:
        """Close at once, and come back when it is."""
        self.abort()
        await self._lost.wait()

    def get_extra_info(self, info: str) -> Any:
        """As asyncio's transports have it."""
        return self._connected().get_extra_info(info)

    # --- what the guard asks for -----------------------------------------------------------------------

    def abort(self) -> None:
        """Close at once."""
        self._connected().abort()

    def half_close(self) -> None:
        """Say that no more will be sent; the other side's bytes go on to come."""
        self._half_closed = True
        transport = self._connected()
        with suppress(OSError):
            if transport.can_write_eof():
                transport.write_eof()
            else:  # TLS, which has no such word: the upstream sees the end of the connection below
                transport.get_extra_info("socket").shutdown(socket.SHUT_WR)

    # --- what asyncio tells ----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one by its methods only

    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) >= HIGH_WATER and not self._paused:
            self._paused = True
            self._connected().pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._ended = True
        self._wake()
        return self._connected().can_write_eof()  # a request may still be under way; not with TLS

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._error = exc
        self._lost.set()
        self._writable.set()
        self._wake()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _connected(self) -> asyncio.Transport:
        assert self._transport is not None  # noqa: S101  # `open` hands nothing else out
        return self._transport


async def _within(seconds: float | None, what: Awaitable[Any], late: type[httpcore.TimeoutException]) -> None:
    try:
        async with asyncio.timeout(seconds):
            await what
    except TimeoutError:
        raise late(f"nothing moved for {seconds:g} s") from None
