"""What Ollama's own two generation routes have in common in a request."""

from typing import Any

from ollama_guard.wire import jsontext, reissue
from ollama_guard.wire.asked import named
from ollama_guard.wire.dialect import Reissue, Request, Sampler

_SAMPLERS = ("temperature", "top_p", "repeat_penalty", "frequency_penalty", "seed")


def read(body: bytes) -> tuple[dict[str, Any], bool] | None:
    """The fields of a request and whether it streams; None for what is not to be guarded."""
    fields = jsontext.loads(body)
    stream = named(fields, stream=True)
    if stream is None or fields is None or not isinstance(fields.get("options"), dict | None):
        return None
    return fields, stream


def thinking(fields: dict[str, Any]) -> bool | None:
    """`think` is a boolean or a level."""
    think = fields.get("think")
    return bool(think) if isinstance(think, bool | str) and think != "" else None


def replan(request: Request, fields: dict[str, Any], plan: Reissue) -> bytes:
    """The body, after the plan's changes to all but the conversation. `fields` is a copy, and is changed."""
    if plan.model is not None:
        fields["model"] = plan.model
    if plan.no_think:
        fields["think"] = "low" if reissue.always_thinks(fields["model"]) else False
    options = dict(fields.get("options") or {})
    options |= _moved(plan.sampler, options.get("repeat_penalty"))
    if "num_predict" in options:
        options["num_predict"] = reissue.tokens(options["num_predict"], plan)
    if options:
        fields["options"] = options
    if not plan.last and reissue.is_zero(fields.get("keep_alive")):
        fields["keep_alive"] = reissue.WARM
    if not request.stream:
        fields["stream"] = True
    return reissue.body(request, fields)


def _moved(sampler: Sampler | None, penalty: Any) -> dict[str, Any]:
    """The values to set. penalty: the client's, which a lower one would only weaken."""
    values = reissue.samplers(sampler, _SAMPLERS)
    if "repeat_penalty" in values and isinstance(penalty, int | float) and not isinstance(penalty, bool):
        values["repeat_penalty"] = max(penalty, values["repeat_penalty"])
    return values
