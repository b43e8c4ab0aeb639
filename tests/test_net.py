"""The launchers of the tests: a guard that does not come up says why."""

import sys
from pathlib import Path

import pytest

from tests import net


def test_a_free_port_can_be_bound() -> None:
    import socket

    with socket.socket() as sock:
        sock.bind(("127.0.0.1", net.free_port()))


def test_settings_are_spelled_as_the_command_line_takes_them() -> None:
    assert [net._spelled(value) for value in (True, 1.5, ["a", "b"], "x")] == ["true", "1.5", "a,b", "x"]


def test_a_guard_that_ends_at_once_fails_with_its_output(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Stands in for Python: a program that prints its arguments and gives up."""
    fake = tmp_path / "python"
    fake.write_text(f"#!{sys.executable}\nimport sys\nprint('cannot', *sys.argv[1:])\nsys.exit(3)\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    with (
        pytest.raises(AssertionError, match=r"exit code 3.*\n.*--set stall.max_total_sec=2"),
        net.guard_server("http://127.0.0.1:1", {"stall.max_total_sec": 2}),
    ):
        pass


def test_the_guard_does_not_see_the_settings_of_whoever_runs_the_tests(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("OLLAMA_HOST", "OLLAMA_GUARD_PORT", "http_proxy", "HTTPS_PROXY", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, "http://somewhere.example")
    assert "http://somewhere.example" not in net._environ(tmp_path).values()
