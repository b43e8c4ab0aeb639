"""What OpenAI's chat and completions routes have in common in a request."""

from typing import Any

from ollama_guard.wire import reissue
from ollama_guard.wire.dialect import Reissue, Request

_SAMPLERS = ("temperature", "top_p", "frequency_penalty", "seed")


def replan(request: Request, fields: dict[str, Any], plan: Reissue) -> bytes:
    """The body, after the plan's changes to model, sampler, limits and streaming. `fields` is changed.

    Upstream is always asked to stream; the one body of a client that does not wants the token counts too.
    """
    if plan.model is not None:
        fields["model"] = plan.model
    fields |= reissue.samplers(plan.sampler, _SAMPLERS)
    for key in ("max_tokens", "max_completion_tokens"):
        if key in fields:
            fields[key] = reissue.tokens(fields[key], plan)
    if not request.stream:
        options = fields.get("stream_options")
        fields["stream_options"] = {**(options if isinstance(options, dict) else {}), "include_usage": True}
        fields["stream"] = True
    return reissue.body(request, fields)
