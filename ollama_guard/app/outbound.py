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


async def write(send: Send, data: bytes) -> None:
    """Write body bytes, more to come. Raises ClientStalled."""
    for at in range(0, len(data), WRITE_BYTES):
        piece = data[at : at + WRITE_BYTES]
        try:
            async with asyncio.timeout(WRITE_STALL_SEC):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except TimeoutError:
            raise ClientStalled from None
