"""The defaults are promises of the issue and of the help texts."""

import msgspec
import pytest

from ollama_guard.config.catalogue import SETTINGS, STEP, value_of
from ollama_guard.config.schema import Actions, Settings
from ollama_guard.detect.finding import Kind


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("server.host", "127.0.0.1"),
        ("server.port", 11435),
        ("server.drain_timeout", 60.0),
        ("upstream.url", "http://127.0.0.1:11434"),
        ("upstream.allow_remote", False),
        ("detect.preset", "balanced"),
        ("detect.action", "intervene"),
        ("detect.window", 25_000),
        ("detect.variant_repeats_min", 3),
        ("stall.max_reasoning_sec", None),
        ("stall.cloud_reasoning_sec", 60.0),
        ("stall.cloud_reasoning_chars", 20_000),
        ("stall.cloud_total_sec", 120.0),
        ("intervene.max_retries", 2),
        ("empty.max_retries", 10),
        ("empty.keepalive_sec", 300.0),
        ("truncated.factor", 4),
        ("truncated.token_cap", 1_000_000),
        ("heartbeat.heartbeat_sec", 10.0),
        ("heartbeat.whole_commit_sec", 120.0),
        ("intervene.ladder", None),
        ("intervene.language", "auto"),
        ("intervene.note", ""),
        ("intervene.prefill", True),
        ("streak.enabled", True),
        ("streak.warn", 3),
        ("streak.block", 5),
        ("streak.abort", 3),
        ("streak.ignored_tools", ()),
        ("streak.ignore_errors", False),
        ("streak.action", None),
        ("streak.abort_with", "text"),
        ("streak.volatile_fields", ()),
        ("streak.cycles", True),
        ("streak.cycle_warn", 3),
        ("streak.cycle_block", 5),
        ("streak.max_cycle", 4),
        ("log.content", False),
    ],
)
def test_the_defaults_are_those_that_were_promised(key: str, value: object) -> None:
    assert value_of(Settings(), key) == value


def test_every_default_is_within_its_own_range() -> None:
    for setting in SETTINGS.values():
        assert msgspec.convert(setting.default, setting.annotation) == setting.default, setting.key


def test_settings_cannot_be_changed_once_made() -> None:
    with pytest.raises(AttributeError):
        Settings().server.port = 1  # type: ignore[misc]


def test_every_number_has_both_bounds_so_that_infinity_and_nan_are_refused() -> None:
    for setting in [*SETTINGS.values(), *STEP.values()]:
        if setting.kind in (int, float):
            assert setting.least is not None, setting.key
            assert setting.most is not None, setting.key


@pytest.mark.parametrize(
    ("key", "local", "cloud"),
    [
        ("stall.max_reasoning_sec", "local_reasoning_sec", "cloud_reasoning_sec"),
        ("stall.reasoning_char_limit", "local_reasoning_chars", "cloud_reasoning_chars"),
        ("stall.max_total_sec", "local_total_sec", "cloud_total_sec"),
    ],
)
def test_the_numbers_in_a_help_text_are_the_defaults(key: str, local: str, cloud: str) -> None:
    stall = Settings().stall
    assert f"(local {getattr(stall, local):g}, cloud {getattr(stall, cloud):g})" in SETTINGS[key].help


def test_every_kind_of_finding_has_an_action_that_can_be_set() -> None:
    in_its_own_section = {Kind.CALL_STREAK.value}
    names = {field.name for field in msgspec.structs.fields(Actions)}
    assert names == {kind.value for kind in Kind} - in_its_own_section


def test_the_numbers_of_the_channels_and_the_actions_are_all_left_to_preset_and_general_action() -> None:
    for key, setting in SETTINGS.items():
        if key.startswith(("detect.channels.", "detect.actions.")):
            assert setting.default is None, key
