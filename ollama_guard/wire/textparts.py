"""The two texts of a chunk, what is thought and what is answered, under whatever names a server uses."""

from collections.abc import Iterable, Mapping
from typing import Any

from ollama_guard.events import Channel, Event, Text

REASONING_KEYS = ("reasoning", "reasoning_content", "thinking")
"""Ollama's /v1, llama-server and its kin, Ollama's own API."""


def read_texts(box: Mapping[str, Any], content: str, choice: int, out: list[Event]) -> None:
    """Append the Text events of a delta or message: reasoning first. Empty and odd values are no events."""
    for key in REASONING_KEYS:
        value = box.get(key)
        if value and isinstance(value, str):
            out.append(Text(Channel.REASONING, value, choice))
            break  # a server that writes two of the keys writes the same text in both
    value = box.get(content)
    if value and isinstance(value, str):
        out.append(Text(Channel.CONTENT, value, choice))


def joined(events: Iterable[Event], channel: Channel, choice: int) -> str:
    """All text of one channel and choice."""
    return "".join(
        event.text
        for event in events
        if isinstance(event, Text) and event.channel is channel and event.choice == choice
    )


def write_texts(box: dict[str, Any], content: str, reasoning: str, thought: str, answer: str) -> bool:
    """Make the box say this and no other text. `reasoning` is the key for a thought where the box has none.

    Returns whether anything was changed. The content key is never taken out, since clients rely on it.
    """
    changed = False
    have = box.get(content)
    if answer != (have if isinstance(have, str) else ""):
        box[content] = answer
        changed = True
    keys = [key for key in REASONING_KEYS if box.get(key) and isinstance(box[key], str)]
    if thought and not keys:
        box[reasoning] = thought
        return True
    for key in keys:
        if box[key] != thought:
            changed = True
            if thought:
                box[key] = thought
            else:
                del box[key]
    return changed


def reasoning_key(box: Mapping[str, Any]) -> str | None:
    """The name under which this box has a thought."""
    return next((key for key in REASONING_KEYS if box.get(key)), None)
