"""POST /api/chat: Ollama's own chat. Streams NDJSON unless told not to, ends with a `"done": true` line."""

from collections.abc import Iterator

from ollama_guard.history import Round, Said
from ollama_guard.wire import ollama_request, reissue
from ollama_guard.wire.asked import user_text
from ollama_guard.wire.dialect import Reissue, Request, Session
from ollama_guard.wire.frame import Framing
from ollama_guard.wire.ollama_lines import Form, failure
from ollama_guard.wire.ollama_stream import OllamaSession
from ollama_guard.wire.rounds import ollama_turns, rounds

_FORM = Form(nested=True, content="content")


class OllamaChat:
    """See `ollama_guard.wire.dialect.Dialect`."""

    name = "ollama-chat"
    path = "/api/chat"
    framing = Framing.NDJSON
    media_type = "application/x-ndjson"
    single_type = "application/json; charset=utf-8"

    def request(self, body: bytes) -> Request | None:
        read = ollama_request.read(body)
        if read is None:
            return None
        fields, stream = read
        messages = fields.get("messages")
        if not isinstance(messages, list) or not messages:
            return None
        return Request(
            body=body,
            fields=fields,
            model=fields["model"],
            stream=stream,
            tools=isinstance(fields.get("tools"), list) and bool(fields["tools"]),
            format=bool(fields.get("format")),
            thinking=ollama_request.thinking(fields),
            prompt=user_text(messages),
        )

    def session(self, request: Request, *, at: float = 0.0) -> Session:
        """`at`: wall clock, seconds since 1970, for lines of the guard's own before the upstream's first."""
        return OllamaSession(_FORM, request, at)

    def history(self, request: Request) -> Iterator[Round | Said]:
        return rounds(request.fields["messages"])

    def rebuild(self, request: Request, plan: Reissue) -> bytes:
        fields = dict(request.fields)
        fields["messages"] = reissue.conversation([*fields["messages"], *ollama_turns(plan.refused)], plan)
        return ollama_request.replan(request, fields, plan)

    def failure(self, status: int, kind: str, message: str) -> bytes:  # noqa: ARG002  the caller sends the status
        return failure(kind, message)
