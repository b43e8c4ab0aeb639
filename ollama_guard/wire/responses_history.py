"""Tool calls in the input of a /v1/responses request, and calls that were refused put into it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ollama_guard.history import Call, Result, Round, Said
from ollama_guard.wire.dialect import Refused
from ollama_guard.wire.peek import Payload, string
from ollama_guard.wire.responses_items import CALLS
from ollama_guard.wire.toolcalls import argument_text

_RESULTS = frozenset(f"{kind}_output" for kind in CALLS)


def rounds(items: Sequence[Any]) -> Iterator[Round | Said]:
    """From the end: rounds of calls and what users said, lazily. Calls with nothing between are one turn."""
    calls: list[Call] = []
    results: list[Result] = []
    for item in reversed(items):
        if not isinstance(item, dict):
            continue
        kind = string(item, "type")
        if kind in CALLS:
            calls.append(Call(string(item, "name"), item.get(CALLS[kind]), string(item, "call_id")))
            continue
        if calls:
            yield Round(tuple(reversed(calls)), tuple(reversed(results)))
            calls, results = [], []
        if kind in _RESULTS:
            results.append(_result(item))
        elif item.get("role") == "user":
            yield Said("\n".join(_texts(item.get("content"))))
    if calls:
        yield Round(tuple(reversed(calls)), tuple(reversed(results)))


def refused(calls: Iterable[Refused]) -> list[dict[str, Any]]:
    """Each call, with its refusal as its output."""
    items: list[dict[str, Any]] = []
    for number, each in enumerate(calls):
        ident = each.call.id or f"call_refused_{number}"
        arguments = argument_text(each.call.arguments) or "{}"
        call = {"type": "function_call", "call_id": ident, "name": each.call.name, "arguments": arguments}
        items += [call, {"type": "function_call_output", "call_id": ident, "output": each.message}]
    return items


def _result(item: Payload) -> Result:
    output = item.get("output")
    images = (
        [string(each, "image_url") for each in output if _is(each, "input_image")]
        if isinstance(output, list)
        else []
    )
    return Result("\n".join(_texts(output)), tuple(images), id=string(item, "call_id"))


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [string(each, "text") for each in content if isinstance(each, dict) and "text" in each]


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, dict) and value.get("type") == kind
