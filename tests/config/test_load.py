from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from ollama_guard.config.catalogue import SETTINGS
from ollama_guard.config.load import ConfigError, Loaded, Origin, default_file, in_force, load
from ollama_guard.config.schema import Settings


def loaded(environ: Mapping[str, str] | None = None, **flags: object) -> Loaded:
    return load(file=None, environ=environ or {}, flags=flags)


def test_with_nothing_said_the_defaults_hold_and_are_traced_as_such() -> None:
    result = loaded()
    assert result.settings == Settings()
    assert result.notes == []
    assert result.file is None
    assert set(result.origins) == set(SETTINGS)
    assert set(result.origins.values()) == {Origin("default")}


def test_defaults_give_way_to_file_to_environment_to_flags(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("[intervene]\nmax_retries = 3\n[stall]\ngap_sec = 3\n[server]\nport = 3\n")
    environ = {"OLLAMA_GUARD_STALL__GAP_SEC": "4", "OLLAMA_GUARD_PORT": "4"}
    result = load(file=path, environ=environ, flags={"port": "5"})
    settings = result.settings
    assert (settings.intervene.max_retries, settings.stall.gap_sec, settings.server.port) == (3, 4.0, 5)
    kinds = [result.origins[key].kind for key in ("intervene.max_retries", "stall.gap_sec", "server.port")]
    assert kinds == ["file", "env", "flag"]
    assert result.file == path


def test_the_file_may_be_named_by_the_environment_and_must_then_be_there(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("[server]\nport = 3\n")
    assert loaded({"OLLAMA_GUARD_CONFIG": str(path)}).settings.server.port == 3
    with pytest.raises(ConfigError, match="no such file"):
        loaded({"OLLAMA_GUARD_CONFIG": str(tmp_path / "none.toml")})


def test_a_fallback_file_is_read_only_when_none_is_asked_for_and_may_be_absent(tmp_path: Path) -> None:
    path, other = tmp_path / "fallback.toml", tmp_path / "asked.toml"
    path.write_text("[server]\nport = 3\n")
    other.write_text("")
    assert load(file=None, environ={}, flags={}, fallback=path).settings.server.port == 3
    assert load(file=other, environ={}, flags={}, fallback=path).settings.server.port == 11435
    absent = load(file=None, environ={}, flags={}, fallback=tmp_path / "none.toml")
    assert absent.settings == Settings()
    assert absent.file is None


def test_the_default_file_is_in_the_users_configuration_folder() -> None:
    assert default_file().parts[-2:] == ("ollama-guard", "config.toml")


def test_problems_of_all_sources_come_together(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("[server]\nprot = 3\n")
    with pytest.raises(ConfigError) as caught:
        load(
            file=path,
            environ={"OLLAMA_GUARD_MAX_RETRIES": "many"},
            flags={"host": "0.0.0.0", "preset": "mild"},
        )
    assert len(caught.value.problems) == 4
    assert all(word in str(caught.value) for word in ("server.prot", "'many'", "0.0.0.0", "'mild'"))


def test_a_token_appears_in_no_message() -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(token="hunter 2", host="0.0.0.0")
    assert "hunter" not in str(caught.value)


def test_ollama_host_stands_in_for_the_default_upstream() -> None:
    result = loaded({"OLLAMA_HOST": "0.0.0.0:12345"})
    assert result.settings.upstream.url == "http://127.0.0.1:12345"
    assert result.origins["upstream.url"] == Origin("env", "OLLAMA_HOST")


def test_an_upstream_that_is_set_wins_over_ollama_host() -> None:
    result = loaded({"OLLAMA_HOST": "127.0.0.1:1"}, upstream="http://127.0.0.1:2")
    assert result.settings.upstream.url == "http://127.0.0.1:2"


@pytest.mark.parametrize("value", ["127.0.0.1:11435", "http://localhost:11435/", "[::1]:11435", ":11435"])
def test_an_ollama_host_that_aims_at_the_guard_is_left_alone_with_a_note(value: str) -> None:
    result = loaded({"OLLAMA_HOST": value})
    assert result.settings.upstream.url == "http://127.0.0.1:11434"
    assert result.origins["upstream.url"].kind == "default"
    assert "the guard itself" in result.notes[0]


def test_an_ollama_host_at_the_guards_changed_port_is_left_alone_too() -> None:
    result = loaded({"OLLAMA_HOST": "127.0.0.1:9999"}, port="9999")
    assert result.settings.upstream.url == "http://127.0.0.1:11434"


def test_an_ollama_host_that_is_no_address_is_left_alone_with_a_note() -> None:
    result = loaded({"OLLAMA_HOST": "a]b"})
    assert result.settings == Settings()
    assert "no address" in result.notes[0]


@pytest.mark.parametrize("port", ["99999", "abc", "-1", "+5", "1e3", "9" * 5000])
def test_a_port_of_ollama_host_that_is_none_falls_back_as_in_ollama_and_is_told(port: str) -> None:
    result = loaded({"OLLAMA_HOST": f"127.0.0.1:{port}"})
    assert result.settings.upstream.url == "http://127.0.0.1:11434"
    assert f"'{port}' is no port" in result.notes[0]


@pytest.mark.parametrize(
    "value", ["http://me:sekret@127.0.0.1:1", "me:sekret@127.0.0.1", "http://me:sekret@h:99999", "me@:sekret"]
)
def test_a_password_in_ollama_host_is_never_shown(value: str) -> None:
    result = loaded({"OLLAMA_HOST": value})
    assert result.settings == Settings()
    assert "no address" in result.notes[0]
    assert "me:sekret" not in result.notes[0]


def test_the_fall_back_of_a_bad_port_is_that_of_its_scheme() -> None:
    result = loaded({"OLLAMA_HOST": "http://127.0.0.1:99999"})
    assert result.settings.upstream.url == "http://127.0.0.1:80"
    assert "http://127.0.0.1:80" in result.notes[0]


@pytest.mark.parametrize(
    "value", ["127.0.0.1", "127.0.0.1:8080", "[::1]", "::1", "http://localhost", "[::1]:1"]
)
def test_an_ollama_host_with_a_good_port_or_none_needs_no_note(value: str) -> None:
    assert loaded({"OLLAMA_HOST": value}).notes == []


def test_a_remote_ollama_host_is_refused_by_its_name() -> None:
    with pytest.raises(ConfigError, match=r"env OLLAMA_HOST.*allow_remote"):
        loaded({"OLLAMA_HOST": "10.0.0.9"})
    allowed = loaded({"OLLAMA_HOST": "10.0.0.9", "OLLAMA_GUARD_UPSTREAM__ALLOW_REMOTE": "true"})
    assert allowed.settings.upstream.url == "http://10.0.0.9:11434"


def test_ollama_origins_stand_in_for_the_allowed_origins() -> None:
    result = loaded({"OLLAMA_ORIGINS": "https://chat.lan, app://*, rubbish"})
    assert result.settings.server.allowed_origins == ("https://chat.lan", "app://*")
    assert result.origins["server.allowed_origins"] == Origin("env", "OLLAMA_ORIGINS")
    assert "rubbish" in result.notes[0]
    own = loaded({"OLLAMA_ORIGINS": "*", "OLLAMA_GUARD_SERVER__ALLOWED_ORIGINS": "https://own.lan"})
    assert own.settings.server.allowed_origins == ("https://own.lan",)


def test_what_opens_a_door_is_noted() -> None:
    assert "every web page" in loaded({"OLLAMA_ORIGINS": "*"}).notes[0]
    assert "prompts and answers" in load(file=None, environ={}, flags={"log.content": "yes"}).notes[0]


def test_brackets_and_slashes_have_one_spelling() -> None:
    result = loaded(host="[::1]", upstream="http://127.0.0.1:11434/")
    assert result.settings.server.host == "::1"
    assert result.settings.upstream.url == "http://127.0.0.1:11434"


@given(
    st.dictionaries(
        st.sampled_from(["OLLAMA_HOST", "OLLAMA_ORIGINS", *(s.env for s in SETTINGS.values())]), st.text()
    )
)
def test_any_environment_gives_settings_or_a_list_of_problems(environ: dict[str, str]) -> None:
    problems: list[str] = []
    try:
        assert set(load(file=None, environ=environ, flags={}).origins) == set(SETTINGS)
    except ConfigError as error:
        problems = error.problems
        event("refused")
    assert all("\n" not in problem for problem in problems)


MODELS = """
[stall]
gap_sec = 7
[models."qwen3*".stall]
gap_sec = 8
[models."*-cloud".stall]
cloud_total_sec = 33
"""


@pytest.fixture
def by_model(tmp_path: Path) -> Loaded:
    path = tmp_path / "c.toml"
    path.write_text(MODELS)
    return load(file=path, environ={"OLLAMA_GUARD_STALL__GAP_SEC": "9"}, flags={})


def test_what_is_said_for_some_models_is_loaded_and_traced(by_model: Loaded) -> None:
    assert [one.pattern for one in by_model.settings.models] == ["qwen3*", "*-cloud"]
    assert set(by_model.origins) - set(SETTINGS) == {
        'models."qwen3*".stall.gap_sec',
        'models."*-cloud".stall.cloud_total_sec',
    }


def test_what_is_in_force_for_a_model_comes_with_its_origin(by_model: Loaded) -> None:
    qwen = in_force(by_model, "qwen3:8b")
    assert qwen.settings.stall.gap_sec == 8.0  # said for it, so it wins over what is said for all
    assert str(qwen.origins["stall.gap_sec"]).endswith("c.toml, line 5")
    assert qwen.model == "qwen3:8b"
    other = in_force(by_model, "llama3")
    assert other.settings.stall.gap_sec == 9.0
    assert other.origins["stall.gap_sec"] == Origin("env", "OLLAMA_GUARD_STALL__GAP_SEC")
    assert by_model.settings.stall.gap_sec == 9.0


def test_what_is_left_to_the_kind_of_model_is_told_for_a_model(by_model: Loaded) -> None:
    local, cloud = in_force(by_model, "qwen3:8b"), in_force(by_model, "gpt-oss:120b-cloud")
    assert local.settings.stall.max_total_sec == 3600.0
    assert local.origins["stall.max_total_sec"] == Origin("default", "by stall.local_total_sec")
    assert cloud.settings.stall.max_total_sec == 33.0
    assert cloud.origins["stall.max_total_sec"] == Origin("file", "by stall.cloud_total_sec")
    assert (cloud.settings.stall.max_reasoning_sec, cloud.settings.stall.reasoning_char_limit) == (
        60.0,
        20_000,
    )


def test_a_limit_that_is_set_is_not_left_to_the_kind_of_model() -> None:
    there = in_force(loaded(max_total_sec="5"), "gpt-oss:120b-cloud")
    assert there.settings.stall.max_total_sec == 5.0
    assert there.origins["stall.max_total_sec"] == Origin("flag", "--max-total-sec")


def test_remarks_are_among_the_notes() -> None:
    flags = {"intervene.ladder": "[{}]", "intervene.steer": "x"}
    assert "intervene.steer is not used" in load(file=None, environ={}, flags=flags).notes[0]
