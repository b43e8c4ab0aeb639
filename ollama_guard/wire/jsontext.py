"""JSON as it goes over the wire: read as tolerantly as Go reads it, written so that no line reader tears it.

Several clients split a stream at U+0085, U+2028 and U+2029 as if they were newlines; written as escapes
these characters reach every client whole (protocol facts E.9).
"""

import json
import math
from typing import Any

import msgspec

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

# In valid UTF-8 these byte sequences are the characters themselves and nothing else.
_TEARING = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


def loads(data: bytes) -> Any | None:
    """The decoded value; None for what is not JSON (RFC 8259), which the value `null` is not told apart from.

    Never raises. Lone surrogate escapes and broken UTF-8 (as U+FFFD) are read, as Go's decoder does.
    """
    try:
        return _decode(data)
    except (msgspec.MsgspecError, RecursionError):
        return _tolerant(data)


def text(value: Any) -> str:
    """Compact JSON as text to be looked at: no character is escaped that need not be."""
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot say
        return json.dumps(value, separators=(",", ":"))


def dumps(value: Any) -> bytes:
    """Compact JSON to be written: no newline, UTF-8, key order kept."""
    try:
        text = _encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")
    for raw, escaped in _TEARING:
        if raw in text:
            text = text.replace(raw, escaped)
    return text


def _tolerant(data: bytes) -> Any | None:
    """The slow reading, for the few inputs that the fast decoder is too strict for."""
    if data.lstrip()[:1] not in (b"{", b"[", b'"'):
        return None
    try:
        return json.loads(data.decode("utf-8", "replace"), parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is out of range")
    return number
