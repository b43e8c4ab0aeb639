"""A question in no dialect, how each dialect puts it, and what is heard in answer."""

import asyncio
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anthropic
import ollama
import openai

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
RESPONSES, MESSAGES = "/v1/responses", "/v1/messages"
NATIVE_CHAT, NATIVE_GENERATE = "/api/chat", "/api/generate"
PATHS = (CHAT, COMPLETIONS, RESPONSES, MESSAGES, NATIVE_CHAT, NATIVE_GENERATE)
WITH_TOOLS = (CHAT, RESPONSES, MESSAGES, NATIVE_CHAT)

HARD_LIMIT = 60.0
"""Seconds of silence after which an SDK gives up; a test that gets there hangs, and fails."""

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Fault:
    """How an SDK says that it got no answer.

    how:  "status" (an HTTP error), "told" (an error inside a stream), "broken" (the connection broke off),
          else the name of an exception that no test expects. kind: the error's type, where the SDK has one.
    """

    how: str
    status: int = 0
    kind: str = ""
    message: str = ""


@dataclass
class Heard:
    """One answer as an SDK gives it. `model` and `identity` as the SDK reports them."""

    reasoning: str = ""
    content: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    finish: str | None = None
    usage: tuple[int, int] | None = None
    model: str = ""
    fault: Fault | None = None


@dataclass(frozen=True)
class Question:
    """A request in no dialect. `text` is new each time: the mock counts attempts by it."""

    model: str
    tools: bool = False
    limit: int | None = None
    text: str = field(default_factory=lambda: f"Why is the sky blue? ({next(_numbers)})")


class Clients:
    """The SDKs' clients for one server, made when they are first needed."""

    def __init__(self, url: str, runner: asyncio.Runner) -> None:
        self.runner = runner
        self.openai = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=HARD_LIMIT)
        self.openai_async = openai.AsyncOpenAI(
            base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=HARD_LIMIT
        )
        self.anthropic = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, timeout=HARD_LIMIT)
        self.anthropic_async = anthropic.AsyncAnthropic(
            base_url=url, api_key="none", max_retries=0, timeout=HARD_LIMIT
        )
        self.ollama = ollama.Client(host=url, timeout=HARD_LIMIT)
        self.ollama_async = ollama.AsyncClient(host=url, timeout=HARD_LIMIT)

    def close(self) -> None:
        """Close every connection."""
        self.openai.close()
        self.anthropic.close()
        self.ollama.close()  # type: ignore[no-untyped-call]
        self.runner.run(self._close_async())

    async def _close_async(self) -> None:
        await self.openai_async.close()
        await self.anthropic_async.close()
        await self.ollama_async.close()  # type: ignore[no-untyped-call]


Reader = Callable[[Clients, Question, Heard], None]


_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
_FUNCTIONS = [{"type": "function", "function": {"name": "read_file", "parameters": _SCHEMA}}]


def fields(path: str, question: Question) -> dict[str, Any]:
    """The question in a dialect's own form, `stream` left out."""
    said: dict[str, Any] = {"model": question.model}
    if path in (COMPLETIONS, NATIVE_GENERATE):
        said["prompt"] = question.text
    elif path == RESPONSES:
        said["input"] = question.text
    else:
        said["messages"] = [{"role": "user", "content": question.text}]
    if question.tools and path in WITH_TOOLS:
        said["tools"] = _tools(path)
    said |= _limited(path, question.limit)
    return said


def _tools(path: str) -> list[dict[str, Any]]:
    if path == RESPONSES:
        return [{"type": "function", "name": "read_file", "parameters": _SCHEMA, "strict": False}]
    if path == MESSAGES:
        return [{"name": "read_file", "input_schema": _SCHEMA}]
    return _FUNCTIONS


def _limited(path: str, limit: int | None) -> dict[str, Any]:
    if path == MESSAGES:
        return {"max_tokens": limit or 1000}
    if limit is None:
        return {}
    if path == RESPONSES:
        return {"max_output_tokens": limit}
    return {"options": {"num_predict": limit}} if path.startswith("/api/") else {"max_tokens": limit}


def decoded(text: str) -> Any:
    """The arguments of a call; the text itself where it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text
