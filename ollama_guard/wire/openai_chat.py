"""POST /v1/chat/completions: the dialect most clients speak. Streams SSE, ends with `[DONE]`."""

from collections.abc import Iterator
from typing import Any

from ollama_guard.history import Round, Said
from ollama_guard.wire import jsontext, reissue
from ollama_guard.wire.asked import named, user_text
from ollama_guard.wire.dialect import Reissue, Request, Session
from ollama_guard.wire.frame import Framing
from ollama_guard.wire.openai_chunks import Form, failure
from ollama_guard.wire.openai_request import replan
from ollama_guard.wire.openai_stream import OpenAISession
from ollama_guard.wire.rounds import openai_turns, rounds

_FORM = Form("chat.completion.chunk", "chatcmpl-", nested=True, content="content")


class OpenAIChat:
    """See `ollama_guard.wire.dialect.Dialect`."""

    name = "openai-chat"
    path = "/v1/chat/completions"
    framing = Framing.SSE
    media_type = "text/event-stream"
    single_type = "application/json"

    def request(self, body: bytes) -> Request | None:
        fields = jsontext.loads(body)
        stream = named(fields, stream=False)
        if stream is None or fields is None:
            return None
        messages = fields.get("messages")
        if not isinstance(messages, list) or not messages:
            return None
        wanted = fields.get("response_format")
        return Request(
            body=body,
            fields=fields,
            model=fields["model"],
            stream=stream,
            tools=isinstance(fields.get("tools"), list) and bool(fields["tools"]),
            format=isinstance(wanted, dict) and wanted.get("type") in ("json_object", "json_schema"),
            thinking=_thinking(fields),
            prompt=user_text(messages),
        )

    def session(self, request: Request, *, at: float = 0.0) -> Session:
        """`at`: wall clock, seconds since 1970, for chunks of the guard's own before the upstream's first."""
        return OpenAISession(_FORM, request, at)

    def history(self, request: Request) -> Iterator[Round | Said]:
        return rounds(request.fields["messages"])

    def rebuild(self, request: Request, plan: Reissue) -> bytes:
        fields = dict(request.fields)
        fields["messages"] = reissue.conversation([*fields["messages"], *openai_turns(plan.refused)], plan)
        if plan.no_think:
            _quiet(fields, plan.model or request.model)
        return replan(request, fields, plan)

    def failure(self, status: int, kind: str, message: str) -> bytes:  # noqa: ARG002  the caller sends the status
        return failure(kind, message)


def _thinking(fields: dict[str, Any]) -> bool | None:
    reasoning = fields.get("reasoning")
    effort = reasoning.get("effort") if isinstance(reasoning, dict) else None
    effort = effort or fields.get("reasoning_effort")
    return effort != "none" if isinstance(effort, str) and effort else None


def _quiet(fields: dict[str, Any], model: str) -> None:
    effort = "low" if reissue.always_thinks(model) else "none"
    fields["reasoning_effort"] = effort
    if "reasoning" in fields:  # it would win over `reasoning_effort`
        had = fields["reasoning"]
        fields["reasoning"] = {**(had if isinstance(had, dict) else {}), "effort": effort}
