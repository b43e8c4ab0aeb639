"""sd_notify and socket activation: the messages themselves, and the real tools where they are."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ollama_guard.service.systemd import Notifier, inherited
from tests.service import standin
from tests.service.conftest import Running, eventually, until

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no Unix sockets here")


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(str(tmp_path / "notify"))
        channel.settimeout(10)
        yield channel


def heard(supervisor: socket.socket) -> list[str]:
    return supervisor.recv(4096).decode().split("\n")


def test_ready_is_told_with_a_status_line(supervisor: socket.socket) -> None:
    Notifier({"NOTIFY_SOCKET": supervisor.getsockname()}).ready("listening")
    assert heard(supervisor) == ["READY=1", "STATUS=listening"]


def test_stopping_asks_for_the_time_that_the_drain_may_take(supervisor: socket.socket) -> None:
    Notifier({"NOTIFY_SOCKET": supervisor.getsockname()}).stopping("draining", 70.5)
    assert heard(supervisor) == ["STOPPING=1", "STATUS=draining", "EXTEND_TIMEOUT_USEC=70500000"]


def test_a_status_cannot_smuggle_in_an_assignment(supervisor: socket.socket) -> None:
    Notifier({"NOTIFY_SOCKET": supervisor.getsockname()}).status("a\nMAINPID=1")
    assert heard(supervisor) == ["STATUS=a MAINPID=1"]


@pytest.mark.skipif(sys.platform != "linux", reason="the abstract name space is Linux's")
def test_an_abstract_address_is_understood() -> None:
    name = f"ollama-guard-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind("\0" + name)
        channel.settimeout(5)
        Notifier({"NOTIFY_SOCKET": "@" + name}).status("here")
        assert heard(channel) == ["STATUS=here"]


@pytest.mark.parametrize("address", ["", "relative/path", "vsock:2:1234"])
def test_without_an_address_of_ours_nothing_is_sent(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "sendto", lambda *_: pytest.fail("sent"))
    Notifier({"NOTIFY_SOCKET": address}).ready("x")


def test_a_supervisor_that_is_gone_does_not_hurt(tmp_path: Path) -> None:
    Notifier({"NOTIFY_SOCKET": str(tmp_path / "nobody")}).ready("x")


def test_a_supervisor_that_does_not_read_does_not_block_us(supervisor: socket.socket) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": supervisor.getsockname()})
    began = time.monotonic()
    for _ in range(3000):
        notifier.status("x" * 100)
    assert time.monotonic() - began < 5


def test_descriptors_for_us_are_taken_once_and_not_left_for_children() -> None:
    environ = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "2", "LISTEN_FDNAMES": "a:b", "HOME": "/"}
    assert inherited(environ) == [3, 4]
    assert environ == {"HOME": "/"}


@pytest.mark.parametrize(
    ("pid", "count"), [("1", "1"), (str(os.getpid()), "x"), (str(os.getpid()), "-1"), ("", "")]
)
def test_descriptors_for_another_process_or_without_a_number_are_left_alone(pid: str, count: str) -> None:
    assert inherited({"LISTEN_PID": pid, "LISTEN_FDS": count}) == []


def test_a_service_tells_ready_draining_and_stopping(
    start: Callable[..., Running], supervisor: socket.socket
) -> None:
    service = start(NOTIFY_SOCKET=supervisor.getsockname())
    assert heard(supervisor)[0] == "READY=1"
    service.stream("/stream?seconds=1.5")
    service.signal()
    stopping = heard(supervisor)
    assert stopping[0] == "STOPPING=1"
    assert "STATUS=draining: 1 exchanges live" in heard(supervisor)
    service.ends_within(15)
    assert service.process.returncode == 0


@pytest.mark.skipif(shutil.which("systemd-socket-activate") is None, reason="no systemd-socket-activate here")
def test_a_socket_that_systemd_holds_is_served(environ: dict[str, str]) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        "systemd-socket-activate",
        "-l",
        f"127.0.0.1:{port}",
        "-E",
        "PYTHONPATH",
        "-E",
        "RUNTIME_DIRECTORY",
    ]
    process = subprocess.Popen(
        [*command, sys.executable, standin.__file__, "1", "5"],
        env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        eventually(lambda: answers(port), 10)
        assert process.stdout is not None
        # port 1 of the command line is not used: the socket was there
        assert re.search(rf"http://127\.0\.0\.1:{port}", process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0
    finally:
        process.kill()
        process.communicate()


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            until(client, b"fine")
    except ConnectionRefusedError:
        return False
    return True
