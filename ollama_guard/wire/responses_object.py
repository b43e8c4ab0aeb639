"""The response object of the Responses API, which its first and last events carry whole.

Fields and defaults are those that Ollama writes (ollama openai/responses.go, `buildResponseObject`).
"""

from collections.abc import Iterable
from typing import Any

from ollama_guard.events import Usage
from ollama_guard.wire.dialect import Request
from ollama_guard.wire.peek import Payload, part, string

ITS_OWN = ("status", "completed_at", "output", "usage", "error", "incomplete_details")
"""What an ending says of itself; all else echoes the client's request, and stays as it was first told."""


def begun(request: Request, ident: str, at: int) -> dict[str, Any]:
    """A response in progress, for a stream that we begin ourselves. `at`: seconds since the epoch."""
    fields = request.fields
    echo = {name: fields.get(name) for name in ("instructions", "max_output_tokens", "reasoning")}
    return {
        "id": ident,
        "object": "response",
        "created_at": at,
        "completed_at": None,
        "status": "in_progress",
        "incomplete_details": None,
        "model": request.model,
        "previous_response_id": None,
        "instructions": echo["instructions"],
        "output": [],
        "error": None,
        "tools": fields.get("tools") or [],
        "tool_choice": "auto",
        "truncation": string(fields, "truncation") or "disabled",
        "parallel_tool_calls": True,
        "text": {"format": part(part(fields, "text"), "format") or {"type": "text"}},
        "top_p": _or(fields.get("top_p"), 1.0),
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "top_logprobs": 0,
        "temperature": _or(fields.get("temperature"), 1.0),
        "reasoning": echo["reasoning"],
        "usage": None,
        "max_output_tokens": echo["max_output_tokens"],
        "max_tool_calls": None,
        "store": False,
        "background": False,
        "service_tier": "default",
        "metadata": {},
        "safety_identifier": None,
        "prompt_cache_key": None,
    }


def ended(first: Payload, last: Payload, output: Iterable[Payload]) -> dict[str, Any]:
    """The last telling of a response: who it is from its first telling, how it ended from `last`."""
    told = {name: value for name, value in first.items() if name not in ITS_OWN}
    return {**first, **last, **told, "output": list(output)}


def single(last: Payload, empty: Payload) -> dict[str, Any]:
    """The body of an answer that is not streamed, as Ollama arranges it (openai/responses.go, `ToResponse`):
    reasoning, then the calls, or where there are none a message, `empty` if need be. Other items are kept.
    """
    output: list[Payload] = list(last.get("output") or [])
    kinds = [string(item, "type") for item in output]
    if "function_call" in kinds:
        output = [item for item in output if string(item, "type") != "message"]
    elif "message" not in kinds:
        words = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        output = [*output, {**empty, "status": "completed", "content": [words]}]
    return {**last, "output": output}


def usage(given: Usage, details: Payload) -> dict[str, Any]:
    """The usage object; `details` is the upstream's, whose further fields are kept."""
    return {
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
        **details,
        "input_tokens": given.prompt,
        "output_tokens": given.completion,
        "total_tokens": given.prompt + given.completion,
    }


def _or(value: Any, default: float) -> Any:
    return default if value is None else value
