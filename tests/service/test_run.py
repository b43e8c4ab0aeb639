"""`ollama-guard serve` as a process, the real application in it, in front of the mock upstream."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mocks.ollama import MockOllama, running
from tests.service.conftest import Running, eventually, refused, rest, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
Serve = Callable[..., Running]
SLOW = {"delay": 0.05, "steps": [{"say": {"ramble": None}}]}


@pytest.fixture
def mock() -> Iterator[MockOllama]:
    with running() as upstream:
        upstream.script("slow", SLOW)
        upstream.script("short", {"delay": 0.05, "steps": [{"say": {"ramble": 25}}]})
        yield upstream


@pytest.fixture
def serve(launch: Callable[..., Running], mock: MockOllama) -> Serve:
    def go(*flags: str) -> Running:
        return launch("-m", "ollama_guard", "serve", "--port", "0", "--upstream", mock.url, *flags)

    return go


def ask(service: Running, path: str, model: str) -> socket.socket:
    """Begin a streamed chat; returns when the first words are here."""
    body = json.dumps({"model": model, "stream": True, "messages": [{"role": "user", "content": "Hi"}]})
    connection = service.connect(path, method="POST", body=body)
    until(connection, b'"content":"')
    return connection


def test_a_short_answer_is_finished_whole_after_sigterm(serve: Serve) -> None:
    service = serve()
    answer = ask(service, "/api/chat", "mock:short")
    service.signal()
    body = rest(answer)
    assert b'"done":true' in body
    assert b'"error"' not in body
    assert body.endswith(b"0\r\n\r\n")
    service.ends_within(10)
    assert service.process.returncode == 0


@pytest.mark.parametrize("path", ["/api/chat", "/v1/chat/completions"])
def test_at_the_deadline_a_live_answer_ends_with_an_error_event_and_the_upstream_is_cut(
    serve: Serve, mock: MockOllama, path: str
) -> None:
    service = serve("--drain-timeout", "0.5")
    answer = ask(service, path, "mock:slow")
    service.signal()
    body = rest(answer)
    assert body.count(b'"error"') == 1
    assert body.endswith(b"0\r\n\r\n"), "the response is not torn"
    service.ends_within(15)
    assert service.process.returncode == 0
    assert mock.journal.wait(lambda journal: journal[-1].client_left)


def test_a_second_signal_cuts_a_live_answer_and_its_upstream_at_once(serve: Serve, mock: MockOllama) -> None:
    service = serve()
    ask(service, "/api/chat", "mock:slow")
    service.signal()
    eventually(lambda: refused(service.port))
    began = time.monotonic()
    service.signal(signal.SIGINT)
    service.ends_within(15)
    assert time.monotonic() - began < 5
    assert service.process.returncode == 0
    assert mock.journal.wait(lambda journal: journal[-1].client_left)


def test_the_stop_command_drains_and_ends_the_service(serve: Serve, environ: dict[str, str]) -> None:
    service = serve()
    answer = ask(service, "/api/chat", "mock:short")
    done = subprocess.run(
        [sys.executable, "-m", "ollama_guard", "stop", "--port", str(service.port)],
        env=environ, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "has stopped" in done.stdout
    assert b'"done":true' in rest(answer)
    assert service.process.wait(2) == 0


def test_a_stop_without_the_control_token_is_refused(serve: Serve) -> None:
    service = serve()
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
    connection.request("POST", "/guard/stop", headers={"x-ollama-guard-control": "guess"})
    assert connection.getresponse().status == 403
    connection.close()
    assert service.process.poll() is None


def test_the_check_knows_the_running_guard(serve: Serve, mock: MockOllama, environ: dict[str, str]) -> None:
    service = serve()
    done = subprocess.run(
        [sys.executable, "-m", "ollama_guard", "check", "--port", str(service.port), "--upstream", mock.url],
        env=environ, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "runs on" in done.stdout
    assert "Ollama 0." in done.stdout


def test_a_policy_of_ones_own_is_in_force_and_one_that_fails_is_told(
    serve: Serve, mock: MockOllama, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text("def five(length): return 5\ndef half(length): return length / 2\n")
    mock.script("words", {"steps": [{"say": "Once more, with feeling. ", "times": None}]})
    flags = ("detect.channels.content.policy=mine:five", "detect.policy=mine:half", "detect.action=stop")
    service = serve(*(part for flag in flags for part in ("--set", flag)))
    until(ask(service, "/api/chat", "mock:words"), b'"done":true')
    service.signal()
    service.ends_within(10)
    log = service.process.communicate()[1]
    [verdict] = [json.loads(line) for line in log.splitlines() if '"verdict"' in line]
    assert verdict["repeats"] == 5.0
    assert "detect.channels.content.policy is in force: mine:five was tried for all lengths" in log
    assert "detect.policy is not used, but what holds without it" in log
    assert "mine:half gives 0.5 for a unit of 1 characters; a whole number (int) of repeats" in log


def refuses(environ: dict[str, str], *flags: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ollama_guard", "serve", *flags],
        env={**environ, **more}, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip


def test_a_taken_port_is_exit_code_3_and_a_refused_upstream_1(serve: Serve, environ: dict[str, str]) -> None:
    service = serve()
    taken = refuses(environ, "--port", str(service.port))
    assert taken.returncode == 3
    assert "is taken" in taken.stderr
    # 192.0.2.0/24 is for documentation: it is nobody's, and not this machine's
    far = refuses(environ, "--port", "0", "--upstream", "http://192.0.2.7:11434")
    assert far.returncode == 1
    assert "Traceback" not in taken.stderr + far.stderr


def test_a_socket_unit_that_opens_the_door_to_all_is_refused_without_a_token(environ: dict[str, str]) -> None:
    code = (
        "import os, socket, sys\n"
        "s = socket.create_server(('0.0.0.0', 0)); os.dup2(s.fileno(), 3); os.set_inheritable(3, True)\n"
        "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1')\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'ollama_guard', 'serve'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    assert "no token is set" in done.stderr


FEW_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (48, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
from ollama_guard.cli import main
main()
"""


def test_a_low_limit_to_open_files_is_raised(launch: Callable[..., Running], mock: MockOllama) -> None:
    service = launch("-c", FEW_FILES, "serve", "--port", "0", "--upstream", mock.url)
    waiting = [service.connect("/api/version") for _ in range(60)]
    until(ask(service, "/api/chat", "mock:short"), b'"done":true')
    assert all(b"HTTP/1.1 200" in until(each, b"version") for each in waiting)
