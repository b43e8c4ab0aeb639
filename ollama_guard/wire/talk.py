"""All that a request says, whoever said it, for text that the answer may copy: one reading for all dialects.

System and user text, earlier answers, tool calls' arguments and tool results. Pictures and thoughts are left
out. Read from the end and bounded: a conversation may have megabytes.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ollama_guard.history import Talk
from ollama_guard.wire.asked import PROMPT_LIMIT, texts
from ollama_guard.wire.toolcalls import argument_text

LIMIT = 400_000
"""Characters of the conversation that are looked at."""

_MOST_TEXTS = 5000

_BEHIND = ("suffix", "prompt", "input", "messages", "instructions", "system")
"""Where requests have text, from the end of what the model reads."""
_INSIDE = ("tool_calls", "function", "output", "content", "text")
_ARGUMENTS = ("arguments", "input")
_DEEPEST = 8


def talk(fields: Mapping[str, Any]) -> Talk:
    """What is said in a decoded request."""
    parts: list[str] = []
    left = LIMIT
    for text in islice(_backwards(fields), _MOST_TEXTS):
        parts.append(text[-left:])
        left -= len(text) + 1
        if left <= 0:
            break
    return Talk("\n".join(reversed(parts)), _turn(fields))


def _backwards(fields: Mapping[str, Any]) -> Iterator[str]:
    for name in _BEHIND:
        yield from _leaves(fields.get(name))


def _leaves(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts of a message, an item or a list of such, last first."""
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST and isinstance(value, list):
        for each in reversed(value):
            yield from _leaves(each, depth + 1)
    elif depth < _DEEPEST and isinstance(value, dict):
        for name in _ARGUMENTS:
            if written := argument_text(value.get(name)):
                yield _plain(written)
        for name in _INSIDE:
            yield from _leaves(value.get(name), depth + 1)


def _plain(arguments: str) -> str:
    """JSON text with the escapes undone that text which is copied from it would not have."""
    for written, meant in (("\\\\", "\0"), ("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ('\\"', '"')):
        arguments = arguments.replace(written, meant)
    for written, meant in (("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&"), ("\0", "\\")):
        arguments = arguments.replace(written, meant)
    return arguments


def _turn(fields: Mapping[str, Any]) -> str:
    """What the user said last."""
    given = fields.get("messages") or fields.get("input") or fields.get("prompt")
    if isinstance(given, str):
        return given[-PROMPT_LIMIT:]
    for message in reversed(given) if isinstance(given, list) else ():
        if isinstance(message, dict) and message.get("role") == "user":
            said = "\n".join(texts(message.get("content")))
            if said.strip():
                return said[-PROMPT_LIMIT:]
    return ""
