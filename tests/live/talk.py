"""What the real SDKs make of a stream: each asks one question, and tells what it heard and how it ended.

heard = CLIENTS["openai"](guard.url, "mock:loop-reasoning")
assert heard.content == HEALTHY_ANSWER and heard.error is None
"""

import asyncio
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ollama
import openai

from mocks import script as scripts

_numbers = itertools.count(1)
PATH = {"openai": "/v1/chat/completions", "ollama": "/api/chat"}
HARD_LIMIT = 60.0
"""Seconds of silence after which an SDK gives up; a test that gets there hangs, and fails."""


@dataclass
class Heard:
    """One streamed answer as an SDK gives it. `error` is what the SDK raised, or None."""

    reasoning: str = ""
    content: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    finish: list[str] = field(default_factory=list)
    completion_tokens: int = 0
    error: BaseException | None = None
    _arguments: dict[int, list[str]] = field(default_factory=dict)

    @property
    def network_error(self) -> bool:
        """Whether the SDK saw the connection break inside the body, and not an error that was told."""
        seen: BaseException | None = self.error
        while seen is not None:
            if type(seen).__name__ in ("RemoteProtocolError", "ReadError", "APIConnectionError"):
                return True
            seen = seen.__cause__ or seen.__context__
        return False

    @property
    def told(self) -> str:
        """The text of an error that the SDK was told in the stream or by status; "" if there was none."""
        if isinstance(self.error, openai.APIError) and not isinstance(self.error, openai.APIConnectionError):
            return f"{self.error} {json.dumps(self.error.body)}"
        return str(self.error) if isinstance(self.error, ollama.ResponseError) else ""

    def openai_chunk(self, chunk: Any) -> None:
        if chunk.usage:
            self.completion_tokens = chunk.usage.completion_tokens
        for choice in chunk.choices:
            self.reasoning += getattr(choice.delta, "reasoning", None) or ""
            self.content += choice.delta.content or ""
            for call in choice.delta.tool_calls or []:
                parts = self._arguments.setdefault(call.index, ["", ""])
                parts[0] += call.function.name or ""
                parts[1] += call.function.arguments or ""
            if choice.finish_reason:
                self.finish.append(choice.finish_reason)
        if self.finish:
            self.calls = [(name, json.loads(text)) for name, text in self._arguments.values()]

    def ollama_chunk(self, chunk: Any) -> None:
        self.reasoning += chunk.message.thinking or ""
        self.content += chunk.message.content or ""
        for call in chunk.message.tool_calls or []:
            self.calls.append((call.function.name, dict(call.function.arguments)))
        if chunk.done:
            self.finish.append(chunk.done_reason)
            self.completion_tokens = chunk.eval_count or 0


def question() -> list[dict[str, str]]:
    """A conversation that no other test has: the mock counts attempts by the first user message."""
    return [{"role": "user", "content": f"Why is the sky blue? ({next(_numbers)})"}]


def body(model: str, **more: Any) -> dict[str, Any]:
    """A streaming request, good for both dialects."""
    return {"model": model, "stream": True, "messages": question(), **more}


def _openai_fields(model: str, more: dict[str, Any]) -> dict[str, Any]:
    usage = {"include_usage": True}
    return {"model": model, "messages": question(), "stream": True, "stream_options": usage, **more}


def ask_openai(url: str, model: str, **more: Any) -> Heard:
    heard = Heard()
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=HARD_LIMIT) as client:
        try:
            for chunk in client.chat.completions.create(**_openai_fields(model, more)):
                heard.openai_chunk(chunk)
        except Exception as error:
            heard.error = error
    return heard


async def _openai_async(url: str, model: str, more: dict[str, Any]) -> Heard:
    heard = Heard()
    async with openai.AsyncOpenAI(
        base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=HARD_LIMIT
    ) as client:
        try:
            async for chunk in await client.chat.completions.create(**_openai_fields(model, more)):
                heard.openai_chunk(chunk)
        except Exception as error:
            heard.error = error
    return heard


def ask_openai_async(url: str, model: str, **more: Any) -> Heard:
    return asyncio.run(_openai_async(url, model, more))


def ask_ollama(url: str, model: str, **more: Any) -> Heard:
    heard = Heard()
    with ollama.Client(host=url, timeout=HARD_LIMIT) as client:
        try:
            for chunk in client.chat(model=model, messages=question(), stream=True, **more):
                heard.ollama_chunk(chunk)
        except Exception as error:
            heard.error = error
    return heard


async def _ollama_async(url: str, model: str, more: dict[str, Any]) -> Heard:
    heard = Heard()
    async with ollama.AsyncClient(host=url, timeout=HARD_LIMIT) as client:
        try:
            async for chunk in await client.chat(model=model, messages=question(), stream=True, **more):
                heard.ollama_chunk(chunk)
        except Exception as error:
            heard.error = error
    return heard


def ask_ollama_async(url: str, model: str, **more: Any) -> Heard:
    return asyncio.run(_ollama_async(url, model, more))


Asker = Callable[..., Heard]
CLIENTS: dict[str, Asker] = {
    "openai": ask_openai,
    "openai-async": ask_openai_async,
    "ollama": ask_ollama,
    "ollama-async": ask_ollama_async,
}
ONE_OF_EACH: dict[str, Asker] = {"openai": ask_openai, "ollama": ask_ollama}


def text_of(name: str, kind: str) -> str:
    """What a mock script writes under `think` or `say`, in one piece."""
    steps = scripts.load_folder()[name].steps
    return "".join(step.value for step in steps if step.kind == kind and isinstance(step.value, str))


HEALTHY_REASONING = text_of("healthy", "think")
HEALTHY_ANSWER = text_of("healthy", "say")
