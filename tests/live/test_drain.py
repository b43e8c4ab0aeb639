"""The service ends: what runs is finished, what does not finish is told, and nobody is left hanging."""

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mocks.clients import COMPLETE, Seen, ask, connect
from mocks.judges import judge
from mocks.server import MockOllama
from tests.live.look import until, wait_rows
from tests.live.talk import HEALTHY_ANSWER, PATH, body
from tests.net import ROOT, Guard, guard_server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")
SOON = 5.0
"""Seconds that the service may take to end beyond what it waits for; a busy machine is slow."""


@dataclass
class Asking:
    """A client in a thread; `seen` when it is through."""

    url: str
    path: str
    content: object
    seen: Seen = field(default_factory=lambda: Seen(0.0))

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        self.seen = asyncio.run(ask(self.url, self.path, self.content, timeout=60))

    def result(self) -> Seen:
        self.thread.join(60)
        assert not self.thread.is_alive()
        return self.seen


def started(mock: MockOllama, count: int) -> bool:
    return until(lambda: sum(entry.events > 0 for entry in mock.journal) == count)


@pytest.fixture
def patient(mock: MockOllama) -> Iterator[Guard]:
    with guard_server(mock.url, {"server.drain_timeout": 30}) as guard:
        yield guard


@pytest.fixture
def brief(mock: MockOllama) -> Iterator[Guard]:
    with guard_server(mock.url, {"server.drain_timeout": 0.5}) as guard:
        yield guard


def test_running_answers_are_finished_and_the_exit_code_is_0(mock: MockOllama, patient: Guard) -> None:
    name = mock.script("two-seconds", {"delay": 0.01, "steps": [{"say": HEALTHY_ANSWER}]})
    asking = [Asking(patient.url, path, body(name)) for path in PATH.values()]
    asking.append(Asking(patient.url, "/api/pull", {"model": "m", "mock": {"lines": 50, "delay": 0.02}}))
    assert started(mock, 3)
    assert patient.stop(signal.SIGTERM) == 0
    for one in asking:
        assert one.result().ended == COMPLETE
    assert all(entry.ended == "finished" for entry in mock.journal)
    for one in asking[:2]:
        assert judge(one.path, one.seen.body).content == HEALTHY_ANSWER


def test_an_intervention_under_way_is_finished_too(mock: MockOllama, patient: Guard) -> None:
    asking = Asking(patient.url, "/api/chat", body("mock:loop-twice"))
    assert started(mock, 1)
    assert patient.stop(signal.SIGTERM) == 0
    assert judge("/api/chat", asking.result().body).content == HEALTHY_ANSWER


@pytest.mark.parametrize("script", ["say-forever", "think-forever", "silent-after-first"])
def test_past_the_drain_time_streams_end_with_an_error_event_and_a_terminator(
    mock: MockOllama, brief: Guard, script: str
) -> None:
    asking = [Asking(brief.url, path, body(f"mock:{script}")) for path in PATH.values()]
    assert started(mock, 2)
    began = time.monotonic()
    assert brief.stop(signal.SIGTERM) == 0
    assert time.monotonic() - began < 0.5 + SOON
    for one in asking:
        assert one.result().ended == COMPLETE  # the chunked body has its terminator
        report = judge(one.path, one.seen.body)
        assert report.problems == []
        assert "ollama_loop_guard_draining" in str(report.errors)
    assert mock.journal.settled()
    assert all(entry.client_left for entry in mock.journal)
    rows = wait_rows(brief, "exchange", 2)
    assert [row["outcome"] for row in rows] == ["drained", "drained"]


def test_past_the_drain_time_a_request_without_a_byte_gets_a_status(mock: MockOllama, brief: Guard) -> None:
    asking = Asking(brief.url, "/v1/chat/completions", body("mock:silent"))
    assert until(lambda: len(mock.journal) == 1)
    assert brief.stop(signal.SIGTERM) == 0
    seen = asking.result()
    assert seen.status == 503
    assert seen.json()["error"]["type"] == "ollama_loop_guard_draining"


