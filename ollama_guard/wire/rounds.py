"""A chat's tool calls: read from its history, and written into it for calls that were refused.

OpenAI's and Ollama's own form differ in two things: arguments are JSON text or an object, and a result names
its call by `tool_call_id` or by `tool_name`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ollama_guard.history import Call, Result, Round, Said
from ollama_guard.wire import jsontext
from ollama_guard.wire.asked import texts
from ollama_guard.wire.dialect import Refused
from ollama_guard.wire.toolcalls import argument_text, complete


def rounds(messages: Sequence[Any]) -> Iterator[Round | Said]:
    """The conversation from its end: rounds of calls with their results, and what the user said."""
    results: list[Result] = []
    for message in reversed(messages):
        if not isinstance(message, dict):
            continue
        role = message.get("role")
        if role == "tool":
            results.append(_result(message))
        elif role == "user":
            yield Said("\n".join(texts(message.get("content"))))
        elif role == "assistant":
            if calls := tuple(_calls(message)):
                yield Round(calls, tuple(reversed(results)))
            results = []


def openai_turns(refused: Sequence[Refused]) -> list[dict[str, Any]]:
    """Assistant turn and result of each refused call, as OpenAI has them."""
    out: list[dict[str, Any]] = []
    for number, each in enumerate(refused):
        ident = each.call.id or f"call_refused{number}"
        arguments = argument_text(each.call.arguments)
        function = {"name": each.call.name, "arguments": arguments if complete(arguments) else "{}"}
        call = {"id": ident, "type": "function", "function": function}
        out.append({"role": "assistant", "content": "", "tool_calls": [call]})
        out.append({"role": "tool", "tool_call_id": ident, "content": each.message})
    return out


def ollama_turns(refused: Sequence[Refused]) -> list[dict[str, Any]]:
    """The same as Ollama has them."""
    out: list[dict[str, Any]] = []
    for each in refused:
        arguments = each.call.arguments
        if isinstance(arguments, str):
            arguments = jsontext.loads(arguments.encode("utf-8", "surrogatepass"))
        function = {"name": each.call.name, "arguments": arguments if isinstance(arguments, dict) else {}}
        named = {"id": each.call.id} if each.call.id else {}
        answers = {"tool_call_id": each.call.id} if each.call.id else {}
        out.append({"role": "assistant", "content": "", "tool_calls": [{**named, "function": function}]})
        out.append({"role": "tool", "tool_name": each.call.name, **answers, "content": each.message})
    return out


def _calls(message: Mapping[str, Any]) -> Iterator[Call]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            yield Call(function["name"], function.get("arguments"), _string(call.get("id")))


def _result(message: Mapping[str, Any]) -> Result:
    content, images = message.get("content"), message.get("images")
    shown = [image for image in images if isinstance(image, str)] if isinstance(images, list) else []
    for part in content if isinstance(content, list) else ():
        url = part.get("image_url") if isinstance(part, dict) else None
        url = url.get("url") if isinstance(url, dict) else url
        if isinstance(url, str):
            shown.append(url)
    return Result("\n".join(texts(content)), tuple(shown), id=_string(message.get("tool_call_id")))


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
