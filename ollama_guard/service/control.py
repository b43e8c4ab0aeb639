"""`ollama-guard stop`: finds the running guard by its state file and asks it over HTTP to drain and end.

No process is ever killed, so a state file that is out of date, or a process id that was given out anew,
can do no harm. Works the same on Windows, where there is no SIGTERM.
"""

import http.client
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ollama_guard.config.schema import Settings
from ollama_guard.service import state
from ollama_guard.service.exits import Exit
from ollama_guard.service.listen import authority, reachable
from ollama_guard.service.process import alive

ANSWER_SEC = 5.0
SPARE_SEC = 10.0  # on top of drain_timeout; the guard itself takes at most 5 of them
POLL = 0.1


def stop(settings: Settings, *, wait: bool = True, echo: Callable[[str], None] = print) -> int:
    """Ask the guard on the settings' port to end, and wait until it has. Returns the exit code.

    0: it has ended (without `wait`: it has agreed to). 1: there is none, or it refused, or it still runs.
    """
    port = settings.server.port
    try:
        path, found = find(port, os.environ)
    except PermissionError as error:
        echo(f"{error.filename} belongs to another user: run `ollama-guard stop` as that user, or as root.")
        return Exit.REFUSED
    if found is None or path is None:
        echo(f"ollama-guard is not running on port {port}. (For another port: OLLAMA_GUARD_PORT=...)")
        return Exit.REFUSED
    try:
        status = _ask(found, settings.server.token)
    except (OSError, http.client.HTTPException) as error:
        return _no_answer(path, found, error, echo)
    if status // 100 != 2:
        echo(
            f"What listens on {authority(found.host, found.port)} refused to stop (HTTP {status}). "
            f"It is not the guard that wrote {path}."
        )
        return Exit.REFUSED
    if not wait:
        echo(f"ollama-guard (process {found.pid}) drains, and ends after its live answers.")
        return Exit.FINE
    return _await_end(path, found, settings.server.drain_timeout + SPARE_SEC, echo)


def find(port: int, environ: Mapping[str, str]) -> tuple[Path | None, state.State | None]:
    """The state file of the guard on this port, and what it says. Raises PermissionError."""
    for path in state.candidates(port, environ):
        found = state.read(path)
        if found is not None:
            return path, found
    return None, None


def _ask(found: state.State, access_token: str) -> int:
    headers = {"x-ollama-guard-control": found.token, "Content-Length": "0"}
    if access_token:
        headers["Authorization"] = f"Bearer {access_token}"
    connection = http.client.HTTPConnection(reachable(found.host), found.port, timeout=ANSWER_SEC)
    try:
        connection.request("POST", "/guard/stop", headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def _no_answer(path: Path, found: state.State, error: Exception, echo: Callable[[str], None]) -> int:
    if isinstance(error, ConnectionRefusedError) and alive(found.pid):
        echo(f"ollama-guard (process {found.pid}) takes no more connections: it is ending already.")
    elif isinstance(error, ConnectionRefusedError):
        state.remove(path, found.pid)
        echo(f"ollama-guard is not running; it left {path} behind, which is removed now.")
    else:
        echo(f"ollama-guard (process {found.pid}) does not answer on port {found.port}: {error!r}")
    return Exit.REFUSED


def _await_end(path: Path, found: state.State, seconds: float, echo: Callable[[str], None]) -> int:
    began, told = time.monotonic(), False
    while _there(path, found):
        passed = time.monotonic() - began
        if passed > seconds:
            echo(f"ollama-guard still runs after {passed:.0f} s. End it by its process id, {found.pid}.")
            return Exit.REFUSED
        if passed > 1 and not told:
            echo(f"ollama-guard finishes its live answers (up to {seconds - SPARE_SEC:g} s) ...")
            told = True
        time.sleep(POLL)
    echo(f"ollama-guard has stopped after {time.monotonic() - began:.1f} s.")
    return Exit.FINE


def _there(path: Path, found: state.State) -> bool:
    """The state file is the last thing to go; one that was killed leaves it, but has no process."""
    return state.read(path) == found and alive(found.pid)
