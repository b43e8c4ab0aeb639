"""Every setting that concerns an exchange reaches the policy, and nothing else does."""

from dataclasses import fields
from typing import Any

import msgspec
import pytest

from ollama_guard.app.policies import policy_for
from ollama_guard.config.catalogue import SETTINGS, value_of, with_values
from ollama_guard.config.schema import LadderStep, Override, Settings
from ollama_guard.detect.finding import Kind
from ollama_guard.detect.ignored import Ignored
from ollama_guard.detect.rules import BALANCED, STRICT, Band
from ollama_guard.detect.silence import SilenceLimits
from ollama_guard.detect.watch import Watch
from ollama_guard.engine.policy import LADDER, Action, Policy, Step, Wording
from ollama_guard.wire.dialect import Sampler

LOCAL, CLOUD = "qwen3:8b", "gpt-oss:120b-cloud"


def said(**given: object) -> Settings:
    """Settings with these, "__" standing for a dot."""
    return with_values(Settings(), {key.replace("__", "."): value for key, value in given.items()})


def policy(**given: object) -> Policy:
    return policy_for(said(**given), LOCAL)


def cloud_policy(**given: object) -> Policy:
    return policy_for(said(**given), CLOUD)


def test_the_defaults_are_the_engines_own() -> None:
    made = policy()
    for field in fields(Policy):
        if field.name not in ("limits", "rules", "actions"):
            assert getattr(made, field.name) == getattr(Policy(), field.name), field.name
    assert {made.action_for(kind) for kind in Kind} == {Action.INTERVENE}
    assert made.rules == BALANCED
    assert made.limits == SilenceLimits(1800.0, 200_000, 3600.0, 1800.0, 600.0, 1800.0)


def test_cloud_models_have_limits_of_their_own() -> None:
    made = cloud_policy()
    assert made.cloud
    assert made.limits == SilenceLimits(60.0, 20_000, 120.0, 1800.0, 600.0, 1800.0)
    own = cloud_policy(stall__max_reasoning_sec=5.0, stall__reasoning_char_limit=0, stall__max_total_sec=0.0)
    assert own.limits == SilenceLimits(5.0, None, None, 1800.0, 600.0, 1800.0)


IDLE = {
    "detect.preset",
    "intervene.ladder",
    "detect.policy",
    "detect.channels.reasoning.policy",
    "detect.channels.content.policy",
    "detect.channels.tool.policy",
    "stall.cloud_reasoning_sec",
    "stall.cloud_reasoning_chars",
    "stall.cloud_total_sec",
}
"""Of no effect alone on a local model at the balanced preset, or no single value to try: tested elsewhere."""


def another(key: str) -> Any:
    """A value that is accepted and is not the default."""
    setting, now = SETTINGS[key], value_of(Settings(), key)
    if setting.choices:
        return next(choice for choice in reversed(setting.choices) if choice != now)
    if setting.kind is bool:
        return not now
    if setting.kind is tuple:
        return ("other",)
    if setting.kind is str:
        return "*:7" if key.endswith(".table") else "other"
    if key.endswith(".unit_max"):
        return setting.least  # the greatest is what holds anyway
    return setting.kind(setting.least if now == setting.most else setting.most)


@pytest.mark.parametrize(
    "key",
    [
        key
        for key in SETTINGS
        if key.startswith(
            ("detect.", "stall.", "intervene.", "empty.", "truncated.", "heartbeat.", "streak.")
        )
        and key not in IDLE
    ],
)
def test_each_setting_reaches_the_policy(key: str) -> None:
    assert policy_for(with_values(Settings(), {key: another(key)}), LOCAL) != policy()


@pytest.mark.parametrize("key", [key for key in SETTINGS if key.startswith(("server.", "upstream.", "log."))])
def test_what_concerns_no_exchange_leaves_the_policy_alone(key: str) -> None:
    assert policy_for(with_values(Settings(), {key: another(key)}), LOCAL) == policy()


def test_the_simple_settings_make_the_default_ladder() -> None:
    assert policy().ladder == LADDER
    first, second = policy(
        intervene__steer="one", intervene__steer_firm="two", intervene__temperature=0.1
    ).ladder
    assert (first.text, first.sampler, first.no_think) == ("one", None, False)
    assert (second.text, second.wording, second.no_think) == ("two", Wording.FIRM, True)
    assert second.sampler == Sampler(temperature=0.1, top_p=0.95, repeat_penalty=1.15)


def test_an_own_ladder_takes_the_place_of_the_simple_settings() -> None:
    steps = (
        LadderStep(),
        LadderStep(name="hot", wording="firm", text="{what}!", no_think=True, temperature=1.5, seed=7),
        LadderStep(model="llama3", frequency_penalty=0.5),
    )
    made = policy(intervene__ladder=steps, intervene__steer="unused", intervene__max_retries=3)
    assert made.ladder == (
        Step(name="step_1"),
        Step(
            name="hot",
            wording=Wording.FIRM,
            text="{what}!",
            no_think=True,
            sampler=Sampler(temperature=1.5, seed=7),
        ),
        Step(name="step_3", sampler=Sampler(frequency_penalty=0.5), model="llama3"),
    )
    assert policy(intervene__ladder=(), intervene__max_retries=0).ladder == ()


