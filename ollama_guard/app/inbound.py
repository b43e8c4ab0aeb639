"""The client's request body, and the moment the client leaves.

uvicorn tells a writer nothing when its client has gone (`send` just returns), so `receive` is listened to
from the first moment to the last.
"""

import asyncio
from collections.abc import AsyncIterator

from starlette.types import Receive


class ClientLeft(Exception):
    """The client closed its connection before its request was complete."""


class TooLarge(Exception):
    """The body is over the limit."""


class TooSlow(Exception):
    """The client paused for too long in the middle of its request."""


class Inbound:
    """Wraps `receive`. Read the body by `chunks` or `whole`, then `left` returns when the client goes."""

    def __init__(self, receive: Receive, pause_sec: float) -> None:
        self._receive = receive
        self._pause_sec = pause_sec
        self._read = asyncio.Event()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises ClientLeft, TooSlow."""
        more = True
        while more:
            try:
                async with asyncio.timeout(self._pause_sec):
                    message = await self._receive()
            except TimeoutError:
                raise TooSlow from None
            if message["type"] == "http.disconnect":
                raise ClientLeft
            more = message.get("more_body", False)
            if message.get("body"):
                yield message["body"]
        self._read.set()

    async def whole(self, limit: int) -> bytes:
        """The whole body. Raises TooLarge as soon as `limit` bytes are passed."""
        body = bytearray()
        async for chunk in self.chunks():
            body += chunk
            if len(body) > limit:
                raise TooLarge
        return bytes(body)

    async def left(self) -> None:
        """Return when the client has gone; only after the body has been read."""
        await self._read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
