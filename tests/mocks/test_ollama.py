"""The mock as a program, run by its path from anywhere."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.net import free_port, get_json

SCRIPT = Path(__file__).resolve().parents[2] / "mocks" / "ollama.py"


def command(*arguments: str) -> list[str]:
    # -I: no environment, no user folder; the script must find its own package.
    return [sys.executable, "-I", str(SCRIPT), *arguments]


def test_it_runs_by_path_and_ends_on_sigterm(tmp_path: Path) -> None:
    port = free_port()
    process = subprocess.Popen(
        command("--port", str(port)),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == f"mock Ollama on http://127.0.0.1:{port}\n"
        assert "mock:healthy" in get_json(f"http://127.0.0.1:{port}", "/_mock/scripts")
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=10)[0] == ""
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()


def test_a_taken_port_is_said_in_a_line(tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            command("--port", str(port)),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.startswith(f"cannot listen on 127.0.0.1:{port}: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("argument", ["--list", "--help"])
def test_it_says_what_there_is(tmp_path: Path, argument: str) -> None:
    done = subprocess.run(
        command(argument), cwd=tmp_path, capture_output=True, text=True, timeout=20, check=True
    )
    assert ("mock:loop-reasoning" if argument == "--list" else "--corpus") in done.stdout


def test_it_uses_the_standard_library_only() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import mocks.ollama, mocks.judges, mocks.clients;"
        "print(sorted({name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, str(SCRIPT.parents[1])],
        capture_output=True, text=True, timeout=20, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "['__main__', 'mocks']"