def test_past_the_drain_time_a_relayed_stream_is_broken_off_and_not_ended(
    mock: MockOllama, brief: Guard
) -> None:
    asking = Asking(brief.url, "/api/pull", {"model": "m", "mock": {"lines": 10_000, "delay": 0.02}})
    assert started(mock, 1)
    assert brief.stop(signal.SIGTERM) == 0
    assert asking.result().ended != COMPLETE  # half a pull must not look like a whole one
    assert mock.journal.settled()
    assert mock.journal[0].client_left


def test_a_second_signal_ends_at_once(mock: MockOllama, patient: Guard) -> None:
    asking = Asking(patient.url, "/api/chat", body("mock:say-forever"))
    assert started(mock, 1)
    patient.process.send_signal(signal.SIGTERM)
    assert until(lambda: "draining" in patient.output)
    began = time.monotonic()
    assert patient.stop(signal.SIGTERM) == 0
    assert time.monotonic() - began < SOON
    assert "is being restarted" in asking.result().text  # and not just a connection that is gone
    (row,) = [line for line in patient.output.splitlines() if '"event": "exchange"' in line]
    assert json.loads(row)["outcome"] == "drained"


def test_new_requests_are_refused_while_old_ones_finish(mock: MockOllama, patient: Guard) -> None:
    asking = Asking(patient.url, "/api/chat", body("mock:say-forever"))
    assert started(mock, 1)
    parts = urlsplit(patient.url)
    kept = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    kept.request("GET", "/api/version")  # a connection that is there, and idle
    kept.getresponse().read()
    patient.process.send_signal(signal.SIGTERM)
    assert until(lambda: "draining" in patient.output)

    def turned_away() -> bool:
        with socket.socket() as sock:
            return sock.connect_ex((parts.hostname or "", parts.port or 80)) != 0

    assert until(turned_away)
    assert kept.sock.recv(1) == b""  # the idle connection was closed, and nothing can be asked on it
    kept.close()
    patient.stop(signal.SIGTERM)
    asking.result()


def test_an_idle_connection_does_not_hold_the_end_up(mock: MockOllama, patient: Guard) -> None:
    async def go() -> int:
        idle = [await connect(patient.url) for _ in range(3)]
        code = await asyncio.to_thread(patient.stop, signal.SIGTERM, 20)
        for wire in idle:
            await wire.close()
        return code

    began = time.monotonic()
    assert asyncio.run(go()) == 0
    assert time.monotonic() - began < SOON


def test_the_stop_command_drains_and_waits(mock: MockOllama, patient: Guard) -> None:
    name = mock.script("a-second", {"delay": 0.01, "steps": [{"say": HEALTHY_ANSWER}]})
    asking = Asking(patient.url, "/api/chat", body(name))
    assert started(mock, 1)
    assert patient.process.poll() is None
    done = stop_command(patient)
    assert done.returncode == 0, done.stdout + done.stderr
    assert patient.process.wait(10) == 0
    assert judge("/api/chat", asking.result().body).content == HEALTHY_ANSWER


def stop_command(guard: Guard) -> subprocess.CompletedProcess[str]:
    """`ollama-guard stop` for this guard, in the folders that it was given."""
    environ = dict(os.environ) | {"PYTHONPATH": str(ROOT), "OLLAMA_GUARD_PORT": str(urlsplit(guard.url).port)}
    folder = str(Path(guard.log).parent)
    environ |= dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"), folder)
    command = [sys.executable, "-m", "ollama_guard", "stop"]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)


def test_the_control_token_is_needed_to_stop_it(mock: MockOllama, patient: Guard) -> None:
    for headers in ({}, {"x-ollama-guard-control": "guess"}, {"x-ollama-guard-control": ""}):
        seen = asyncio.run(ask(patient.url, "/guard/stop", b"", headers=headers))
        assert seen.status == 403
    assert patient.health()["status"] == "ok"


def test_the_health_door_tells_what_goes_on(mock: MockOllama, patient: Guard) -> None:
    asking = Asking(patient.url, "/api/chat", body("mock:say-forever"))
    assert started(mock, 1)
    told = patient.health()
    assert (told["status"], told["live"], told["upstream"]) == ("ok", 1, mock.url)
    patient.process.kill()
    asking.result()
