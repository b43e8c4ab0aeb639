"""Policies that settings name. Those of real child processes are in tests/evaluate/test_custom.py."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ollama_guard.config.load import Loaded, load
from ollama_guard.config.models import for_model
from ollama_guard.config.own_policies import try_all, with_tables
from ollama_guard.config.schema import Settings
from ollama_guard.evaluate.custom import LENGTHS, PolicyError, PolicyTable

NINE, FIVE = "*:9", "*:5"


class Loads:
    """A load_policy that knows these."""

    def __init__(self, **repeats: int) -> None:
        self.repeats = repeats
        self.asked: list[tuple[str, tuple[Path, ...]]] = []

    def __call__(self, source: str, *, folders: tuple[Path, ...]) -> PolicyTable:
        self.asked.append((source, folders))
        if source not in {f"m:{name}" for name in self.repeats}:
            raise PolicyError(f"{source} cannot be found: the module has no such thing")
        return PolicyTable(source, (self.repeats[source.removeprefix("m:")],) * LENGTHS)


def loaded(flags: Mapping[str, object], file: Path | None = None) -> Loaded:
    return load(file=file, environ={}, flags=flags)


def settled(flags: Mapping[str, object], model: str = "", **repeats: int) -> tuple[Settings, list[str]]:
    found = loaded(flags)
    tried = try_all(found, Loads(**repeats))
    settings = for_model(with_tables(found.settings, tried), model)
    return settings, [str(one) for one in tried if one.fault]


def test_a_policy_that_works_is_the_table_that_it_gives() -> None:
    settings, faults = settled(
        {"detect.policy": "m:nine", "detect.channels.tool.policy": "m:five"}, nine=9, five=5
    )
    assert (settings.detect.table, settings.detect.channels.tool.table) == (NINE, FIVE)
    assert settings.detect.policy is settings.detect.channels.tool.policy is None
    assert faults == []


def test_without_policies_nothing_is_tried_and_nothing_changed() -> None:
    found, loads = loaded({}), Loads()
    tried = try_all(found, loads)
    assert with_tables(found.settings, tried) is found.settings
    assert loads.asked == []


def test_a_policy_that_fails_is_told_with_cause_and_remedy_and_is_as_if_not_set() -> None:
    settings, [fault] = settled({"detect.policy": "m:gone"})
    assert settings == Settings()
    assert fault.startswith("detect.policy is not used, but what holds without it (the built-in table, if")
    assert "m:gone cannot be found: the module has no such thing. `ollama-guard policy m:gone` tries" in fault
    assert fault.endswith("To do without it, take out detect.policy.")


def test_one_policy_is_tried_once_however_often_it_is_named() -> None:
    flags = {"detect.policy": "m:gone", "models.qwen*.detect.channels.tool.policy": "m:gone"}
    loads = Loads()
    [one] = try_all(loaded(flags), loads)
    assert len(loads.asked) == 1
    assert one.keys == ("detect.policy", 'models."qwen*".detect.channels.tool.policy')


@pytest.mark.parametrize(
    ("general", "own", "table"),
    [
        ({}, "m:five", FIVE),
        ({"detect.policy": "m:nine"}, "m:five", FIVE),
        ({"detect.policy": "m:nine"}, "m:gone", NINE),
        ({"detect.policy": "m:gone"}, "m:five", FIVE),
        ({"detect.policy": "m:nine"}, "auto", None),
        ({"detect.table": "*:7"}, "auto", "*:7"),
        ({}, "auto", None),
    ],
)
def test_what_is_said_for_a_model_holds_for_it_alone(
    general: dict[str, Any], own: str, table: str | None
) -> None:
    flags = {**general, "models.qwen*.detect.policy": own}
    assert settled(flags, "qwen3", nine=9, five=5)[0].detect.table == table
    others, _ = settled(flags, "llama3", nine=9, five=5)
    assert others.detect.table == {"m:nine": NINE, "*:7": "*:7"}.get(next(iter(general.values()), ""))


def test_modules_are_looked_for_beside_the_settings_file_and_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "config.toml").write_text('[detect]\npolicy = "policy_beside_it:nine"\n')
    (tmp_path / "etc" / "policy_beside_it.py").write_text("def nine(length): return 9\n")
    monkeypatch.chdir(tmp_path)
    [one] = try_all(loaded({}, Path("etc/config.toml")))
    assert (one.table, one.fault) == (NINE, "")
    assert one.folders == (tmp_path / "etc", tmp_path)
    assert "policy_beside_it" not in sys.modules


def test_a_system_that_starts_no_process_is_told_too() -> None:
    def load_none(source: str, *, folders: object) -> PolicyTable:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    [one] = try_all(loaded({"detect.policy": "m:nine"}), load_none)
    assert "m:nine cannot be tried: [Errno 11] Resource temporarily unavailable" in str(one)
