"""`ollama-guard stop` against a real service process, and against what is left when there is none."""

import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ollama_guard.config.schema import Server, Settings
from ollama_guard.service import control, state
from ollama_guard.service.state import State
from tests.service.conftest import Running, rest

Start = Callable[..., Running]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path / "run"))
    monkeypatch.setattr(state, "SYSTEM_DIRECTORY", tmp_path / "nowhere")
    return tmp_path / "run"


def on(port: int, drain: float = 10.0, token: str = "") -> Settings:
    return Settings(server=Server(port=port, drain_timeout=drain, token=token))


def test_a_running_service_is_stopped_and_waited_for(start: Start) -> None:
    service, said = start(), []
    assert control.stop(on(service.port), echo=said.append) == 0
    assert "has stopped" in said[-1]
    assert service.process.wait(2) == 0


def test_live_answers_are_finished_before_stop_returns(start: Start) -> None:
    service, said = start(), []
    stream = service.stream("/stream?seconds=1.5")
    began = time.monotonic()
    assert control.stop(on(service.port), echo=said.append) == 0
    assert time.monotonic() - began > 1
    assert rest(stream).endswith(b"done\n\r\n0\r\n\r\n")
    assert "finishes its live answers" in said[0]


def test_without_waiting_stop_returns_while_the_service_drains(start: Start) -> None:
    service, said = start(), []
    service.stream("/stream?seconds=20")
    assert control.stop(on(service.port), wait=False, echo=said.append) == 0
    assert service.process.poll() is None
    assert "drains" in said[0]


def test_a_second_stop_during_the_drain_says_so_and_changes_nothing(start: Start) -> None:
    service, said = start(), []
    service.stream("/stream?seconds=20")
    control.stop(on(service.port), wait=False, echo=said.append)
    time.sleep(0.3)
    assert control.stop(on(service.port), echo=said.append) == 1
    assert "ending already" in said[-1]
    assert service.process.poll() is None


def test_a_service_that_does_not_end_in_time_is_reported(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, said = start(drain=20), []
    service.stream("/stream?seconds=20")
    monkeypatch.setattr(control, "SPARE_SEC", 0.2)
    assert control.stop(on(service.port, drain=0.1), echo=said.append) == 1
    assert f"process id, {service.process.pid}" in said[-1]


def test_no_service_is_said_with_the_port() -> None:
    said: list[str] = []
    assert control.stop(on(1), echo=said.append) == 1
    assert "not running on port 1" in said[0]


def test_a_killed_service_leaves_a_file_that_stop_clears_away(start: Start) -> None:
    service, said = start(), []
    service.process.kill()
    service.process.wait()
    assert service.state.exists()
    assert control.stop(on(service.port), echo=said.append) == 1
    assert "not running" in said[0]
    assert not service.state.exists()


def test_another_program_on_the_port_is_told_apart(place: Path) -> None:
    class Stranger(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(403)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        state.write(place, State(pid=1, host="127.0.0.1", port=server.server_port, token="x", started=0))
        said: list[str] = []
        assert control.stop(on(server.server_port), echo=said.append) == 1
        assert "refused to stop (HTTP 403)" in said[0]


def test_the_access_token_is_sent_along_and_the_wildcard_is_reached_over_loopback(place: Path) -> None:
    seen: dict[str, str] = {}

    class Guarded(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.update({key.lower(): value for key, value in self.headers.items()}, path=self.path)
            self.send_response(202)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Guarded) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        state.write(place, State(pid=1, host="0.0.0.0", port=server.server_port, token="mine", started=0))
        assert control.stop(on(server.server_port, token="secret"), wait=False, echo=lambda _: None) == 0
    assert seen["path"] == "/guard/stop"
    assert seen["x-ollama-guard-control"] == "mine"
    assert seen["authorization"] == "Bearer secret"


def test_a_service_that_does_not_answer_is_reported_and_not_waited_for_long(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    monkeypatch.setattr(control, "ANSWER_SEC", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        state.write(place, State(pid=1, host="127.0.0.1", port=port, token="x", started=0))
        said: list[str] = []
        assert control.stop(on(port), echo=said.append) == 1
    assert "does not answer" in said[0]


@pytest.mark.skipif(sys.platform == "win32", reason="no modes on Windows")
def test_another_users_service_is_named_as_such(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path) -> State:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(state, "read", denied)
    said: list[str] = []
    assert control.stop(on(5), echo=said.append) == 1
    assert "another user" in said[0]
