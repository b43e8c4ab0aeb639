"""From settings to the frozen policy of one exchange."""

from dataclasses import replace

from ollama_guard.config.schema import Settings
from ollama_guard.detect.rules import WatchRules, preset, with_spans
from ollama_guard.detect.silence import SilenceLimits
from ollama_guard.engine.policy import Action, EmptyPolicy, Policy, Step, TruncatedPolicy, Wording
from ollama_guard.wire.dialect import Sampler


def is_cloud(model: str) -> bool:
    """Whether a model's name marks it as cloud: the tag `cloud`, or one that ends in `-cloud`.

    Ollama's own rule (server/cloud_proxy.go), case folded.
    """
    tag = model.lower().rpartition(":")[2]
    return tag == "cloud" or tag.endswith("-cloud")


def policy_for(settings: Settings, model: str) -> Policy:
    """The policy of a request to this model."""
    s = settings
    cloud = is_cloud(model)
    return Policy(
        rules=_rules(s),
        limits=_limits(s, cloud=cloud),
        action=Action(s.detect.action),
        cloud=cloud,
        max_retries=s.intervene.max_retries,
        recovery_sec=s.intervene.recovery_sec,
        ladder=_ladder(s),
        empty=EmptyPolicy(
            retry=s.empty.retry,
            max_retries=s.empty.max_retries,
            pause_sec=s.empty.pause_sec,
            pause_max_sec=s.empty.pause_max_sec,
            keepalive_sec=s.empty.keepalive_sec,
        ),
        truncated=TruncatedPolicy(
            retry=s.truncated.retry,
            max_retries=s.truncated.max_retries,
            factor=s.truncated.factor,
            token_cap=s.truncated.token_cap,
        ),
        heartbeat_sec=s.heartbeat.heartbeat_sec,
        data_sec=s.heartbeat.data_sec,
        commit_sec=s.heartbeat.commit_sec,
    )


def _ladder(settings: Settings) -> tuple[Step, ...]:
    own = settings.intervene
    moved = Sampler(temperature=own.temperature, top_p=own.top_p, repeat_penalty=own.repeat_penalty)
    return (
        Step(name="steer", text=own.steer),
        Step(name="steer_firm", wording=Wording.FIRM, text=own.steer_firm, no_think=True, sampler=moved),
    )


def _rules(settings: Settings) -> WatchRules:
    detect = settings.detect
    rules = with_spans(
        preset(detect.preset),
        repeat_span_min=detect.repeat_span_min,
        content_repeat_span_min=detect.content_repeat_span_min,
    )
    channels = {
        "reasoning": replace(rules.reasoning, enabled=detect.reasoning),
        "content": replace(rules.content, enabled=detect.content),
        "tool": replace(rules.tool, enabled=detect.tool_arguments),
    }
    if detect.repeat_core_min is not None:
        channels = {name: replace(one, core_min=detect.repeat_core_min) for name, one in channels.items()}
    return replace(
        rules,
        window=detect.window,
        variant=detect.variant,
        drift=detect.drift,
        novelty=detect.novelty,
        reasoning=channels["reasoning"],
        content=channels["content"],
        tool=channels["tool"],
    )


def _limits(settings: Settings, *, cloud: bool) -> SilenceLimits:
    stall = settings.stall
    kind = (
        (stall.cloud_reasoning_sec, stall.cloud_reasoning_chars, stall.cloud_total_sec)
        if cloud
        else (stall.local_reasoning_sec, stall.local_reasoning_chars, stall.local_total_sec)
    )
    own = (stall.max_reasoning_sec, stall.reasoning_char_limit, stall.max_total_sec)
    seconds, chars, total = (kind[i] if own[i] is None else own[i] for i in range(3))
    return SilenceLimits(
        reasoning_sec=seconds or None,
        reasoning_chars=int(chars or 0) or None,
        total_sec=total or None,
        first_byte_sec=stall.first_byte_sec or None,
        gap_sec=stall.gap_sec or None,
        tools_gap_sec=stall.tools_gap_sec or None,
    )
