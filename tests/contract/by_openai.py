"""The openai SDK: chat, completions and responses; plain loops, its own helpers, and one body."""

from typing import Any

from tests.contract.asking import (
    CHAT,
    COMPLETIONS,
    RESPONSES,
    Clients,
    Fault,
    Heard,
    Question,
    decoded,
    fields,
)

_USAGE: Any = {"include_usage": True}


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
        heard.calls = [(name, decoded(text)) for name, text in self._calls.values()]


def chat(clients: Clients, question: Question, heard: Heard) -> None:
    chunks = _ChatChunks(heard)
    for chunk in clients.openai.chat.completions.create(
        **fields(CHAT, question), stream=True, stream_options=_USAGE
    ):
        chunks.add(chunk)


def chat_async(clients: Clients, question: Question, heard: Heard) -> None:
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
        (call.function.name, decoded(call.function.arguments)) for call in choice.message.tool_calls or []
    ]
    heard.usage = (final.usage.prompt_tokens, final.usage.completion_tokens)


def chat_helper(clients: Clients, question: Question, heard: Heard) -> None:
    with clients.openai.chat.completions.stream(**fields(CHAT, question), stream_options=_USAGE) as stream:
        for _ in stream:
            pass
        _completion(stream.get_final_completion(), heard)


def chat_whole(clients: Clients, question: Question, heard: Heard) -> None:
    _completion(clients.openai.chat.completions.create(**fields(CHAT, question)), heard)


def completions(clients: Clients, question: Question, heard: Heard) -> None:
    for chunk in clients.openai.completions.create(
        **fields(COMPLETIONS, question), stream=True, stream_options=_USAGE
    ):
        heard.model = chunk.model
        for choice in chunk.choices:
            heard.content += choice.text
            heard.finish = choice.finish_reason or heard.finish
        if chunk.usage and chunk.usage.total_tokens:
            heard.usage = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens)


def completions_whole(clients: Clients, question: Question, heard: Heard) -> None:
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
            heard.calls.append((item.name, decoded(item.arguments)))
    if final.usage:
        heard.usage = (final.usage.input_tokens, final.usage.output_tokens)


def _response_failed(final: Any, heard: Heard) -> None:
    heard.fault = Fault("told", 200, final.error.code, final.error.message)


def responses(clients: Clients, question: Question, heard: Heard) -> None:
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


def responses_helper(clients: Clients, question: Question, heard: Heard) -> None:
    with clients.openai.responses.stream(**fields(RESPONSES, question)) as stream:
        for event in stream:
            if event.type == "response.failed":
                _response_failed(event.response, heard)
                return
        _response(stream.get_final_response(), heard)


def responses_whole(clients: Clients, question: Question, heard: Heard) -> None:
    _response(clients.openai.responses.create(**fields(RESPONSES, question)), heard)
