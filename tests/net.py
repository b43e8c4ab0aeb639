"""Servers for tests over real sockets: the mock upstream in a thread, the guard as a process of its own.

    with mock_server() as mock, guard_server(mock.url, {"stall.max_total_sec": 2}) as guard:
        client = openai.OpenAI(base_url=guard.url + "/v1", api_key="none")

A guard that does not get ready, or that dies, fails the test with what it printed.
"""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mocks.server import MockOllama, running

ROOT = Path(__file__).resolve().parents[1]
READY_WITHIN = 20.0  # seconds; the machine may be busy


def free_port(host: str = "127.0.0.1") -> int:
    """A port that was free a moment ago."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as sock:
        sock.bind((host, 0))
        return int(sock.getsockname()[1])


@contextlib.contextmanager
def mock_server(**settings: Any) -> Iterator[MockOllama]:
    """The mock upstream in a thread. `delay`, `host`, `port` as in MockOllama; no delay unless given."""
    with running(**({"delay": 0.0} | settings)) as mock:
        yield mock


def get_json(url: str, path: str, timeout: float = 5.0) -> Any:
    """GET a JSON document. Raises OSError, or ValueError for what is not a 200 with JSON."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        if response.status != 200:
            raise ValueError(f"{path}: status {response.status}")
        return json.loads(response.read())
    except http.client.HTTPException as error:
        raise ValueError(f"{path}: {error!r}") from error
    finally:
        connection.close()


@dataclass
class Guard:
    """A running guard. `output` is all that it printed so far."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def output(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def health(self) -> Any:
        """GET /guard/health."""
        return get_json(self.url, "/guard/health")

    def stop(self, how: int = signal.SIGTERM, timeout: float = 90.0) -> int:
        """Send a signal and wait; the exit code."""
        self.process.send_signal(how)
        return self.process.wait(timeout)


@contextlib.contextmanager
def guard_server(
    upstream: str,
    settings: Mapping[str, object] | None = None,
    *,
    arguments: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
    host: str = "127.0.0.1",
) -> Iterator[Guard]:
    """The real guard in front of `upstream`, on a free port. `settings` has dotted keys.

    It sees no settings file, no state and no OLLAMA_… variable of whoever runs the tests.
    """
    with tempfile.TemporaryDirectory(prefix="ollama-guard-test-") as folder:
        port = free_port(host)
        command = [sys.executable, "-m", "ollama_guard", "serve", "--host", host, "--port", str(port)]
        command += ["--upstream", upstream]
        for key, value in (settings or {}).items():
            command += ["--set", f"{key}={_spelled(value)}"]
        log = Path(folder) / "output.txt"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*command, *arguments],
                cwd=folder,
                env=_environ(Path(folder)) | dict(environ or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        guard = Guard(f"http://{f'[{host}]' if ':' in host else host}:{port}", process, log)
        try:
            _wait_ready(guard)
            yield guard
        finally:
            if process.poll() is None:
                process.kill()
            process.wait(10)


def _spelled(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _environ(folder: Path) -> dict[str, str]:
    """The tests' environment without what would steer the guard, and with folders of its own."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(("OLLAMA_", "XDG_")) and not name.upper().endswith("_PROXY")
    }
    own = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return kept | own | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def _wait_ready(guard: Guard) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while True:
        try:
            guard.health()
        except (OSError, ValueError) as error:
            if "status 401" in str(error):  # it asks for its token: so it is there
                return
            code = guard.process.poll()
            if code is None and time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            state = f"ended with exit code {code}" if code is not None else f"was not ready ({error})"
            raise AssertionError(f"the guard {state}; it printed:\n{guard.output}") from error
        return
