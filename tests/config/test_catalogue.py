import re
from typing import Annotated

import pytest

from ollama_guard.config.catalogue import (
    FLAGS,
    SECTIONS,
    SETTINGS,
    STEP,
    _setting,
    differs_by_model,
    value_of,
    with_values,
)
from ollama_guard.config.schema import LadderStep, Settings

PROMISED_FLAGS = [
    "port",
    "upstream",
    "max-reasoning-sec",
    "max-total-sec",
    "max-retries",
    "reasoning-char-limit",
    "repeat-span-min",
    "content-repeat-span-min",
    "retry-empty",
    "max-empty-retries",
    "max-empty-keepalive-sec",
    "drain-timeout",
    "log-file",
]


def test_every_setting_explains_itself() -> None:
    for setting in [*SETTINGS.values(), *STEP.values()]:
        assert re.fullmatch(r"[A-Za-z].{8,}\.", setting.help), setting.key
        assert setting.accepted, setting.key


def test_a_setting_without_an_explanation_cannot_be_added() -> None:
    with pytest.raises(TypeError, match=r"log\.silent"):
        _setting("log", "silent", Annotated[bool, "no Meta"], False)


def test_every_section_says_what_it_is_about() -> None:
    assert all(len(about) > 20 for about in SECTIONS.values())
    sections = {key.rpartition(".")[0] for key in SETTINGS}
    assert set(SECTIONS) == sections | {"detect.channels"}  # that one has sections only


def test_the_flags_that_people_bring_along_are_there_and_set_something() -> None:
    assert set(PROMISED_FLAGS) <= set(FLAGS)
    assert all(key in SETTINGS for key in FLAGS.values())


def test_names_of_variables_are_unique() -> None:
    names = [row.env for row in SETTINGS.values()] + [
        row.flat_env for row in SETTINGS.values() if row.flat_env
    ]
    assert len(names) == len(set(names))


def test_a_variable_is_named_after_section_and_key_and_a_short_one_after_the_flag() -> None:
    row = SETTINGS["stall.max_total_sec"]
    assert row.env == "OLLAMA_GUARD_STALL__MAX_TOTAL_SEC"
    assert row.flat_env == "OLLAMA_GUARD_MAX_TOTAL_SEC"
    assert row.flag == "max-total-sec"


def test_what_is_accepted_names_range_unit_and_the_meaning_of_zero() -> None:
    accepted = SETTINGS["stall.max_total_sec"].accepted
    assert accepted == 'a number of seconds from 0 to 86,400; 0: off; "auto": by kind of model'
    assert SETTINGS["log.level"].accepted == "debug, info, warning or error"


def test_a_secret_is_never_shown() -> None:
    assert SETTINGS["server.token"].shown("hunter2") == "(set)"
    assert SETTINGS["server.token"].shown("") == ""


def test_every_default_can_be_shown() -> None:
    for key, setting in SETTINGS.items():
        assert isinstance(setting.shown(value_of(Settings(), key)), str)


def test_a_setting_inside_a_section_of_a_section_is_named_by_its_whole_path() -> None:
    row = SETTINGS["detect.channels.tool.scale"]
    assert (row.section, row.name) == ("detect.channels.tool", "scale")
    assert row.env == "OLLAMA_GUARD_DETECT__CHANNELS__TOOL__SCALE"


def test_the_form_of_a_text_is_what_is_accepted() -> None:
    assert SETTINGS["detect.channels.tool.table"].accepted.startswith("LENGTH:REPEATS")
    assert "[[intervene.ladder]]" in SETTINGS["intervene.ladder"].accepted


def test_a_ladder_is_shown_as_what_was_said_of_its_steps() -> None:
    steps = (LadderStep(), LadderStep(name="hot", temperature=1.0))
    assert SETTINGS["intervene.ladder"].shown(steps) == '[{},{"name":"hot","temperature":1.0}]'


def test_values_are_set_by_key_whatever_their_depth() -> None:
    keys: dict[str, object] = {
        "stall.gap_sec": 1.0,
        "detect.channels.tool.scale": 3.0,
        "detect.window": 30_000,
    }
    there = with_values(Settings(), keys)
    assert {key: value_of(there, key) for key in keys} == keys
    changed = {key for key in SETTINGS if value_of(there, key) != value_of(Settings(), key)}
    assert changed == set(keys)


def test_what_is_one_for_the_whole_guard_cannot_differ_by_model() -> None:
    fixed = {key.partition(".")[0] for key in SETTINGS if not differs_by_model(key)}
    assert fixed == {"server", "upstream", "log"}
