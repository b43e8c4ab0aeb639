"""Tool calls in the conversation of a /v1/messages request, and calls that were refused put into it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ollama_guard.history import Call, Result, Round, Said
from ollama_guard.wire.dialect import Refused
from ollama_guard.wire.jsontext import loads
from ollama_guard.wire.peek import Payload, part, string

_REMINDER = ("<system-reminder>", "</system-reminder>")
"""Claude Code puts such texts beside tool results on its own; the user has said nothing then."""


def rounds(messages: Sequence[Any]) -> Iterator[Round | Said]:
    """From the end: rounds of calls and what users said, lazily."""
    results: tuple[Result, ...] = ()
    for message in reversed(messages):
        if not isinstance(message, dict):
            continue
        blocks = _blocks(message.get("content"))
        if message.get("role") == "user":
            texts = [string(block, "text") for block in blocks if block.get("type") == "text"]
            came = tuple(_result(block) for block in blocks if block.get("type") == "tool_result")
            results = came + results
            if (said := [text for text in texts if not _reminds(text)]) or not came:
                yield Said("\n".join(said))
        elif calls := tuple(_call(block) for block in blocks if block.get("type") == "tool_use"):
            yield Round(calls, results)
            results = ()


def refused(calls: Iterable[Refused]) -> list[dict[str, Any]]:
    """Each call as an assistant turn, with its refusal as a result that is an error."""
    turns: list[dict[str, Any]] = []
    for number, each in enumerate(calls):
        ident, given = each.call.id or f"toolu_refused_{number}", each.call.arguments
        if isinstance(given, str):
            given = loads(given.encode("utf-8", "surrogatepass"))
        call = {
            "type": "tool_use",
            "id": ident,
            "name": each.call.name,
            "input": given if isinstance(given, dict) else {},
        }
        result = {"type": "tool_result", "tool_use_id": ident, "content": each.message, "is_error": True}
        turns += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return turns


def _blocks(content: Any) -> list[Payload]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _reminds(text: str) -> bool:
    text = text.strip()
    return text.startswith(_REMINDER[0]) and text.endswith(_REMINDER[1])


def _call(block: Payload) -> Call:
    return Call(string(block, "name"), block.get("input"), string(block, "id"))


def _result(block: Payload) -> Result:
    inner = _blocks(block.get("content"))
    sources = [part(each, "source") for each in inner if each.get("type") == "image"]
    return Result(
        "\n".join(string(each, "text") for each in inner if each.get("type") == "text"),
        tuple(string(source, "data") or string(source, "url") for source in sources),
        block.get("is_error") is True,
        string(block, "tool_use_id"),
    )