PLACES = ("reasoning", "content", "tool")
OTHERS = [kind for kind in Kind if kind is not Kind.CALL_STREAK]
"""The kinds of `detect.actions`; what is done about streaks is said in their own section."""


@pytest.mark.parametrize("kind", OTHERS)
def test_each_kind_of_verdict_may_have_an_action_of_its_own(kind: Kind) -> None:
    made = policy(detect__action="stop", **{f"detect__actions__{kind.value}": "observe"})
    assert made.action_for(kind) is Action.OBSERVE
    assert {made.action_for(other) for other in OTHERS if other is not kind} == {Action.STOP}


@pytest.mark.parametrize("family", ["variant", "drift", "novelty"])
def test_a_family_that_is_off_is_not_looked_for(family: str) -> None:
    assert getattr(policy().rules, family)
    made = policy(**{f"detect__actions__{family}": "off"})
    assert not getattr(made.rules, family)
    assert Kind(family) not in made.actions
    assert not getattr(
        policy(**{f"detect__{family}": False, f"detect__actions__{family}": "stop"}).rules, family
    )


@pytest.mark.parametrize(
    ("kind", "off"),
    [
        ("stall", {"reasoning_sec", "reasoning_chars"}),
        ("total", {"total_sec"}),
        ("silent", {"first_byte_sec", "gap_sec", "tools_gap_sec"}),
    ],
)
def test_a_limit_that_is_off_is_none(kind: str, off: set[str]) -> None:
    limits = policy(**{f"detect__actions__{kind}": "off"}).limits
    assert {field.name for field in fields(limits) if getattr(limits, field.name) is None} == off


def test_empty_and_truncated_that_are_off_are_not_retried() -> None:
    made = policy(detect__actions__empty="off", detect__actions__truncated="off")
    assert (made.empty.retry, made.truncated.retry) == (False, False)


def test_a_channel_goes_before_the_general_number_and_that_before_the_preset() -> None:
    strict = policy(detect__preset="strict").rules
    assert strict == STRICT
    general = policy(detect__preset="strict", detect__repeat_span_min=50, detect__repeat_core_min=9).rules
    assert (general.reasoning.span_min, general.reasoning.core_min, general.tool.core_min) == (50, 9, 9)
    own = policy(
        detect__preset="strict",
        detect__repeat_span_min=50,
        detect__repeat_core_min=9,
        detect__channels__reasoning__span_min=60,
        detect__channels__tool__core_min=0,
    ).rules
    assert (own.reasoning.span_min, own.reasoning.core_min, own.tool.core_min) == (60, 9, 0)
    assert own.content.span_min == STRICT.content.span_min


@pytest.mark.parametrize("channel", ["reasoning", "content", "tool"])
def test_an_own_table_takes_the_place_of_the_presets_table_run_and_scale(channel: str) -> None:
    made = policy(detect__preset="strict", **{f"detect__channels__{channel}__table": "1:40,*:10"}).rules
    rules, before = getattr(made, channel), getattr(STRICT, channel)
    table = (Band(1, 39, 0), Band(1 << 40, 9, 0))
    assert (rules.text, rules.emoji, rules.flat, rules.rule) == (table,) * 4
    assert (rules.span_min, rules.scale) == (None, 1.0)
    assert (rules.blank, rules.blank_run, rules.code) == (before.blank, before.blank_run, before.code)


def test_a_multiplier_for_code_that_is_set_holds_for_all_code() -> None:
    assert not policy().rules.content.code_alike
    assert policy(detect__code=3.0).rules.content.code_alike
    assert policy(detect__channels__content__repeats=5).rules.content.code_alike


def test_a_scale_that_is_set_multiplies_an_own_table() -> None:
    rules = policy(detect__channels__tool__repeats=5, detect__channels__tool__scale=2.0).rules.tool
    assert (rules.text, rules.scale) == ((Band(1 << 40, 4, 0),), 2.0)


CONTROLS: dict[str, object] = {
    "scale": 3.0,
    "code": 0.0,
    "asked": 9.0,
    "blank_run": 70,
    "unit_min": 3,
    "unit_max": 99,
    "ignore_chars": "-|",
    "ignore_strings": ("<br>",),
    "strip_space": True,
    "table": "2:40,*:10",
    "repeats": 6,
}


@pytest.mark.parametrize("name", CONTROLS)
def test_what_is_said_for_all_channels_holds_where_a_channel_says_nothing(name: str) -> None:
    general = policy(**{f"detect__{name}": CONTROLS[name]}).rules
    each = policy(**{f"detect__channels__{one}__{name}": CONTROLS[name] for one in PLACES}).rules
    assert general == each
    assert all(getattr(general, one) != getattr(BALANCED, one) for one in PLACES)


