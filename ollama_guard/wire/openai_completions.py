"""POST /v1/completions: one prompt, no conversation. Streams SSE, ends with `[DONE]`.

Ollama drops what a model thinks here: a reasoning model shows as a run of chunks without text, and thinking
cannot be turned off.
"""

from collections.abc import Iterator

from ollama_guard.history import Round, Said
from ollama_guard.wire import jsontext, reissue
from ollama_guard.wire.asked import PROMPT_LIMIT, named
from ollama_guard.wire.dialect import Reissue, Request, Session
from ollama_guard.wire.frame import Framing
from ollama_guard.wire.openai_chunks import Form, failure
from ollama_guard.wire.openai_request import replan
from ollama_guard.wire.openai_stream import OpenAISession

_FORM = Form("text_completion", "cmpl-", nested=False, content="text")


class OpenAICompletions:
    """See `ollama_guard.wire.dialect.Dialect`."""

    name = "openai-completions"
    path = "/v1/completions"
    framing = Framing.SSE
    media_type = "text/event-stream"
    single_type = "application/json"

    def request(self, body: bytes) -> Request | None:
        fields = jsontext.loads(body)
        stream = named(fields, stream=False)
        if stream is None or fields is None:
            return None
        prompt = fields.get("prompt")
        if not isinstance(prompt, str) or not prompt:
            return None
        return Request(
            body=body, fields=fields, model=fields["model"], stream=stream, prompt=prompt[-PROMPT_LIMIT:]
        )

    def session(self, request: Request, *, at: float = 0.0) -> Session:
        """`at`: wall clock, seconds since 1970, for chunks of the guard's own before the upstream's first."""
        return OpenAISession(_FORM, request, at)

    def history(self, request: Request) -> Iterator[Round | Said]:
        yield Said(request.fields["prompt"])

    def rebuild(self, request: Request, plan: Reissue) -> bytes:
        fields = dict(request.fields)
        in_place = bool(fields.get("suffix"))
        fields["prompt"] = reissue.extended(fields["prompt"], plan, in_place=in_place)
        return replan(request, fields, reissue.unsteered(plan) if in_place else plan)

    def failure(self, status: int, kind: str, message: str) -> bytes:  # noqa: ARG002  the caller sends the status
        return failure(kind, message)
