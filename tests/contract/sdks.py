"""What the real SDKs make of an answer: each door asks one question and says what it heard, or how it failed.

    heard = DOORS["openai chat helper"].ask(clients, Question("mock:healthy"))
    assert heard.content == HEALTHY_ANSWER and heard.fault is None

The text is what the SDK itself has put together (final message, final response) wherever it does that.
"""

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping
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

_BROKEN = ("RemoteProtocolError", "ReadError", "APIConnectionError")
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
        self.openai = openai.OpenAI(
            base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=HARD_LIMIT
        )
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
        self.ollama.close()
        self.runner.run(self._close_async())

    async def _close_async(self) -> None:
        await self.openai_async.close()
        await self.anthropic_async.close()
        await self.ollama_async.close()


Reader = Callable[[Clients, Question, Heard], None]


@dataclass(frozen=True)
class Door:
    """One way to ask through an SDK. `whole`: not streamed."""

    name: str
    path: str
    whole: bool
    read: Reader

    def ask(self, clients: Clients, question: Question) -> Heard:
        """Ask; whatever the SDK raises is in `fault`."""
        heard = Heard()
        try:
            self.read(clients, question, heard)
        except Exception as error:
            heard.fault = _fault(error)
        return heard


def _fault(error: Exception) -> Fault:
    if isinstance(error, openai.APIStatusError | anthropic.APIStatusError):
        how = "told" if error.status_code == 200 else "status"
        return Fault(how, error.status_code, _kind(error.body), str(error))
    if isinstance(error, ollama.ResponseError):
        how = "told" if error.status_code == -1 else "status"
        return Fault(how, error.status_code, "", error.error)
    seen: BaseException | None = error
    while seen is not None:
        if type(seen).__name__ in _BROKEN:
            return Fault("broken", message=repr(error))
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, openai.APIError):
        return Fault("told", 200, error.type or "", str(error))
    return Fault(type(error).__name__, message=repr(error))


def _kind(body: Any) -> str:
    """The type of an error object: the SDKs give it bare, or in its envelope, or in two."""
    while isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    return str(body.get("type") or "") if isinstance(body, Mapping) else ""


# --- what is asked ------------------------------------------------------------------------------------------

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


# --- openai -------------------------------------------------------------------------------------------------

_USAGE = {"include_usage": True}


