"""The anthropic SDK: its helper, bare events, and one body."""

from typing import Any

from tests.contract.asking import MESSAGES, Clients, Heard, Question, decoded, fields


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


def messages_helper(clients: Clients, question: Question, heard: Heard) -> None:
    with clients.anthropic.messages.stream(**fields(MESSAGES, question)) as stream:
        _message(stream.get_final_message(), heard)


def messages_helper_async(clients: Clients, question: Question, heard: Heard) -> None:
    async def run() -> None:
        async with clients.anthropic_async.messages.stream(**fields(MESSAGES, question)) as stream:
            _message(await stream.get_final_message(), heard)

    clients.runner.run(run())


def messages(clients: Clients, question: Question, heard: Heard) -> None:
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
    heard.calls = [(name, decoded(text)) for name, text in calls.values()]


def messages_whole(clients: Clients, question: Question, heard: Heard) -> None:
    _message(clients.anthropic.messages.create(**fields(MESSAGES, question)), heard)
