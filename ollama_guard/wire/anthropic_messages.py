"""POST /v1/messages, the Anthropic API as Ollama serves it: requests, re-issues and error bodies.

The stream itself is in `anthropic_stream.py`. Upstream source: ollama anthropic/anthropic.go. What Ollama
ignores there (`tool_choice`, `cache_control`, `metadata`, ...) is passed on untouched in every re-issue.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ollama_guard.history import Round, Said
from ollama_guard.wire import anthropic_history, jsontext, reissue
from ollama_guard.wire.anthropic_stream import MessagesSession
from ollama_guard.wire.asked import named, user_text
from ollama_guard.wire.dialect import Reissue, Request
from ollama_guard.wire.frame import Framing
from ollama_guard.wire.peek import part

_SAMPLERS = ("temperature", "top_p")  # there is no seed and no penalty on this route


class AnthropicMessages:
    """See `ollama_guard.wire.dialect.Dialect`."""

    name = "anthropic-messages"
    path = "/v1/messages"
    framing = Framing.SSE
    media_type = "text/event-stream"
    single_type = "application/json"

    def request(self, body: bytes) -> Request | None:
        fields = jsontext.loads(body)
        stream = named(fields, stream=False)
        if stream is None or fields is None:
            return None
        messages, tools = fields.get("messages"), fields.get("tools")
        if not isinstance(messages, list) or not messages:
            return None
        return Request(
            body=body,
            fields=fields,
            model=fields["model"],
            stream=stream,
            tools=isinstance(tools, list) and bool(tools),
            thinking=_thinking(fields),
            prompt=user_text(messages),
        )

    def session(self, request: Request, *, at: float = 0.0) -> MessagesSession:  # noqa: ARG002  see below
        """A message carries no time, so that the wall clock (`at`) is of no use here."""
        return MessagesSession(request)

    def history(self, request: Request) -> Iterator[Round | Said]:
        return anthropic_history.rounds(request.fields["messages"])

    def rebuild(self, request: Request, plan: Reissue) -> bytes:
        fields = dict(request.fields)
        fields["stream"] = True
        if plan.model is not None:
            fields["model"] = plan.model
        fields["messages"] = _messages(fields["messages"], plan)
        if plan.no_think:
            fields |= _quiet(fields)
        fields |= reissue.samplers(plan.sampler, _SAMPLERS)
        if "max_tokens" in fields:
            fields["max_tokens"] = reissue.tokens(fields["max_tokens"], plan)
        return reissue.body(request, fields)

    def failure(self, status: int, kind: str, message: str) -> bytes:  # noqa: ARG002  the caller sends the status
        """Anthropic's form, but for its `request_id`: nobody could look it up."""
        return jsontext.dumps({"type": "error", "error": {"type": kind, "message": message}})


def _thinking(fields: Mapping[str, Any]) -> bool | None:
    # As Ollama decides: `thinking` when it is one of the two it knows, else the effort.
    match part(fields, "thinking").get("type"):
        case "enabled":
            return True
        case "disabled":
            return False
    return True if part(fields, "output_config").get("effort") else None


def _messages(messages: Sequence[Any], plan: Reissue) -> list[Any]:
    result = [*messages, *anthropic_history.refused(plan.refused)]
    # Anthropic refuses an assistant turn that ends in white space, and Ollama's renderers trim it.
    partial = plan.partial.rstrip()
    if partial:
        result = _said(result, "assistant", partial, joint="")
    if plan.steer is not None and not plan.prefill:
        result = _said(result, "user", plan.steer, joint="\n\n")
    return result


def _said(messages: list[Any], role: str, text: str, *, joint: str) -> list[Any]:
    """Let `role` say `text` at the end: in its last message, for templates that want roles to alternate.

    After tool results it is a message of its own: Ollama renders the results as messages of role `tool`, and
    versions differ in whether the text beside them goes before or after.
    """
    last = messages[-1] if messages else None
    if not isinstance(last, dict) or last.get("role") != role:
        return [*messages, {"role": role, "content": text}]
    content = last.get("content")
    if isinstance(content, str):
        return [*messages[:-1], {**last, "content": content + joint + text}]
    if isinstance(content, list) and not any(_kind(block) == "tool_result" for block in content):
        if any(_kind(block) == "tool_use" for block in content):
            return [*messages, {"role": role, "content": text}]
        # Ollama joins text blocks with nothing between them, hence the joint.
        return [*messages[:-1], {**last, "content": [*content, {"type": "text", "text": joint + text}]}]
    return [*messages, {"role": role, "content": text}]


def _kind(block: Any) -> Any:
    return block.get("type") if isinstance(block, dict) else None


def _quiet(fields: Mapping[str, Any]) -> dict[str, Any]:
    if not reissue.always_thinks(fields["model"]):
        return {"thinking": {"type": "disabled"}}
    effort = {"output_config": {**part(fields, "output_config"), "effort": "low"}}
    # The effort counts only where `thinking` is neither enabled nor disabled.
    return {**effort, "thinking": {"type": "adaptive"}} if "thinking" in fields else effort
