"""POST /api/generate: one prompt, no conversation. Streams NDJSON unless told not to.

With `raw` or `suffix` the model goes on from the prompt's last character: a partial answer is continued in
place and there is nobody to steer. Else Ollama makes the prompt a user message: an assistant turn cannot be
given, and the plan's texts become paragraphs of that message. `context` stays as the client sent it.
"""

from collections.abc import Iterator

from ollama_guard.history import Round, Said
from ollama_guard.wire import ollama_request, reissue
from ollama_guard.wire.asked import PROMPT_LIMIT
from ollama_guard.wire.dialect import Reissue, Request, Session
from ollama_guard.wire.frame import Framing
from ollama_guard.wire.ollama_lines import Form, failure
from ollama_guard.wire.ollama_stream import OllamaSession

_FORM = Form(nested=False, content="response")


class OllamaGenerate:
    """See `ollama_guard.wire.dialect.Dialect`."""

    name = "ollama-generate"
    path = "/api/generate"
    framing = Framing.NDJSON
    media_type = "application/x-ndjson"
    single_type = "application/json; charset=utf-8"

    def request(self, body: bytes) -> Request | None:
        read = ollama_request.read(body)
        if read is None:
            return None
        fields, stream = read
        prompt = fields.get("prompt")
        if not isinstance(prompt, str) or not prompt:
            return None
        return Request(
            body=body,
            fields=fields,
            model=fields["model"],
            stream=stream,
            format=bool(fields.get("format")),
            thinking=ollama_request.thinking(fields),
            prompt=prompt[-PROMPT_LIMIT:],
        )

    def session(self, request: Request, *, at: float = 0.0) -> Session:
        """`at`: wall clock, seconds since 1970, for lines of the guard's own before the upstream's first."""
        return OllamaSession(_FORM, request, at)

    def history(self, request: Request) -> Iterator[Round | Said]:
        yield Said(request.fields["prompt"])

    def rebuild(self, request: Request, plan: Reissue) -> bytes:
        fields = dict(request.fields)
        in_place = bool(fields.get("raw") or fields.get("suffix"))
        fields["prompt"] = reissue.extended(fields["prompt"], plan, in_place=in_place)
        return ollama_request.replan(request, fields, reissue.unsteered(plan) if in_place else plan)

    def failure(self, status: int, kind: str, message: str) -> bytes:  # noqa: ARG002  the caller sends the status
        return failure(kind, message)
