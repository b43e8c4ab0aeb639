import json
import tomllib
from pathlib import Path

from ollama_guard.config import show
from ollama_guard.config.catalogue import FLAGS, SETTINGS
from ollama_guard.config.load import load
from ollama_guard.config.schema import Settings

LOADED = load(
    file=None,
    environ={"OLLAMA_GUARD_TOKEN": "hunter2"},
    flags={"port": "8080", "intervene.steer": "a\x1b[1m"},
)


def test_the_table_has_every_setting_and_marks_what_is_no_default() -> None:
    lines = show.as_table(LOADED).splitlines()
    assert all(any(f" {key} " in line for line in lines) for key in SETTINGS)
    starred = [line.split()[1] for line in lines if line.startswith("*")]
    assert starred == ["server.port", "server.token", "intervene.steer"]
    assert any("flag --port" in line for line in lines)


def test_neither_table_nor_json_shows_a_secret_or_a_control_character() -> None:
    for text in (show.as_table(LOADED), show.as_json(LOADED)):
        assert "hunter2" not in text
        assert "\x1b" not in text


def test_the_json_has_value_and_origin_of_every_setting() -> None:
    whole = json.loads(show.as_json(LOADED))
    assert set(whole["settings"]) == set(SETTINGS)
    assert whole["settings"]["server.port"] == {"value": 8080, "origin": "flag", "where": "--port"}
    assert whole["settings"]["stall.max_total_sec"]["value"] is None


def test_the_default_file_is_sound_as_it_stands_and_with_every_line_switched_on(tmp_path: Path) -> None:
    text = show.defaults_toml()
    tomllib.loads(text)
    on = "\n".join(
        line[1:] if line.startswith("#") and line[1] not in " #" else line for line in text.split("\n")
    )
    path = tmp_path / "config.toml"
    path.write_text(on, encoding="utf-8")
    result = load(file=path, environ={}, flags={})
    assert result.settings == Settings()
    assert {origin.kind for origin in result.origins.values()} == {"file"}


def test_the_markdown_table_has_a_row_for_every_setting() -> None:
    lines = show.markdown().splitlines()
    assert len(lines) == len(SETTINGS) + 2
    assert all(line.count("|") == 6 for line in lines)


def test_the_help_of_a_flag_names_default_and_variable() -> None:
    for flag in FLAGS:
        text = show.flag_help(flag)
        assert "default: " in text
        assert SETTINGS[FLAGS[flag]].flat_env in text
