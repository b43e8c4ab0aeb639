import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.config.catalogue import SETTINGS
from ollama_guard.config.schema import LadderStep
from ollama_guard.config.values import NotAcceptedError, quoted, read, read_text


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("server.port", "8080", 8080),
        ("server.port", " 8080 ", 8080),
        ("stall.gap_sec", "1.5", 1.5),
        ("stall.gap_sec", "1e3", 1000.0),
        ("stall.max_total_sec", "auto", None),
        ("stall.max_total_sec", "AUTO", None),
        ("stall.max_total_sec", "0", 0.0),
        ("empty.retry", "yes", True),
        ("empty.retry", "Off", False),
        ("empty.retry", "1", True),
        ("server.allowed_hosts", "a.lan, b.lan,", ("a.lan", "b.lan")),
        ("detect.preset", "strict", "strict"),
        ("detect.channels.tool.code", "0", 0.0),
        ("detect.channels.tool.table", "auto", None),
        ("detect.actions.drift", "off", "off"),
        ("detect.actions.drift", "auto", None),
        ("intervene.ladder", "auto", None),
        ("intervene.ladder", "[]", ()),
        ("intervene.ladder", '[{"model": "m", "seed": "auto"}]', (LadderStep(model="m"),)),
        ("intervene.steer", " keep blanks ", " keep blanks "),
    ],
)
def test_text_is_read_by_the_settings_type(key: str, text: str, value: object) -> None:
    assert read_text(SETTINGS[key], text) == value


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("server.port", "x"),
        ("server.port", "-1"),
        ("server.port", "65536"),
        ("server.port", "80.5"),
        ("server.port", "auto"),
        ("stall.gap_sec", "nan"),
        ("stall.gap_sec", "inf"),
        ("stall.gap_sec", "-0.1"),
        ("stall.gap_sec", "1e400"),
        ("empty.retry", "maybe"),
        ("empty.retry", ""),
        ("detect.preset", "Strict"),
        ("detect.window", "24999"),
        ("detect.actions.periodic", "off"),
        ("detect.actions.token_run", "off"),
        ("detect.actions.empty", "stop"),
        ("detect.actions.truncated", "stop"),
        ("intervene.ladder", "steer"),
        ("intervene.ladder", "{}"),
        ("intervene.ladder", "[" * 100_000),
        ("server.port", "9" * 5000),
    ],
)
def test_what_is_not_accepted_is_refused(key: str, text: str) -> None:
    with pytest.raises(ValueError):
        read_text(SETTINGS[key], text)


@pytest.mark.parametrize(
    ("key", "raw"),
    [
        ("server.port", "8080"),
        ("server.port", True),
        ("server.port", 80.5),
        ("empty.retry", 1),
        ("server.allowed_hosts", "a.lan"),
        ("server.allowed_hosts", [1]),
        ("server.host", {}),
        ("stall.gap_sec", math.nan),
        ("stall.gap_sec", math.inf),
    ],
)
def test_a_file_is_read_strictly(key: str, raw: object) -> None:
    with pytest.raises(ValueError):
        read(SETTINGS[key], raw)


def test_a_file_may_write_a_whole_number_for_a_fraction_and_auto_for_an_optional() -> None:
    assert read(SETTINGS["stall.gap_sec"], 3) == 3.0
    assert read(SETTINGS["stall.max_total_sec"], "auto") is None


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_for_every_setting(text: str) -> None:
    for setting in SETTINGS.values():
        try:
            value: Any = read_text(setting, text)
        except ValueError:
            continue
        if isinstance(value, float):
            assert math.isfinite(value)


@given(st.text(max_size=500))
def test_a_quoted_value_is_one_short_printable_line(text: str) -> None:
    line = quoted(SETTINGS["server.host"], text)
    assert line.isprintable()
    assert len(line) <= 80


def test_a_quoted_secret_is_hidden() -> None:
    assert "hunter2" not in quoted(SETTINGS["server.token"], "hunter2")


def test_every_fault_of_a_ladder_is_told_with_its_place_and_what_to_write() -> None:
    raw = [
        {"name": "ok", "no_think": True},
        {"temprature": 1, "top_p": 3, "wording": "loud"},
        "steer",
        {"q": 1},
    ]
    with pytest.raises(NotAcceptedError) as caught:
        read(SETTINGS["intervene.ladder"], raw)
    told = {fault.place: fault.what for fault in caught.value.faults}
    assert told["[2].temprature"] == "no such setting; did you mean temperature?"
    assert told["[2].top_p"].startswith("accepted is a number from 0.01 to 1")
    assert told["[2].wording"] == "accepted is gentle or firm"
    assert told["[3]"].startswith("a step is a table of name, wording")
    assert told["[4].q"].startswith("no such setting; a step has name, wording")
    assert len(told) == 5


def test_a_step_keeps_all_that_was_said_of_it() -> None:
    said = {
        "name": "n",
        "wording": "firm",
        "text": "Stop: {what}.",
        "no_think": True,
        "temperature": 1,
        "top_p": 0.5,
        "repeat_penalty": 1.2,
        "frequency_penalty": -1,
        "seed": 7,
        "model": "m",
    }
    [step] = read(SETTINGS["intervene.ladder"], [said])
    assert {name: getattr(step, name) for name in said} == said


def test_a_list_of_texts_may_be_json_where_commas_or_blanks_matter() -> None:
    setting = SETTINGS["detect.ignore_strings"]
    assert read_text(setting, '["a, b", " "]') == ("a, b", " ")
    assert read_text(setting, "a, b") == ("a", "b")
    assert setting.shown(("a, b", " ")) == '["a, b"," "]'
    assert setting.shown(("a", "b")) == "a, b"
    assert setting.shown(()) == ""
    with pytest.raises(ValueError, match=r"Expected"):
        read_text(setting, '["a", 1]')


@pytest.mark.parametrize("raw", ["[1]", '[["a"]]', '{"a": 1}', '["a"', "[null]"])
def test_json_that_is_no_list_of_texts_is_not_taken_for_a_text(raw: str) -> None:
    with pytest.raises(ValueError):
        read_text(SETTINGS["detect.ignore_strings"], raw)


@pytest.mark.parametrize("raw", ["[INST]", "{name}", "[x"])
def test_a_text_may_begin_with_a_bracket(raw: str) -> None:
    assert read_text(SETTINGS["detect.ignore_strings"], raw) == (raw,)
