"""What goes into the engine and what comes out of it. Frozen values; the driver obeys them in order.

Every input carries `now`, a monotonic clock reading in seconds; it never goes backwards.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

Header = tuple[bytes, bytes]


class Trouble(Enum):
    """How an attempt failed below HTTP."""

    CONNECT = "connect"  # no connection: refused, unreachable, timed out
    RESET = "reset"  # the connection broke, or the chunked body ended without its terminator
    PROTOCOL = "protocol"  # what came is not HTTP


# --- inputs ---------------------------------------------------------------------------------------------


class Begin(Struct, frozen=True):
    """The exchange starts."""

    now: float


class Headers(Struct, frozen=True):
    """Status line and headers of an attempt's response (end-to-end headers only)."""

    attempt: int
    status: int
    headers: Sequence[Header]
    now: float


class Bytes(Struct, frozen=True):
    """Body bytes of an attempt, split anyhow; never empty."""

    attempt: int
    data: bytes
    now: float


class Closed(Struct, frozen=True):
    """An attempt's body ended as HTTP says it should."""

    attempt: int
    now: float


class Failed(Struct, frozen=True):
    """An attempt failed below HTTP."""

    attempt: int
    trouble: Trouble
    message: str
    now: float


class Tick(Struct, frozen=True):
    """The time asked for by the latest `Wake` has come (or some time after it)."""

    now: float


class GoOn(Struct, frozen=True):
    """Other exchanges had their turn: what is left of a long frame is to be judged, by a piece."""

    now: float


class ClientGone(Struct, frozen=True):
    """The client closed its connection."""

    now: float


class Drain(Struct, frozen=True):
    """The service ends, and waits no longer for this exchange."""

    now: float


Input = Begin | Headers | Bytes | Closed | Failed | Tick | GoOn | ClientGone | Drain


# --- outputs --------------------------------------------------------------------------------------------


class Open(Struct, frozen=True):
    """Send this request upstream. At most one attempt is open; an earlier one has been cut before.

    path is None for the client's own target; set for a helper request of the guard's (recovery).
    """

    attempt: int
    body: bytes
    path: str | None = None


class Cut(Struct, frozen=True):
    """Close this attempt's connection now, reading on while it closes. Its later inputs are ignored."""

    attempt: int


class Start(Struct, frozen=True):
    """Status and headers for the client. Once, before any `Send`."""

    status: int
    headers: Sequence[Header]


class Send(Struct, frozen=True):
    """Bytes for the client; while it is guarded, whole frames."""

    data: bytes


class End(Struct, frozen=True):
    """The response ends as HTTP says it should. Terminal."""


class Abort(Struct, frozen=True):
    """Close the client's connection without an ending, so that it sees a network error. Terminal."""


class Forget(Struct, frozen=True):
    """The client is gone; nothing more can be said to it. Terminal."""


class Wake(Struct, frozen=True):
    """Send a `Tick` at this time. Replaces the one asked for before; None wants no tick."""

    at: float | None


class Record(Struct, frozen=True):
    """A row for the log: something was decided, or the exchange is over (`event == "exchange"`)."""

    event: str
    fields: Mapping[str, Any]


Output = Open | Cut | Start | Send | End | Abort | Forget | Wake | Record
TERMINALS = (End, Abort, Forget)
