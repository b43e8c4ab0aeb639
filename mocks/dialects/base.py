"""What the dialects share: the record Ollama's engine hands them, Go's JSON, and the shape of errors."""

import json
import random
import string
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from mocks.ask import Ask

Headers = tuple[tuple[str, str], ...]
JSON_NATIVE = "application/json; charset=utf-8"
JSON_V1 = "application/json"

_HTML = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def go_json(value: Any, *, sort: bool = False) -> bytes:
    """JSON as Go's encoding/json writes it: no blanks; `<`, `>`, `&`, U+2028, U+2029 escaped, the rest raw.

    `sort` orders keys, as Go does for maps (structs keep their order).
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort)
    return text.translate(_HTML).encode("utf-8", "replace")


def go_time(when: datetime) -> str:
    """RFC 3339 as Go prints it: UTC, fraction without trailing zeros."""
    fraction = f".{when.microsecond:06d}".rstrip("0") if when.microsecond else ""
    return when.strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z"


def now() -> datetime:
    return datetime.now(UTC)


def call_id() -> str:
    """An id as Ollama's built-in parsers make them."""
    return "call_" + "".join(random.choices(string.ascii_lowercase + string.digits, k=8))


@dataclass(frozen=True, slots=True)
class Call:
    """A whole tool call."""

    name: str
    arguments: Mapping[str, Any]
    index: int = 0
    id: str = field(default_factory=call_id)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a tool call's arguments, as cloud models may stream them; local Ollama never does."""

    index: int
    id: str
    name: str
    text: str
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class Meter:
    """Token counts and nanoseconds of the final record."""

    prompt: int = 0
    completion: int = 0
    total_ns: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """One record of the engine (Ollama's api.ChatResponse): what every dialect is rendered from."""

    think: str = ""
    say: str = ""
    calls: tuple[Call, ...] = ()
    part: Part | None = None
    done: bool = False
    reason: str = ""
    meter: Meter = Meter()


class Voice(ABC):
    """One response being written. Made for one request; `stream` is called with its records in order."""

    media_type: str
    extra_headers: Headers = ()

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.model = ask.model
        self.began = now()

    def headers(self, *, stream: bool) -> Headers:
        """Content type and companions of a 200 answer."""
        if stream:
            return (("Content-Type", self.media_type), *self.extra_headers)
        return (("Content-Type", JSON_NATIVE if self.ask.path.startswith("/api/") else JSON_V1),)

    @abstractmethod
    def stream(self, chunk: Chunk) -> Sequence[bytes]:
        """The writes (each one HTTP chunk) of one record; may be none."""

    @abstractmethod
    def whole(self, chunk: Chunk) -> bytes:
        """The body of a non-streaming answer; `chunk` holds everything said, `done` unset if it broke off."""

    def failed(self, message: str) -> Sequence[bytes]:
        """What a failure in the middle of a stream writes. On /v1 routes the message is lost (A.7)."""
        del message
        return ()


_ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    529: "overloaded_error",
}


def error_body(path: str, status: int, message: str) -> tuple[Headers, bytes]:
    """Headers and body of an error before the stream began, in the form of the path's family."""
    if path == "/v1/messages":
        body: dict[str, Any] = {
            "type": "error",
            "error": {"type": _ANTHROPIC.get(status, "api_error"), "message": message},
            "request_id": f"req_{random.getrandbits(96):024x}",
        }
        return (("Content-Type", JSON_V1),), go_json(body) + b"\n"
    if path.startswith("/v1/"):
        kind = {400: "invalid_request_error", 404: "not_found_error"}.get(status, "api_error")
        body = {"error": {"message": message, "type": kind, "param": None, "code": None}}
        return (("Content-Type", JSON_V1),), go_json(body) + b"\n"
    return (("Content-Type", JSON_NATIVE),), go_json({"error": message})
