"""What a framer yields: the very bytes of one SSE event or one NDJSON line."""

from enum import Enum

from msgspec import Struct


class Framing(Enum):
    """How a stream's bytes are cut into frames."""

    SSE = "text/event-stream"
    NDJSON = "application/x-ndjson"


class Frame(Struct, frozen=True):
    """One frame. The `raw` of all frames of a stream, joined, is the stream, byte for byte.

    raw:   the bytes as received, terminator (blank line, newline) included.
    data:  the payload to be read: the joined `data:` lines of an SSE event (WHATWG HTML §9.2), or the
           NDJSON line without its end. Empty for comments, blank lines and fragments.
    event: the SSE `event:` field, or "".
    whole: false for a fragment: a frame over the size bound passes in pieces, and a stream may end
           inside a frame. Nothing may be written between a fragment and what follows it.
    """

    raw: bytes
    data: bytes = b""
    event: str = ""
    whole: bool = True
