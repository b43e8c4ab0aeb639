"""From settings to the frozen policy of one exchange."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from ollama_guard.config.models import for_model, is_cloud
from ollama_guard.config.schema import Channel, Detect, LadderStep, Settings
from ollama_guard.config.tables import read_table
from ollama_guard.config.watching import LONGEST_UNIT
from ollama_guard.detect.finding import Kind
from ollama_guard.detect.ignored import Ignored
from ollama_guard.detect.rules import ANY, Band, ChannelRules, OwnTable, Table, WatchRules, preset, with_spans
from ollama_guard.detect.silence import SilenceLimits
from ollama_guard.detect.streak import StreakRules
from ollama_guard.engine.policy import Action, EmptyPolicy, Policy, Step, TruncatedPolicy, Wording
from ollama_guard.engine.streaks import StreakPolicy
from ollama_guard.wire.dialect import Sampler

OFF = "off"
OBSERVE = "observe"


def policy_for(settings: Settings, model: str) -> Policy:
    """The policy of a request to this model."""
    s = for_model(settings, model)
    cloud = is_cloud(model)
    actions = s.detect.actions
    return Policy(
        rules=_rules(s.detect),
        limits=_limits(s, cloud=cloud),
        action=Action(s.detect.action),
        actions=_actions(s),
        cloud=cloud,
        max_retries=s.intervene.max_retries,
        recovery_sec=s.intervene.recovery_sec,
        ladder=_ladder(s),
        language=s.intervene.language,
        note=s.intervene.note,
        prefill=s.intervene.prefill,
        streak=_streak(s),
        empty=EmptyPolicy(
            retry=s.empty.retry and actions.empty != OFF,
            max_retries=s.empty.max_retries,
            pause_sec=s.empty.pause_sec,
            pause_max_sec=s.empty.pause_max_sec,
            keepalive_sec=s.empty.keepalive_sec,
        ),
        truncated=TruncatedPolicy(
            retry=s.truncated.retry and actions.truncated != OFF,
            max_retries=s.truncated.max_retries,
            factor=s.truncated.factor,
            token_cap=s.truncated.token_cap,
        ),
        heartbeat_sec=s.heartbeat.heartbeat_sec,
        data_sec=s.heartbeat.data_sec,
        commit_sec=s.heartbeat.commit_sec,
        whole_commit_sec=s.heartbeat.whole_commit_sec,
    )


def _actions(settings: Settings) -> dict[Kind, Action]:
    """Those that are said and are one: what is off never comes to a verdict. Streaks have their own word."""
    said = settings.detect.actions
    named = {Kind(name): getattr(said, name) for name in said.__struct_fields__}
    streaks = Action.OBSERVE if _streak_action(settings) == OBSERVE else Action.INTERVENE
    own = {kind: Action(word) for kind, word in named.items() if word not in (None, OFF)}
    return {**own, Kind.CALL_STREAK: streaks}


def _streak_action(settings: Settings) -> str:
    return settings.streak.action or (OBSERVE if settings.detect.action == OBSERVE else "block")


def _streak(settings: Settings) -> StreakPolicy:
    """With `observe`, blocks are judged too: the action then has them written down only."""
    own, action = settings.streak, _streak_action(settings)
    rules = StreakRules(
        enabled=own.enabled,
        warn=own.warn,
        block=own.block,
        abort=own.abort,
        ignored_tools=frozenset(own.ignored_tools),
        ignore_errors=own.ignore_errors,
        cycles=own.cycles,
        cycle_warn=own.cycle_warn,
        cycle_block=own.cycle_block,
        max_cycle=own.max_cycle,
        volatile=frozenset(own.volatile_fields),
    )
    return StreakPolicy(
        rules=rules, warns=action != OBSERVE, blocks=action != "warn", error=own.abort_with == "error"
    )


def _ladder(settings: Settings) -> tuple[Step, ...]:
    own = settings.intervene
    if own.ladder is not None:
        return tuple(_step(number, one) for number, one in enumerate(own.ladder, start=1))
    moved = Sampler(temperature=own.temperature, top_p=own.top_p, repeat_penalty=own.repeat_penalty)
    return (
        Step(name="steer", text=own.steer),
        Step(name="steer_firm", wording=Wording.FIRM, text=own.steer_firm, no_think=True, sampler=moved),
    )


def _step(number: int, one: LadderStep) -> Step:
    sampler = Sampler(
        temperature=one.temperature,
        top_p=one.top_p,
        repeat_penalty=one.repeat_penalty,
        frequency_penalty=one.frequency_penalty,
        seed=one.seed,
    )
    return Step(
        name=one.name or f"step_{number}",
        wording=Wording(one.wording),
        text=one.text,
        no_think=one.no_think,
        sampler=None if sampler == Sampler() else sampler,
        model=one.model or None,
    )


def _rules(detect: Detect) -> WatchRules:
    rules = with_spans(
        preset(detect.preset),
        repeat_span_min=detect.repeat_span_min,
        content_repeat_span_min=detect.content_repeat_span_min,
    )
    channels, actions = detect.channels, detect.actions
    return replace(
        rules,
        window=detect.window,
        variant_copies=detect.variant_repeats_min,
        variant=detect.variant and actions.variant != OFF,
        drift=detect.drift and actions.drift != OFF,
        novelty=detect.novelty and actions.novelty != OFF,
        reasoning=_channel(rules.reasoning, channels.reasoning, detect, enabled=detect.reasoning),
        content=_channel(rules.content, channels.content, detect, enabled=detect.content),
        tool=_channel(rules.tool, channels.tool, detect, enabled=detect.tool_arguments),
    )


def _channel(rules: ChannelRules, own: Channel, detect: Detect, *, enabled: bool) -> ChannelRules:
    """A channel's own numbers before those of all channels, and those before the preset's.

    An own table says how many repeats are needed, in full: so it takes the place of the preset's smallest run
    and of its scale too. White space alone keeps limits of its own.
    """
    text = _table_of(own) or ("" if own.span_min is not None else _table_of(detect))
    if text:
        table = _bands(text)
        rules = replace(rules, span_min=None, scale=1.0, text=table, emoji=table, flat=table, rule=table)
        rules = replace(rules, markup=None, figures=None, blob=None)  # by the same, times `code`
    said = {
        "span_min": own.span_min,
        "core_min": detect.repeat_core_min if own.core_min is None else own.core_min,
        **{name: _said(name, own, detect) for name in ("scale", "code", "asked", "blank_run")},
    }
    given = {name: value for name, value in said.items() if value is not None}
    return replace(
        rules,
        enabled=enabled,
        code_alike=bool(text) or "code" in given,
        padding_run=max(rules.padding_run, given.get("blank_run", 0)),
        unit_min=_said("unit_min", own, detect),
        unit_max=ANY if (most := _said("unit_max", own, detect)) == LONGEST_UNIT else most,
        ignored=Ignored(
            chars=_said("ignore_chars", own, detect),
            strings=_said("ignore_strings", own, detect),
            space=_said("strip_space", own, detect),
        ),
        **given,
    )


def _said(name: str, own: Channel, detect: Detect) -> Any:
    value = getattr(own, name)
    return getattr(detect, name) if value is None else value


def _table_of(own: Channel | Detect) -> str:
    """A policy has become a table before this (`config.own_policies`)."""
    return own.table or (f"*:{own.repeats}" if own.repeats is not None else "")


@lru_cache(maxsize=64)
def _bands(text: str) -> Table:
    return OwnTable(Band(length, repeats - 1, 0) for length, repeats in read_table(text))


def _limits(settings: Settings, *, cloud: bool) -> SilenceLimits:
    stall, actions = settings.stall, settings.detect.actions
    kind = (
        (stall.cloud_reasoning_sec, stall.cloud_reasoning_chars, stall.cloud_total_sec)
        if cloud
        else (stall.local_reasoning_sec, stall.local_reasoning_chars, stall.local_total_sec)
    )
    own = (stall.max_reasoning_sec, stall.reasoning_char_limit, stall.max_total_sec)
    seconds, chars, total = (kind[i] if own[i] is None else own[i] for i in range(3))
    stalls, ends, silent = (word != OFF for word in (actions.stall, actions.total, actions.silent))
    return SilenceLimits(
        reasoning_sec=(seconds or None) if stalls else None,
        reasoning_chars=(int(chars or 0) or None) if stalls else None,
        total_sec=(total or None) if ends else None,
        first_byte_sec=(stall.first_byte_sec or None) if silent else None,
        gap_sec=(stall.gap_sec or None) if silent else None,
        tools_gap_sec=(stall.tools_gap_sec or None) if silent else None,
    )
