import re
from typing import Annotated

import pytest

from ollama_guard.config.catalogue import FLAGS, SECTIONS, SETTINGS, _setting, value_of
from ollama_guard.config.schema import Settings

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
    for setting in SETTINGS.values():
        assert re.fullmatch(r"[A-Za-z].{8,}\.", setting.help), setting.key
        assert setting.accepted, setting.key


def test_a_setting_without_an_explanation_cannot_be_added() -> None:
    with pytest.raises(TypeError, match=r"log\.silent"):
        _setting("log", "silent", Annotated[bool, "no Meta"], False)


def test_every_section_says_what_it_is_about() -> None:
    assert all(len(about) > 20 for about in SECTIONS.values())
    assert set(SECTIONS) == {key.split(".")[0] for key in SETTINGS}


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
