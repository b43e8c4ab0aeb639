"""A service from bound sockets to exit code: greeting, state file, signals, server.

Knows no settings and no application of its own, so that its tests need neither. Standard output gets one
line when requests are answered; all else goes to the log or to standard error.
"""

import contextlib
import logging
import os
import secrets
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

from ollama_guard import __version__
from ollama_guard.service import state, systemd
from ollama_guard.service.exits import Exit
from ollama_guard.service.listen import authority, endpoint, exposed, inherit, listen, reachable
from ollama_guard.service.server import Exchanges, GuardServer

log = logging.getLogger("ollama_guard.service")
MakeApp = Callable[[str, Callable[[], None]], Any]  # control token, the call that begins the drain


class Refused(Exception):
    """What was asked for is not done, for safety's sake. The message has the cause and the remedy."""


def operate(
    make: MakeApp,
    exchanges: Exchanges,
    sockets: list[socket.socket],
    *,
    drain_timeout: float,
    upstream: str,
) -> int:
    """Run an application on bound sockets until told to stop. Returns the exit code."""
    token = secrets.token_urlsafe(32)
    host, port = endpoint(sockets[0])
    notifier = systemd.Notifier(os.environ)

    def ready() -> None:
        _say(greeting(host, port, upstream))
        notifier.ready(f"listening on {authority(host, port)}, guarding {upstream}")

    server = GuardServer(
        lambda stop: make(token, stop),
        exchanges,
        drain_timeout=drain_timeout,
        notifier=notifier,
        on_ready=ready,
    )
    with server.signals(), _published(state.State(os.getpid(), host, port, token, time.time()), os.environ):
        try:
            server.run(sockets)
        except SystemExit:
            return complain("the application did not come up; the log says why", Exit.CANNOT_START)
    return Exit.FINE


def open_sockets(host: str, port: int, environ: MutableMapping[str, str]) -> list[socket.socket]:
    """The sockets that systemd holds for us, else ones bound here. Raises CannotListen."""
    descriptors = systemd.inherited(environ)
    if descriptors:
        return inherit(descriptors)
    return listen(host, port)


def refuse_unsafe(sockets: Sequence[socket.socket], upstream: str, *, token: str) -> None:
    """Raise Refused for an open door without a token, and for a guard that would guard itself.

    upstream is the authority (host:port) of the upstream. The settings were checked before; this looks
    at what is really bound, which a socket unit or a name that resolves elsewhere can change.
    """
    if (open_to := exposed(sockets)) and not token:
        raise Refused(
            f"{', '.join(open_to)} can be reached from other machines, and no token is set.\n"
            "Listen on 127.0.0.1, or set server.token (OLLAMA_GUARD_SERVER__TOKEN)."
        )
    for host, port in map(endpoint, sockets):
        if upstream in (authority(host, port), authority(reachable(host), port)):
            raise Refused(
                f"the upstream {upstream} is the guard itself.\nSet upstream.url to where Ollama listens, "
                "for instance: ollama-guard serve --upstream http://127.0.0.1:11434"
            )


def greeting(host: str, port: int, upstream: str) -> str:
    """What the user sees first: where we are, what we guard, and how a client is pointed here."""
    here = authority(reachable(host), port)
    return (
        f"ollama-guard {__version__} listens on http://{authority(host, port)} and guards {upstream}. "
        f"Point clients here: OLLAMA_HOST={here}, or base URL http://{here}/v1"
    )


@contextlib.contextmanager
def _published(mine: state.State, environ: Mapping[str, str]) -> Iterator[None]:
    """The state file is there while inside. Without it only `ollama-guard stop` is lost, so go on."""
    path = None
    try:
        path = state.write(state.directory(environ), mine)
    except OSError as error:
        log.warning("no state file, `ollama-guard stop` will not find this process: %s", error)
    try:
        yield
    finally:
        if path is not None:
            state.remove(path, mine.pid)


def complain(problem: object, code: Exit) -> Exit:
    """Say on standard error why there is no service; returns the code."""
    if sys.stderr is not None:  # None under pythonw, which has no console
        sys.stderr.write(f"ollama-guard: {problem}\n")
    log.debug("not started: %s", problem)
    return code


def _say(line: str) -> None:
    """One line for whoever started us; nobody may be listening any more."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
