"""The command line through click's runner, and once as a real process."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ollama_guard import __version__
from ollama_guard.cli import cli
from ollama_guard.config.catalogue import FLAGS, SETTINGS
from ollama_guard.config.load import Loaded

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command with an environment of its own and no settings file."""
    for name in ("OLLAMA_HOST", "OLLAMA_ORIGINS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("ollama_guard.cli.default_file", lambda: tmp_path / "config.toml")

    def call(*args: str, **environ: str) -> Result:
        result = CliRunner().invoke(cli, list(args), env=environ, prog_name="ollama-guard")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return call


@dataclass
class Calls:
    """Stands for a service module; remembers what it was called with."""

    answer: Any = 0
    seen: Any = None
    options: Any = None

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.seen, self.options = (args[0] if args else None), options
        return self.answer


def stand_in(monkeypatch: pytest.MonkeyPatch, module: str, function: str, calls: Calls) -> Calls:
    fake = ModuleType(f"ollama_guard.service.{module}")
    setattr(fake, function, calls)
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    import ollama_guard.service

    monkeypatch.setattr(ollama_guard.service, module, fake, raising=False)
    return calls


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Calls:
    return stand_in(monkeypatch, "run", "serve", Calls())


def test_version_is_printed(run: Run) -> None:
    result = run("--version")
    assert (result.exit_code, result.output) == (0, f"ollama-guard {__version__}\n")


@pytest.mark.parametrize("args", [(), ("serve",), ("--port", "11435")])
def test_serve_is_what_is_meant_without_a_command(run: Run, served: Calls, args: tuple[str, ...]) -> None:
    assert run(*args).exit_code == 0
    assert isinstance(served.seen, Loaded)


def test_every_promised_flag_reaches_its_setting(run: Run, served: Calls) -> None:
    line = (
        "serve --port 9999 --upstream http://127.0.0.1:9 --max-reasoning-sec 61 --max-total-sec 121 "
        "--max-retries 3 --reasoning-char-limit 5000 --repeat-span-min 30 --content-repeat-span-min 90 "
        "--no-retry-empty --max-empty-retries 4 --max-empty-keepalive-sec 5 --drain-timeout 6 "
        "--log-file x.log --host ::1 --preset strict --token t0ken "
        "--set heartbeat.data_sec=50 --set log.level=debug"
    )
    result = run(*line.split())
    assert result.exit_code == 0, result.output
    s = served.seen.settings
    assert (s.server.port, s.server.host, s.server.token, s.server.drain_timeout) == (
        9999,
        "::1",
        "t0ken",
        6.0,
    )
    assert s.upstream.url == "http://127.0.0.1:9"
    assert (s.stall.max_reasoning_sec, s.stall.max_total_sec, s.stall.reasoning_char_limit) == (
        61.0,
        121.0,
        5000,
    )
    assert (s.detect.preset, s.detect.repeat_span_min, s.detect.content_repeat_span_min) == ("strict", 30, 90)
    assert s.intervene.max_retries == 3
    assert (s.empty.retry, s.empty.max_retries, s.empty.keepalive_sec) == (False, 4, 5.0)
    assert (s.log.file, s.log.level, s.heartbeat.data_sec) == ("x.log", "debug", 50.0)


def test_a_flag_beats_the_environment_which_beats_the_file(run: Run, served: Calls, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        "[server]\nport = 1\n[intervene]\nmax_retries = 1\n[empty]\nretry = false\n"
    )
    environ = {"OLLAMA_GUARD_PORT": "2", "OLLAMA_GUARD_MAX_RETRIES": "5"}
    run("--port", "3", **environ)
    s = served.seen.settings
    assert (s.server.port, s.intervene.max_retries, s.empty.retry) == (3, 5, False)
    run("--retry-empty", **environ)
    s = served.seen.settings
    assert (s.server.port, s.empty.retry) == (2, True)


@pytest.mark.parametrize("code", [0, 1, 3])
def test_the_exit_code_is_the_services(run: Run, served: Calls, code: int) -> None:
    served.answer = code
    assert run("serve").exit_code == code


def test_bad_settings_are_told_all_at_once_with_exit_code_1(run: Run, served: Calls) -> None:
    result = run(
        "serve",
        "--port",
        "http",
        "--host",
        "0.0.0.0",
        "--set",
        "detect.preste=x",
        OLLAMA_GUARD_MAX_RETRIES="-1",
    )
    assert result.exit_code == 1
    assert served.seen is None
    assert result.stdout == ""
    for word in (
        "server.port = 'http'",
        "0.0.0.0",
        "did you mean detect.preset?",
        "intervene.max_retries = '-1'",
    ):
        assert word in result.stderr


def test_a_settings_file_that_is_not_there_or_not_toml_is_told_with_exit_code_1(
    run: Run, tmp_path: Path
) -> None:
    result = run("serve", "--config", str(tmp_path / "none.toml"))
    assert (result.exit_code, "no such file" in result.stderr) == (1, True)
    (tmp_path / "config.toml").write_text("port 8080")
    result = run("config")
    assert (result.exit_code, "line 1" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    "args", [("--prot", "1"), ("sevre",), ("serve", "extra"), ("--set", "port=1"), ("--set", "x")]
)
def test_a_usage_that_cannot_be_understood_has_exit_code_2(
    run: Run, served: Calls, args: tuple[str, ...]
) -> None:
    assert run(*args).exit_code == 2
    assert served.seen is None


def test_control_characters_in_arguments_are_not_sent_to_the_terminal(run: Run) -> None:
    result = run("config", "--port", "\x1b[2J", "--set", "a.\x1b[31m=1")
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr


def test_notes_are_told_before_serving(run: Run, served: Calls) -> None:
    result = run("serve", OLLAMA_HOST="127.0.0.1:11435")
    assert "note: OLLAMA_HOST" in result.stderr


@pytest.mark.parametrize("command", ["serve", "check", "config", "stop"])
def test_help_names_every_flag_its_default_and_its_variable(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    text = _squeezed(result.output)
    for flag, key in FLAGS.items():
        assert f"--{flag}" in text
        assert _squeezed(SETTINGS[key].help) in text
        assert _squeezed(f"default: {SETTINGS[key].shown(SETTINGS[key].default)}") in text
        assert f"env:{SETTINGS[key].flat_env}" in text
    assert "--drain-timeoutSECONDS" in text


def _squeezed(text: str) -> str:
    """Without white space: help texts are wrapped, also at hyphens."""
    return "".join(text.split())


def test_help_of_the_whole_lists_the_commands(run: Run) -> None:
    text = run("--help").output
    assert all(f"\n  {name} " in text for name in ("serve", "demo", "check", "config", "stop"))


def test_config_prints_what_holds_and_from_where(run: Run) -> None:
    result = run("config", "--port", "8080", OLLAMA_GUARD_TOKEN="hunter2")
    assert result.exit_code == 0
    assert any(
        line.split() == ["*", "server.port", "8080", "flag", "--port"] for line in result.stdout.splitlines()
    )
    assert "hunter2" not in result.output


def test_config_prints_what_holds_for_a_model(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[models."qwen3*".stall]\ngap_sec = 5\n')
    for model, value in (("qwen3:8b", "5"), ("llama3", "600")):
        lines = run("config", "--model", model).stdout.splitlines()
        assert f"model: {model}" in lines
        [row] = [line[2:].split() for line in lines if line[2:].startswith("stall.gap_sec ")]
        assert row[1] == value
    assert json.loads(run("config", "--json", "--model", "qwen3:8b").stdout)["model"] == "qwen3:8b"


@pytest.fixture
def policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of policies, in the current folder."""
    (tmp_path / "own_policies_of_a_test.py").write_text(
        "def five(length): return 5\ndef none(length): return None\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_config_tries_the_policies_that_are_named(run: Run, policies: Path) -> None:
    fine = run("config", "--set", "detect.policy=own_policies_of_a_test:five").stdout
    assert "detect.policy is in force: own_policies_of_a_test:five was tried for all lengths" in fine
    result = run("config", "--json", "--set", "detect.policy=own_policies_of_a_test:none")
    assert result.exit_code == 0
    [note] = json.loads(result.stdout)["notes"]
    assert "own_policies_of_a_test:none gives a NoneType for a unit of 1 characters" in note
    assert "take out detect.policy" in note
    assert "own_policies_of_a_test" not in sys.modules


def test_eval_judges_by_the_policy_that_is_named(run: Run, policies: Path) -> None:
    text = policies / "text.txt"
    text.write_text("Before it. " + "Let me think about it once more. " * 6 + "And after it.")
    sets = ("--set", "detect.variant=false", "--set")
    assert "0 stopped" in run("eval", str(text), *sets, "detect.window=30000").stdout
    assert "1 stopped" in run("eval", str(text), *sets, "detect.policy=own_policies_of_a_test:five").stdout
    failing = run("eval", str(text), *sets, "detect.policy=own_policies_of_a_test:none")
    assert "0 stopped" in failing.stdout
    assert "ollama-guard: warning: detect.policy is not used" in failing.stderr


def test_settings_of_some_models_can_be_set_on_the_command_line(run: Run, served: Calls) -> None:
    assert run("serve", "--set", "models.qwen2.5*.streak.warn=2").exit_code == 0
    [override] = served.seen.settings.models
    assert (override.pattern, override.values) == ("qwen2.5*", {"streak.warn": 2})


def test_config_speaks_json_toml_and_markdown(run: Run) -> None:
    assert json.loads(run("config", "--json").stdout)["settings"]["server.port"]["value"] == 11435
    assert set(tomllib.loads(run("config", "--defaults-toml").stdout)) == {
        key.split(".")[0] for key in SETTINGS
    }
    assert run("config", "--markdown").stdout.startswith("| setting |")


def test_the_default_file_can_be_printed_while_the_present_one_is_broken(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("=")
    assert run("config", "--defaults-toml").exit_code == 0


@dataclass
class Found:
    """The shape of a check's result."""

    name: str
    ok: bool
    message: str
    remedy: str = ""


def test_check_prints_what_it_found_and_what_to_do(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        Found("port", ok=True, message="free"),
        Found("ollama", ok=False, message="no answer", remedy="ollama serve"),
    ]
    calls = stand_in(monkeypatch, "doctor", "check", Calls(found))
    result = run("check", "--port", "9")
    assert result.exit_code == 4
    assert calls.seen.settings.server.port == 9
    assert "FAIL  ollama: no answer\n      -> ollama serve" in result.output
    calls.answer = found[:1]
    assert run("check").exit_code == 0


def test_stop_asks_for_the_guard_on_the_settings_port(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = stand_in(monkeypatch, "control", "stop", Calls(1))
    assert run("stop", "--port", "9", "--no-wait").exit_code == 1
    assert calls.seen.server.port == 9
    assert calls.options == {"wait": False}


def test_demo_is_run_and_its_code_handed_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = stand_in(monkeypatch, "demo", "run", Calls(3))
    assert run("demo", "--fast").exit_code == 3
    assert calls.options["fast"] is True
    assert callable(calls.options["echo"])


def test_as_a_module_it_is_the_same_command_and_shows_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b"\xff\xfe")
    line = [
        sys.executable,
        "-m",
        "ollama_guard",
        "config",
        "--config",
        str(tmp_path / "c.toml"),
        "--port",
        "x",
    ]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "UTF-8" in done.stderr
    assert "Traceback" not in done.stderr
