"""Runs the stand-in service as a process, with a state directory of its own."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass
class Running:
    """A service process and what it said."""

    process: subprocess.Popen[str]
    port: int
    greeting: str
    state: Path
    sockets: list[socket.socket] = field(default_factory=list)

    def connect(self, target: str, *, method: str = "GET", body: str = "") -> socket.socket:
        """Send a request on a new connection; it is closed at the end of the test."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        self.sockets.append(connection)
        head = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
        head += f"Content-Length: {len(body)}\r\n" if body else ""
        connection.sendall(f"{head}\r\n{body}".encode())
        return connection

    def stream(self, target: str) -> socket.socket:
        """Open a stream, and return when its first piece is here."""
        connection = self.connect(target)
        until(connection, b"tick")
        return connection

    def signal(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def ends_within(self, seconds: float) -> float:
        """Wait for the end of the process; returns how long it took."""
        start = time.monotonic()
        self.process.wait(seconds)
        return time.monotonic() - start


def until(connection: socket.socket, mark: bytes) -> bytes:
    """Read up to a mark; fails when the connection ends before."""
    seen = b""
    while mark not in seen:
        piece = connection.recv(4096)
        assert piece, f"closed before {mark!r}: {seen!r}"
        seen += piece
    return seen


def rest(connection: socket.socket) -> bytes:
    """All that still comes; a reset counts as the end."""
    seen = b""
    try:
        while piece := connection.recv(65536):
            seen += piece
    except ConnectionResetError:
        seen += b"<reset>"
    return seen


def refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def eventually(what: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which the state file lands in tmp_path."""
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("OLLAMA", "NOTIFY", "LISTEN_"))
    }
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "RUNTIME_DIRECTORY": str(tmp_path / "run"),
        "PYTHONUNBUFFERED": "1",
    }


@pytest.fixture
def launch(environ: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Run `python ARGUMENTS` until it greets; whatever is left of it ends with the test."""
    running: list[Running] = []

    def go(*arguments: str, **extra: str) -> Running:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**environ, **extra}, cwd=tmp_path,
        )  # fmt: skip
        assert process.stdout is not None
        greeting = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", greeting)
        assert found, greeting + (process.stderr.read() if process.stderr else "")
        port = int(found[1])
        service = Running(process, port, greeting, tmp_path / "run" / f"guard-{port}.json")
        running.append(service)
        return service

    yield go
    for service in running:
        for connection in service.sockets:
            connection.close()
        if service.process.poll() is None:
            service.process.kill()
        service.process.communicate()


@pytest.fixture
def start(launch: Callable[..., Running]) -> Callable[..., Running]:
    """Start the stand-in on a free port."""

    def go(drain: float = 20.0, mode: str = "", **extra: str) -> Running:
        return launch(str(Path(__file__).with_name("standin.py")), "0", str(drain), mode, **extra)

    return go
