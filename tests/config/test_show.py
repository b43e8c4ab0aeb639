import json
import tomllib
from pathlib import Path

from ollama_guard.config import show
from ollama_guard.config.catalogue import FLAGS, SETTINGS, STEP
from ollama_guard.config.load import in_force, load
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
    assert all(line.count("|") == 6 for line in lines)
    shown = [line.split("`")[1] for line in lines[2:]]
    by_channel = [key.split(".")[-1] for key in SETTINGS if key.startswith("detect.channels.tool.")]
    wanted = {key for key in SETTINGS if not key.startswith("detect.channels.")}
    wanted |= {f"detect.channels.CHANNEL.{name}" for name in by_channel}
    wanted |= {f"intervene.ladder[].{name}" for name in STEP}
    assert set(shown) == wanted | {'models."PATTERN".SECTION.KEY'}
    assert len(shown) == len(set(shown))


def test_the_help_of_a_flag_names_default_and_variable() -> None:
    for flag in FLAGS:
        text = show.flag_help(flag)
        assert "default: " in text
        assert SETTINGS[FLAGS[flag]].flat_env in text


def test_the_examples_in_the_default_file_are_sound(tmp_path: Path) -> None:
    lines = show.defaults_toml().split("\n")
    path = tmp_path / "config.toml"
    path.write_text("\n".join(line[4:] for at, line in enumerate(lines) if _of_an_example(lines, at)))
    settings = load(file=path, environ={}, flags={}).settings
    assert settings.intervene.ladder is not None
    assert [step.model for step in settings.intervene.ladder] == ["", "qwen3:8b"]
    assert [one.pattern for one in settings.models] == ["qwen3*"]


def _of_an_example(lines: list[str], at: int) -> bool:
    """Whether this line is in the block behind a line that announces an example."""
    while lines[at].startswith("#   "):
        at -= 1
        if lines[at] == "# For example:":
            return True
    return False


BY_MODEL = load(
    file=None,
    environ={},
    flags={"models.q*.stall.gap_sec": "5", "models.\x1b*.stall.gap_sec": "6", "intervene.ladder": "[{}]"},
)


def test_what_is_said_for_some_models_is_in_table_and_json() -> None:
    [line] = [line for line in show.as_table(BY_MODEL).splitlines() if 'models."q*"' in line]
    assert line.split() == ["*", 'models."q*".stall.gap_sec', "5", "flag", "--set"]
    whole = json.loads(show.as_json(BY_MODEL))
    assert whole["settings"]['models."q*".stall.gap_sec'] == {
        "value": 5.0,
        "origin": "flag",
        "where": "--set",
    }
    assert whole["settings"]["intervene.ladder"]["value"] == [{}]
    assert whole["model"] is None
    assert "\x1b" not in show.as_table(BY_MODEL) + show.as_json(BY_MODEL)


def test_what_is_in_force_for_a_model_names_the_model_and_where_a_default_is_from() -> None:
    narrowed = in_force(BY_MODEL, "q:1b")
    lines = show.as_table(narrowed).splitlines()
    assert lines[1] == "model: q:1b"
    assert not any("models." in line for line in lines)
    rows = {line[2:].split()[0]: line.split() for line in lines[3:]}
    assert rows["stall.gap_sec"] == ["*", "stall.gap_sec", "5", "flag", "--set"]
    assert rows["stall.max_total_sec"][1:] == ["3600", "default", "by", "stall.local_total_sec"]
    assert json.loads(show.as_json(narrowed))["model"] == "q:1b"
