"""What deploy/ holds is taken by the tools that read it, and fits the program's own defaults."""

import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ollama_guard.config.schema import Settings
from ollama_guard.service.server import GRACE
from tests.service.conftest import ROOT

UNITS = ROOT / "deploy" / "systemd"
WINDOWS = ROOT / "deploy" / "windows"
SERVICES = ["ollama-guard.service", "ollama-guard.user.service"]
systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")


def unit(name: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNITS / name)
    return parser


def staged(tmp_path: Path, name: str, given: str) -> Path:
    """The unit under its installed name, with a program that is there."""
    text = re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", (UNITS / name).read_text())
    target = tmp_path / given
    target.write_text(text)
    return target


def analyze(*arguments: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, timeout=60, check=False, env=environ
    )


@systemd
def test_systemd_takes_the_service_and_its_socket(tmp_path: Path) -> None:
    service = staged(tmp_path, "ollama-guard.service", "ollama-guard.service")
    door = staged(tmp_path, "ollama-guard.socket", "ollama-guard.socket")
    done = analyze("verify", str(service), str(door), tmp_path=tmp_path)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@systemd
def test_systemd_takes_the_service_of_a_user(tmp_path: Path) -> None:
    service = staged(tmp_path, "ollama-guard.user.service", "ollama-guard.service")
    done = analyze("verify", "--user", str(service), tmp_path=tmp_path)
    if "Failed to initialize manager" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@systemd
def test_the_service_is_as_closed_as_systemd_can_make_it(tmp_path: Path) -> None:
    service = staged(tmp_path, "ollama-guard.service", "ollama-guard.service")
    done = analyze("security", "--offline=true", "--threshold=15", str(service), tmp_path=tmp_path)
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze cannot judge a file")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr


@pytest.mark.parametrize("name", SERVICES)
def test_systemd_waits_for_longer_than_a_drain_may_take(name: str) -> None:
    wait = float(unit(name)["Service"]["TimeoutStopSec"])
    assert wait >= Settings().server.drain_timeout + GRACE + 5


@pytest.mark.parametrize("name", SERVICES)
def test_the_service_is_told_ready_and_is_started_again_after_a_failure(name: str) -> None:
    service = unit(name)["Service"]
    assert service["Type"] == "notify"
    assert service["Restart"] == "on-failure"
    assert service["ExecStart"].endswith("/ollama-guard serve")


def test_the_socket_is_the_default_address_and_not_open_to_others() -> None:
    server = Settings().server
    assert unit("ollama-guard.socket")["Socket"]["ListenStream"] == f"{server.host}:{server.port}"


def test_the_service_may_reach_its_own_state_file_and_its_settings() -> None:
    service = unit("ollama-guard.service")["Service"]
    assert service["RuntimeDirectory"] == "ollama-guard"  # state.SYSTEM_DIRECTORY
    assert "XDG_CONFIG_HOME=/etc" in service["Environment"]
    assert service["IPAddressAllow"] == "localhost"


@pytest.mark.parametrize("name", ["install.ps1", "uninstall.ps1"])
def test_the_windows_scripts_use_the_default_port_and_only_flags_that_exist(name: str) -> None:
    text = (WINDOWS / name).read_text(encoding="utf-8")
    assert f"$Port = {Settings().server.port}" in text
    text.encode("ascii")  # PowerShell 5.1 reads a script without a byte order mark in the local code page
    from click.testing import CliRunner

    from ollama_guard.cli import cli

    for command, flags in re.findall(r"(?:\$Exe |')(serve|stop|check) ((?:--[a-z-]+ \S+ ?)+)", text):
        help_text = CliRunner().invoke(cli, [command, "--help"]).output
        for flag in re.findall(r"--[a-z-]+", flags):
            assert flag in help_text, (command, flag)


def test_the_ci_script_is_sound_shell_and_can_be_run() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
