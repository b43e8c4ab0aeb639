"""What goes into the engine and what comes out of it. Frozen values; the driver obeys them in order.

Every input carries `now`, a monotonic clock reading in seconds; it never goes backwards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

Header = tuple[bytes, bytes]


class Trouble(Enum):
    """How an attempt failed below HTTP."""

    CONNECT = "connect"  # no connection: refused, unreachable, timed out
    RESET = "reset"  # the connection broke, or the chunked body ended without its terminator
    PROTOCOL = "protocol"  # what came is not HTTP


# --- inputs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Begin:
    """The exchange starts."""

    now: float


@dataclass(frozen=True, slots=True)
class Headers:
    """Status line and headers of an attempt's response (end-to-end headers only)."""

    attempt: int
    status: int
    headers: Sequence[Header]
    now: float


@dataclass(frozen=True, slots=True)
class Bytes:
    """Body bytes of an attempt, split anyhow; never empty."""

    attempt: int
    data: bytes
    now: float


@dataclass(frozen=True, slots=True)
class Closed:
    """An attempt's body ended as HTTP says it should."""

    attempt: int
    now: float


@dataclass(frozen=True, slots=True)
class Failed:
    """An attempt failed below HTTP."""

    attempt: int
    trouble: Trouble
    message: str
    now: float


@dataclass(frozen=True, slots=True)
class Tick:
    """The time asked for by the latest `Wake` has come (or some time after it)."""

    now: float


@dataclass(frozen=True, slots=True)
class ClientGone:
    """The client closed its connection."""

    now: float


@dataclass(frozen=True, slots=True)
class Drain:
    """The service ends, and waits no longer for this exchange."""

    now: float


Input = Begin | Headers | Bytes | Closed | Failed | Tick | ClientGone | Drain


# --- outputs --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Open:
    """Send this request upstream. At most one attempt is open; an earlier one has been cut before.

    path is None for the client's own target; set for a helper request of the guard's (recovery).
    """

    attempt: int
    body: bytes
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """Close this attempt's connection now, reading on while it closes. Its later inputs are ignored."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Start:
    """Status and headers for the client. Once, before any `Send`."""

    status: int
    headers: Sequence[Header]


@dataclass(frozen=True, slots=True)
class Send:
    """Bytes for the client; while it is guarded, whole frames."""

    data: bytes


@dataclass(frozen=True, slots=True)
class End:
    """The response ends as HTTP says it should. Terminal."""


@dataclass(frozen=True, slots=True)
class Abort:
    """Close the client's connection without an ending, so that it sees a network error. Terminal."""


@dataclass(frozen=True, slots=True)
class Forget:
    """The client is gone; nothing more can be said to it. Terminal."""


@dataclass(frozen=True, slots=True)
class Wake:
    """Send a `Tick` at this time. Replaces the one asked for before; None wants no tick."""

    at: float | None


@dataclass(frozen=True, slots=True)
class Record:
    """A row for the log: something was decided, or the exchange is over (`event == "exchange"`)."""

    event: str
    fields: Mapping[str, Any]


Output = Open | Cut | Start | Send | End | Abort | Forget | Wake | Record
TERMINALS = (End, Abort, Forget)
