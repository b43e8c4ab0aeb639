"""POST /v1/responses, OpenAI's Responses API as Ollama serves it: requests, re-issues and error bodies.

The stream itself is in `responses_stream.py`. Upstream source: ollama openai/responses.go. What is kept on
a server (`previous_response_id`, `conversation`) Ollama has not, so that such a request is relayed.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ollama_guard.history import Round, Said
from ollama_guard.wire import jsontext, reissue, responses_history
from ollama_guard.wire.asked import named, user_text
from ollama_guard.wire.dialect import Reissue, Request
from ollama_guard.wire.frame import Framing
from ollama_guard.wire.openai_chunks import failure
from ollama_guard.wire.peek import part, string
from ollama_guard.wire.responses_stream import ResponsesSession

_SAMPLERS = ("temperature", "top_p")  # Ollama reads no other here


class OpenAIResponses:
    """See `ollama_guard.wire.dialect.Dialect`."""

    name = "openai-responses"
    path = "/v1/responses"
    framing = Framing.SSE
    media_type = "text/event-stream"
    single_type = "application/json"

    def request(self, body: bytes) -> Request | None:
        fields = jsontext.loads(body)
        stream = named(fields, stream=False)
        if stream is None or fields is None:
            return None
        given, tools = fields.get("input"), fields.get("tools")
        if not isinstance(given, str | list) or not given:
            return None
        if fields.get("previous_response_id") or fields.get("conversation"):
            return None
        return Request(
            body=body,
            fields=fields,
            model=fields["model"],
            stream=stream,
            tools=isinstance(tools, list) and bool(tools),
            format=part(part(fields, "text"), "format").get("type") in ("json_object", "json_schema"),
            thinking=_thinking(fields),
            prompt=user_text(_items(given)),
        )

    def session(self, request: Request, *, at: float = 0.0) -> ResponsesSession:
        """`at`: wall clock, seconds since 1970, for a `response.created` of the guard's own."""
        return ResponsesSession(request, at)

    def history(self, request: Request) -> Iterator[Round | Said]:
        return responses_history.rounds(_items(request.fields["input"]))

    def rebuild(self, request: Request, plan: Reissue) -> bytes:
        fields = dict(request.fields)
        fields["stream"] = True
        if plan.model is not None:
            fields["model"] = plan.model
        items = _items(fields["input"])
        turns = reissue.conversation([*items, *responses_history.refused(plan.refused)], plan)
        if turns != items:
            fields["input"] = turns
        if plan.no_think:
            effort = "low" if reissue.always_thinks(fields["model"]) else "none"
            fields["reasoning"] = {**part(fields, "reasoning"), "effort": effort}
        fields |= reissue.samplers(plan.sampler, _SAMPLERS)
        if "max_output_tokens" in fields:
            fields["max_output_tokens"] = reissue.tokens(fields["max_output_tokens"], plan)
        return reissue.body(request, fields)

    def failure(self, status: int, kind: str, message: str) -> bytes:  # noqa: ARG002  the caller sends the status
        return failure(kind, message)


def _items(given: Any) -> list[Any]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _thinking(fields: Mapping[str, Any]) -> bool | None:
    effort = string(part(fields, "reasoning"), "effort")
    return effort != "none" if effort else None
