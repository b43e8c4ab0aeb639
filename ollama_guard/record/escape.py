"""What may stand in a log row: one line, no control characters, bounded, and nothing private.

Model names, error messages and repeated units are written by strangers. A terminal that shows the log must
not obey them, and a newline in them must not pass for a row of ours.
"""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

LONGEST = 2000
"""Characters of one value; what is longer is cut."""
MOST = 100
"""Entries of one list or mapping."""

CONTENT = frozenset(
    {"prompt", "text", "unit", "body", "content", "answer", "partial", "messages", "arguments"}
)
"""Fields with pieces of prompts and answers: shown by length and hash unless `log.content` is on."""
SECRETS = frozenset(
    {"authorization", "proxy_authorization", "token", "control_token", "api_key", "x_api_key", "cookie"}
    | {"set_cookie", "password", "headers"}
)
"""Fields that are never shown, whatever the settings say. No hash either: a short secret could be guessed."""


def escape(text: str) -> str:
    """The text, cut, with what is not printable written as Python would (\\x1b, \\u202e, \\n)."""
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def hidden(value: Any) -> str:
    """What stands for a value that is private. Equal texts look equal, so that a loop is known again."""
    if not isinstance(value, str):
        return "[hidden]"
    digest = hashlib.sha256(value.encode(errors="surrogatepass")).hexdigest()
    return f"[{len(value)} characters, sha256 {digest[:12]}]"


def safe(value: Any) -> Any:
    """The value as plain JSON data: text escaped, depth and size bounded."""
    return _safe(value, 4)


def _safe(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return f"[{len(value)} bytes]"
    if depth and isinstance(value, Mapping):
        return {escape(str(key)): _safe(item, depth - 1) for key, item in list(value.items())[:MOST]}
    if depth and isinstance(value, list | tuple | set | frozenset):
        return [_safe(item, depth - 1) for item in list(value)[:MOST]]
    return escape(str(value))


def redact(fields: Mapping[str, Any], *, content: bool) -> dict[str, Any]:
    """The fields with private ones hidden, also in mappings inside. `content`: text may be shown."""
    shown: dict[str, Any] = {}
    for name, value in fields.items():
        word = str(name).lower().replace("-", "_")
        if word in SECRETS:
            shown[name] = "[hidden]" if value else value
        elif word in CONTENT and not content and value:
            shown[name] = hidden(value)
        else:
            shown[name] = redact(value, content=content) if isinstance(value, Mapping) else value
    return shown
