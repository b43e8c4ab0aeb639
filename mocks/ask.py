"""What a generation request asks for, read from any of the six dialects.

Only what a script may need: the conversation as (role, text), whether thinking is off, the token limit.
Field by field as Ollama reads them; what it ignores is ignored here too.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Fields = Mapping[str, Any]
Turn = tuple[str, str]

STREAMS_BY_DEFAULT = frozenset({"/api/chat", "/api/generate"})


@dataclass(frozen=True, slots=True)
class Ask:
    """One generation request. `turns` is the conversation, oldest first; `load` a load or unload request."""

    path: str
    fields: Fields
    model: str
    turns: tuple[Turn, ...]
    stream: bool
    thinking_off: bool
    limit: int | None
    load: bool
    first: str
    """The first text part of the first user turn: what the conversation is known by."""

    @property
    def key(self) -> str:
        """The conversation, hashed."""
        return hashlib.sha256(f"{self.model}\0{self.first}".encode()).hexdigest()[:16]

    @property
    def last(self) -> str:
        """Text of the last turn."""
        return self.turns[-1][1] if self.turns else ""

    @property
    def partial(self) -> str:
        """Answer text to go on from: the assistant turn at the end, or the one before the last turn."""
        tail = [turn for turn in self.turns[-2:] if turn[0] == "assistant"]
        return tail[-1][1] if tail else ""

    @property
    def prompt_tokens(self) -> int:
        return max(1, sum(len(text) for _, text in self.turns) // 4)


def read(path: str, fields: Fields) -> Ask:
    """Read the body of a request to `path`, one of the six generation paths."""
    options = _mapping(fields.get("options"))
    stream = fields.get("stream")
    turns = tuple(_turns(path, fields))
    return Ask(
        path=path,
        fields=fields,
        model=str(fields.get("model") or ""),
        turns=turns,
        stream=path in STREAMS_BY_DEFAULT if stream is None else bool(stream),
        thinking_off=_thinking_off(path, fields),
        limit=_limit(path, fields, options),
        first=_first(path, fields, turns),
        load=path in STREAMS_BY_DEFAULT and not any(text for _, text in turns) and not fields.get("suffix"),
    )


def _first(path: str, fields: Fields, turns: tuple[Turn, ...]) -> str:
    items = fields.get("input" if path == "/v1/responses" else "messages")
    for item in items if isinstance(items, list) else []:
        if isinstance(item, Mapping) and item.get("role") == "user":
            content = item.get("content")
            parts = content if isinstance(content, list) else [content]
            return next(
                (text for part in parts if (text := text_of([part] if content is parts else part))), ""
            )
    return next((text for role, text in turns if role == "user"), "")


def _mapping(value: Any) -> Fields:
    return value if isinstance(value, Mapping) else {}


def _turns(path: str, fields: Fields) -> list[Turn]:
    if path in ("/api/generate", "/v1/completions"):
        prompt = str(fields.get("prompt") or "")
        system = str(fields.get("system") or "")
        return ([("system", system)] if system else []) + ([("user", prompt)] if prompt else [])
    if path == "/v1/responses":
        return _items(fields)
    turns: list[Turn] = []
    if path == "/v1/messages" and (system := text_of(fields.get("system"))):
        turns.append(("system", system))
    messages = fields.get("messages")
    said = [item for item in messages if isinstance(item, Mapping)] if isinstance(messages, list) else []
    return turns + [(str(item.get("role", "")), text_of(item.get("content"))) for item in said]


def _items(fields: Fields) -> list[Turn]:
    turns: list[Turn] = []
    if instructions := fields.get("instructions"):
        turns.append(("system", str(instructions)))
    given = fields.get("input")
    if isinstance(given, str):
        return [*turns, ("user", given)]
    for item in given if isinstance(given, list) else []:
        kind = item.get("type") or "message"
        if kind == "message":
            turns.append((str(item.get("role", "")), text_of(item.get("content"))))
        elif kind == "function_call":
            turns.append(("assistant", ""))
        elif kind == "function_call_output":
            turns.append(("tool", text_of(item.get("output"))))
    return turns


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or parts and blocks of which the texts are joined."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part if isinstance(part, Mapping) else {} for part in content]
    return "".join(text_of(part.get("text") or part.get("content")) for part in parts)


def _thinking_off(path: str, fields: Fields) -> bool:
    if path in STREAMS_BY_DEFAULT:
        return fields.get("think") is False
    if path == "/v1/messages":
        return bool(_mapping(fields.get("thinking")).get("type") == "disabled")
    effort = _mapping(fields.get("reasoning")).get("effort") or fields.get("reasoning_effort")
    return bool(effort == "none") and path != "/v1/completions"


def _limit(path: str, fields: Fields, options: Fields) -> int | None:
    if path in STREAMS_BY_DEFAULT:
        limit = options.get("num_predict")
    elif path == "/v1/responses":
        limit = fields.get("max_output_tokens")
    else:
        limit = fields.get("max_tokens")  # max_completion_tokens is ignored by Ollama
    return limit if isinstance(limit, int) and limit > 0 else None
