"""Looking into decoded JSON of which nothing is certain: a wrong type reads as nothing."""

from collections.abc import Mapping
from typing import Any

Payload = Mapping[str, Any]


def part(payload: Payload, key: str) -> Payload:
    """The object under a key; empty for anything else."""
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def number(payload: Payload, key: str) -> int | None:
    """The integer under a key."""
    value = payload.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def string(payload: Payload, key: str) -> str:
    """The text under a key; "" for anything else."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def error_message(payload: Payload) -> str:
    """What the `error` of a payload says: a text (Ollama's native form), or an object with a `message`."""
    error = payload.get("error")
    return error if isinstance(error, str) else string(part(payload, "error"), "message")