def test_a_channels_own_goes_before_what_is_said_for_all() -> None:
    made = policy(
        detect__strip_space=True,
        detect__unit_min=5,
        detect__ignore_strings=("a", "b"),
        detect__channels__tool__strip_space=False,
        detect__channels__tool__unit_min=1,
        detect__channels__tool__ignore_strings=(),
    ).rules
    assert made.tool == BALANCED.tool
    assert made.content.ignored == Ignored(strings=("a", "b"), space=True)
    assert (made.content.unit_min, made.content.unit_max) == (5, BALANCED.content.unit_max)


def test_a_smallest_run_of_a_channel_goes_before_a_table_for_all() -> None:
    made = policy(detect__repeats=6, detect__channels__content__span_min=70).rules
    assert (made.content.span_min, made.content.text) == (70, BALANCED.content.text)
    assert made.reasoning.text == (Band(1 << 40, 5, 0),)
    other = policy(detect__repeats=6, detect__channels__content__table="*:9").rules
    assert other.content.text == (Band(1 << 40, 8, 0),)


@pytest.mark.parametrize(("blank_run", "padding_run"), [(70, 3000), (9000, 9000), (0, 3000)])
def test_plain_blanks_need_no_less_than_other_white_space(blank_run: int, padding_run: int) -> None:
    rules = policy(detect__blank_run=blank_run).rules.content
    assert (rules.blank_run, rules.padding_run) == (blank_run, padding_run)


def test_a_table_is_read_once_for_all_requests() -> None:
    """A policy makes tables of thousands of rows."""
    one, two = (policy(detect__table="2:40,*:10").rules.content.text for _ in range(2))
    assert one is two


@pytest.mark.parametrize(("channel", "repeats"), [("reasoning", 4), ("content", 7), ("tool:0", 3)])
def test_a_loop_is_stopped_at_the_number_of_repeats_that_was_set(channel: str, repeats: int) -> None:
    rules = policy(**{f"detect__channels__{channel.removesuffix(':0')}__repeats": repeats}).rules
    unit = "the quick brown fox jumps over the lazy dog, and then "
    watch = Watch(rules)
    assert watch.feed(channel, "Once upon a time there was a story. ") is None
    counts = [count for count in range(1, 20) if watch.feed(channel, unit) is not None]
    assert counts == [repeats]


def test_long_units_are_no_loop_where_the_table_does_not_have_them() -> None:
    rules = policy(detect__channels__content__table="8:30").rules
    assert Watch(rules).feed("content", "a sentence that is longer than eight. " * 100) is None


def test_what_is_said_for_a_model_is_in_its_policy_only() -> None:
    values: dict[str, object] = {"stall.gap_sec": 5.0, "detect.actions.drift": "off", "streak.warn": 2}
    settings = msgspec.structs.replace(Settings(), models=(Override("qwen3*", values),))
    there, elsewhere = policy_for(settings, "Qwen3:8b"), policy_for(settings, "llama3")
    assert (there.limits.gap_sec, there.rules.drift) == (5.0, False)
    assert elsewhere == policy()
    assert (there.streak.rules.warn, elsewhere.streak.rules.warn) == (2, 3)


@pytest.mark.parametrize(
    ("detect", "streak", "warns", "blocks", "action"),
    [
        ("intervene", None, True, True, Action.INTERVENE),
        ("stop", None, True, True, Action.INTERVENE),
        ("observe", None, False, True, Action.OBSERVE),
        ("observe", "block", True, True, Action.INTERVENE),
        ("intervene", "warn", True, False, Action.INTERVENE),
        ("intervene", "observe", False, True, Action.OBSERVE),
    ],
)
def test_streaks_go_as_far_as_their_own_action_or_only_into_the_log_with_all_else(
    detect: str, streak: str | None, warns: bool, blocks: bool, action: Action
) -> None:
    made = policy(detect__action=detect, streak__action=streak)
    assert (made.streak.warns, made.streak.blocks) == (warns, blocks)
    assert made.action_for(Kind.CALL_STREAK) is action


def test_the_rules_of_streaks_are_the_settings() -> None:
    values: dict[str, object] = {
        "enabled": False,
        "warn": 4,
        "block": 9,
        "abort": 2,
        "ignored_tools": ("poll",),
        "ignore_errors": True,
        "cycles": False,
        "cycle_warn": 5,
        "cycle_block": 7,
        "max_cycle": 3,
    }
    made = policy(
        **{f"streak__{name}": value for name, value in values.items()}, streak__volatile_fields=("at",)
    )
    rules = made.streak.rules
    assert rules.volatile == {"at"}
    assert {name: getattr(rules, name) for name in values} == values | {"ignored_tools": {"poll"}}
    assert policy(streak__abort_with="error").streak.error
