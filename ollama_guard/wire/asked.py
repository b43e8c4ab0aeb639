"""What a request asks for, read the same way for several dialects."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

PROMPT_LIMIT = 32_768
"""Characters of the conversation that are looked at for a repetition that was asked for."""


def named(fields: Any, *, stream: bool) -> bool | None:
    """Whether the answer is to be streamed (`stream` is the default); None if this is nothing to guard.

    That is: no JSON object, no model, or a `stream` that is no boolean (Ollama answers it with 400).
    """
    if not isinstance(fields, dict):
        return None
    model = fields.get("model")
    if not isinstance(model, str) or not model or fields.get("_debug_render_only"):
        return None
    asked = fields.get("stream")
    if asked is None:
        return stream
    return asked if isinstance(asked, bool) else None


def user_text(messages: Sequence[Any], limit: int = PROMPT_LIMIT) -> str:
    """The text of all user messages, the last `limit` characters of it."""
    parts: list[str] = []
    size = 0
    for message in reversed(messages):
        if not isinstance(message, Mapping) or message.get("role") != "user":
            continue
        text = "\n".join(texts(message.get("content")))
        parts.append(text[-limit:])
        size += len(text) + 1
        if size > limit:
            break
    return "\n".join(reversed(parts))[-limit:]


def texts(content: Any) -> Iterator[str]:
    """The texts of a message's content, which is a string or a list of parts of which some have text."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                yield text