class _ChatChunks:
    """Joins the chunks as every plain loop over them does."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._calls: dict[int, list[str]] = {}

    def add(self, chunk: Any) -> None:
        heard = self._heard
        heard.model = chunk.model
        if chunk.usage:
            heard.usage = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        for choice in chunk.choices:
            heard.reasoning += getattr(choice.delta, "reasoning", None) or ""
            heard.content += choice.delta.content or ""
            for call in choice.delta.tool_calls or []:
                parts = self._calls.setdefault(call.index, ["", ""])
                parts[0] += call.function.name or ""
                parts[1] += call.function.arguments or ""
            heard.finish = choice.finish_reason or heard.finish
        heard.calls = [(name, _decoded(text)) for name, text in self._calls.values()]


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _chat(clients: Clients, question: Question, heard: Heard) -> None:
    chunks = _ChatChunks(heard)
    for chunk in clients.openai.chat.completions.create(
        **fields(CHAT, question), stream=True, stream_options=_USAGE
    ):
        chunks.add(chunk)


def _chat_async(clients: Clients, question: Question, heard: Heard) -> None:
    async def run() -> None:
        chunks = _ChatChunks(heard)
        async for chunk in await clients.openai_async.chat.completions.create(
            **fields(CHAT, question), stream=True, stream_options=_USAGE
        ):
            chunks.add(chunk)

    clients.runner.run(run())


def _completion(final: Any, heard: Heard) -> None:
    choice = final.choices[0]
    heard.model, heard.finish = final.model, choice.finish_reason
    heard.content = choice.message.content or ""
    heard.reasoning = getattr(choice.message, "reasoning", None) or ""
    heard.calls = [
        (call.function.name, _decoded(call.function.arguments)) for call in choice.message.tool_calls or []
    ]
    heard.usage = (final.usage.prompt_tokens, final.usage.completion_tokens)


def _chat_helper(clients: Clients, question: Question, heard: Heard) -> None:
    with clients.openai.chat.completions.stream(**fields(CHAT, question), stream_options=_USAGE) as stream:
        for _ in stream:
            pass
        _completion(stream.get_final_completion(), heard)


def _chat_whole(clients: Clients, question: Question, heard: Heard) -> None:
    _completion(clients.openai.chat.completions.create(**fields(CHAT, question)), heard)


def _completions(clients: Clients, question: Question, heard: Heard) -> None:
    for chunk in clients.openai.completions.create(
        **fields(COMPLETIONS, question), stream=True, stream_options=_USAGE
    ):
        heard.model = chunk.model
        for choice in chunk.choices:
            heard.content += choice.text
            heard.finish = choice.finish_reason or heard.finish
        if chunk.usage and chunk.usage.total_tokens:
            heard.usage = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens)


def _completions_whole(clients: Clients, question: Question, heard: Heard) -> None:
    final = clients.openai.completions.create(**fields(COMPLETIONS, question))
    heard.model, heard.content = final.model, final.choices[0].text
    heard.finish = final.choices[0].finish_reason
    heard.usage = (final.usage.prompt_tokens, final.usage.completion_tokens)


def _response(final: Any, heard: Heard) -> None:
    heard.model, heard.finish, heard.content = final.model, final.status, final.output_text
    for item in final.output:
        if item.type == "reasoning":
            heard.reasoning += "".join(part.text for part in item.summary)
        elif item.type == "function_call":
            heard.calls.append((item.name, _decoded(item.arguments)))
    if final.usage:
        heard.usage = (final.usage.input_tokens, final.usage.output_tokens)


def _response_failed(final: Any, heard: Heard) -> None:
    heard.fault = Fault("told", 200, final.error.code, final.error.message)


def _responses(clients: Clients, question: Question, heard: Heard) -> None:
    """Text by its deltas, as a client that shows it while it comes; the rest from the last event."""
    said = thought = ""
    for event in clients.openai.responses.create(**fields(RESPONSES, question), stream=True):
        if event.type == "response.output_text.delta":
            said += event.delta
        elif event.type == "response.reasoning_summary_text.delta":
            thought += event.delta
        elif event.type == "response.completed":
            _response(event.response, heard)
        elif event.type == "response.failed":
            _response_failed(event.response, heard)
    heard.content, heard.reasoning = said, thought


def _responses_helper(clients: Clients, question: Question, heard: Heard) -> None:
    with clients.openai.responses.stream(**fields(RESPONSES, question)) as stream:
        for event in stream:
            if event.type == "response.failed":
                _response_failed(event.response, heard)
                return
        _response(stream.get_final_response(), heard)


def _responses_whole(clients: Clients, question: Question, heard: Heard) -> None:
    _response(clients.openai.responses.create(**fields(RESPONSES, question)), heard)


# --- anthropic ----------------------------------------------------------------------------------------------


def _message(final: Any, heard: Heard) -> None:
    heard.model, heard.finish = final.model, final.stop_reason
    for block in final.content:
        if block.type == "thinking":
            heard.reasoning += block.thinking
        elif block.type == "text":
            heard.content += block.text
        else:
            heard.calls.append((block.name, block.input))
    heard.usage = (final.usage.input_tokens, final.usage.output_tokens)


def _messages_helper(clients: Clients, question: Question, heard: Heard) -> None:
    with clients.anthropic.messages.stream(**fields(MESSAGES, question)) as stream:
        _message(stream.get_final_message(), heard)


def _messages_helper_async(clients: Clients, question: Question, heard: Heard) -> None:
    async def run() -> None:
        async with clients.anthropic_async.messages.stream(**fields(MESSAGES, question)) as stream:
            _message(await stream.get_final_message(), heard)

    clients.runner.run(run())


def _messages(clients: Clients, question: Question, heard: Heard) -> None:
    """The bare events, joined by block index, as clients do that do not use the helper."""
    calls: dict[int, list[str]] = {}
    for event in clients.anthropic.messages.create(**fields(MESSAGES, question), stream=True):
        if event.type == "message_start":
            heard.model = event.message.model
        elif event.type == "content_block_start" and event.content_block.type == "tool_use":
            calls[event.index] = [event.content_block.name, ""]
        elif event.type == "content_block_delta":
            heard.reasoning += getattr(event.delta, "thinking", "")
            heard.content += getattr(event.delta, "text", "")
            if event.delta.type == "input_json_delta":
                calls[event.index][1] += event.delta.partial_json
        elif event.type == "message_delta":
            heard.finish = event.delta.stop_reason
            heard.usage = (event.usage.input_tokens or 0, event.usage.output_tokens)
    heard.calls = [(name, _decoded(text)) for name, text in calls.values()]


def _messages_whole(clients: Clients, question: Question, heard: Heard) -> None:
    _message(clients.anthropic.messages.create(**fields(MESSAGES, question)), heard)


# --- ollama -------------------------------------------------------------------------------------------------


def _part(part: Any, heard: Heard) -> None:
    heard.model = part.model
    box = part if hasattr(part, "response") else part.message
    heard.reasoning += box.thinking or ""
    heard.content += (part.response if box is part else box.content) or ""
    for call in getattr(box, "tool_calls", None) or []:
        heard.calls.append((call.function.name, dict(call.function.arguments)))
    if part.done:
        heard.finish = part.done_reason
        heard.usage = (part.prompt_eval_count or 0, part.eval_count or 0)


def _ollama(path: str, *, whole: bool) -> Reader:
    def read(clients: Clients, question: Question, heard: Heard) -> None:
        asked = clients.ollama.chat if path == NATIVE_CHAT else clients.ollama.generate
        answer = asked(**fields(path, question), stream=not whole)
        for part in [answer] if whole else answer:
            _part(part, heard)

    return read


def _ollama_async(path: str) -> Reader:
    def read(clients: Clients, question: Question, heard: Heard) -> None:
        async def run() -> None:
            client = clients.ollama_async
            asked = client.chat if path == NATIVE_CHAT else client.generate
            async for part in await asked(**fields(path, question), stream=True):
                _part(part, heard)

        clients.runner.run(run())

    return read


def _doors() -> dict[str, Door]:
    found = [
        Door("openai chat", CHAT, False, _chat),
        Door("openai chat async", CHAT, False, _chat_async),
        Door("openai chat helper", CHAT, False, _chat_helper),
        Door("openai chat whole", CHAT, True, _chat_whole),
        Door("openai completions", COMPLETIONS, False, _completions),
        Door("openai completions whole", COMPLETIONS, True, _completions_whole),
        Door("openai responses", RESPONSES, False, _responses),
        Door("openai responses helper", RESPONSES, False, _responses_helper),
        Door("openai responses whole", RESPONSES, True, _responses_whole),
        Door("anthropic messages", MESSAGES, False, _messages),
        Door("anthropic messages helper", MESSAGES, False, _messages_helper),
        Door("anthropic messages helper async", MESSAGES, False, _messages_helper_async),
        Door("anthropic messages whole", MESSAGES, True, _messages_whole),
        Door("ollama chat", NATIVE_CHAT, False, _ollama(NATIVE_CHAT, whole=False)),
        Door("ollama chat async", NATIVE_CHAT, False, _ollama_async(NATIVE_CHAT)),
        Door("ollama chat whole", NATIVE_CHAT, True, _ollama(NATIVE_CHAT, whole=True)),
        Door("ollama generate", NATIVE_GENERATE, False, _ollama(NATIVE_GENERATE, whole=False)),
        Door("ollama generate async", NATIVE_GENERATE, False, _ollama_async(NATIVE_GENERATE)),
        Door("ollama generate whole", NATIVE_GENERATE, True, _ollama(NATIVE_GENERATE, whole=True)),
    ]
    return {door.name: door for door in found}


DOORS = _doors()
