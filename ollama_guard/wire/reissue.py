"""How a plan changes a request, where several dialects do it alike. Everything returns new values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ollama_guard.wire import jsontext
from ollama_guard.wire.dialect import MOVED, Reissue, Request, Sampler

WARM = "10s"
"""In place of `keep_alive: 0`, so that the model is not unloaded between a cut and the next attempt."""


def body(request: Request, fields: Mapping[str, Any]) -> bytes:
    """The client's very bytes if nothing was changed."""
    return request.body if fields == request.fields else jsontext.dumps(fields)


def conversation(messages: Sequence[Any], plan: Reissue) -> list[Any]:
    """The messages with the plan's turns at the very end, so that the prompt cache keeps what it has.

    A partial answer joins an assistant turn that the client itself left open: two assistant turns in a row
    are refused by some templates.
    """
    out = list(messages)
    if plan.partial:
        last = out[-1] if out else None
        if isinstance(last, dict) and _is_open_turn(last):
            out[-1] = {**last, "content": last["content"] + plan.partial}
        else:
            out.append({"role": "assistant", "content": plan.partial})
    if plan.steer is not None and not plan.prefill:
        out.append({"role": "user", "content": plan.steer})
    return out


def extended(prompt: str, plan: Reissue, *, in_place: bool) -> str:
    """A prompt that is no conversation. `in_place`: the model goes on from the prompt's last character."""
    if in_place or plan.prefill:
        return prompt + plan.partial
    return "\n\n".join(part for part in (prompt, plan.partial, plan.steer) if part)


def unsteered(plan: Reissue) -> Reissue:
    """A plan for a prompt that is gone on from in place: no words can steer there, so the sampler moves."""
    own = plan.sampler or Sampler()
    if plan.steer is None or own.temperature is not None:
        return plan
    moved = replace(
        own,
        temperature=MOVED.temperature,
        top_p=own.top_p or MOVED.top_p,
        repeat_penalty=own.repeat_penalty or MOVED.repeat_penalty,
        seed=own.seed or 7919,
    )
    return replace(plan, sampler=moved)


def tokens(limit: Any, plan: Reissue) -> Any:
    """A larger token limit; what is no positive number (absent, -1, -2) is no limit and stays."""
    if type(limit) is not int or limit <= 0 or plan.token_factor == 1:
        return limit
    return max(limit, min(limit * plan.token_factor, plan.token_cap))


def samplers(sampler: Sampler | None, names: Sequence[str]) -> dict[str, Any]:
    """The values to set, out of those that the dialect has a name for."""
    if sampler is None:
        return {}
    values = {name: getattr(sampler, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def always_thinks(model: str) -> bool:
    """gpt-oss reasons whatever it is told; a low effort is the least there is (facts B.1)."""
    return "gpt-oss" in model.lower()


def is_zero(duration: Any) -> bool:
    """Whether a `keep_alive` means "unload at once": 0, "0", "0s", "0m0s" (Go's duration syntax)."""
    if isinstance(duration, str):
        return "0" in duration and set(duration) <= set("0.+-nuµmsh")
    return isinstance(duration, int | float) and not isinstance(duration, bool) and duration == 0


def _is_open_turn(message: Mapping[str, Any]) -> bool:
    return (
        message.get("role") == "assistant"
        and isinstance(message.get("content"), str)
        and not message.get("tool_calls")
    )
