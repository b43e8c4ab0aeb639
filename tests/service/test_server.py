"""The server's life by signals, on real processes and sockets."""

import json
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ollama_guard.service.server import GRACE
from tests.service.conftest import Running, eventually, refused, rest, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
Start = Callable[..., Running]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_service_ends_at_the_first_signal_with_exit_code_0(
    start: Start, number: signal.Signals
) -> None:
    service = start()
    service.signal(number)
    assert service.ends_within(15) < 5
    assert service.process.returncode == 0


@contextmanager
def hangup(handler: signal.Handlers) -> Iterator[None]:
    """What a child that is started meanwhile does about SIGHUP, whatever these tests run under."""
    before = signal.signal(signal.SIGHUP, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_closed_terminal_drains_too(start: Start) -> None:
    with hangup(signal.SIG_DFL):
        service = start()
    stream = service.stream("/stream?seconds=1.5")
    service.signal(signal.SIGHUP)
    assert rest(stream).endswith(b"done\n\r\n0\r\n\r\n")
    service.ends_within(10)
    assert service.process.returncode == 0


def test_under_nohup_a_closed_terminal_is_nothing(start: Start) -> None:
    with hangup(signal.SIG_IGN):
        service = start()
    service.signal(signal.SIGHUP)
    assert b"fine" in until(service.connect("/"), b"fine")
    assert service.process.poll() is None


def test_a_live_stream_is_finished_before_the_service_ends(start: Start) -> None:
    service = start()
    stream = service.stream("/stream?seconds=1.5")
    service.signal()
    body = rest(stream)
    assert body.endswith(b"done\n\r\n0\r\n\r\n")
    service.ends_within(10)
    assert service.process.returncode == 0


def test_nothing_new_is_accepted_while_a_stream_drains(start: Start) -> None:
    service = start()
    service.stream("/stream?seconds=20")
    service.signal()
    eventually(lambda: refused(service.port))
    assert service.process.poll() is None


def test_a_pipelined_request_is_answered_no_more_once_the_drain_has_begun(start: Start) -> None:
    service = start()
    stream = service.stream("/stream?seconds=1.5")
    service.signal()
    eventually(lambda: refused(service.port))
    stream.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    body = rest(stream)
    assert body.count(b"HTTP/1.1 200") == 0
    assert b"done\n" in body


def test_at_the_deadline_live_exchanges_are_told_to_end_and_do_so_whole(start: Start) -> None:
    service = start(drain=0.5)
    stream = service.stream("/stream?seconds=60")
    began = time.monotonic()
    service.signal()
    body = rest(stream)
    assert body.endswith(b"ended\n\r\n0\r\n\r\n")
    assert time.monotonic() - began >= 0.45
    assert service.ends_within(15) < 5
    assert service.process.returncode == 0


def test_what_does_not_end_by_itself_is_cut_within_the_grace(start: Start) -> None:
    service = start(drain=0.3)
    stream = service.stream("/deaf")
    began = time.monotonic()
    service.signal()
    service.ends_within(30)
    # 2 s for a machine that is busy with other things
    assert time.monotonic() - began < 0.3 + GRACE + 2
    assert service.process.returncode == 0
    assert not rest(stream).endswith(b"0\r\n\r\n")


def test_a_second_signal_ends_at_once(start: Start) -> None:
    service = start(drain=60)
    stream = service.stream("/stream?seconds=60")
    service.signal()
    eventually(lambda: refused(service.port))
    service.signal()
    assert service.ends_within(15) < 5
    assert service.process.returncode == 0
    assert b"done" not in rest(stream)
    assert not service.state.exists()


def test_two_signals_in_one_breath_end_at_once_too(start: Start) -> None:
    service = start(drain=60)
    service.stream("/stream?seconds=60")
    service.signal(signal.SIGTERM)
    service.signal(signal.SIGINT)
    assert service.ends_within(15) < 5
    assert service.process.returncode == 0


def test_an_idle_keep_alive_connection_does_not_hold_the_exit(start: Start) -> None:
    service = start(drain=30)
    idle = service.connect("/")
    until(idle, b"fine")
    never_used = socket.create_connection(("127.0.0.1", service.port), timeout=10)
    service.sockets.append(never_used)
    half = socket.create_connection(("127.0.0.1", service.port), timeout=10)
    service.sockets.append(half)
    half.sendall(b"GET / HT")
    service.signal()
    assert service.ends_within(15) < 5
    assert service.process.returncode == 0


def test_a_client_that_leaves_during_the_drain_frees_the_exit(start: Start) -> None:
    service = start(drain=30)
    stream = service.stream("/stream?seconds=60")
    service.signal()
    eventually(lambda: refused(service.port))
    stream.close()
    assert service.ends_within(15) < 5
    assert service.process.returncode == 0


def test_a_stuck_event_loop_does_not_outlive_the_second_signal(start: Start) -> None:
    service = start(mode="stuck")
    service.connect("/block")
    time.sleep(0.3)  # the request has to be inside the blocking call
    service.signal()
    service.signal(signal.SIGINT)
    assert service.ends_within(30) < 10
    assert service.process.returncode == 0


def test_an_application_that_does_not_start_gives_exit_code_3(start: Start, environ: dict[str, str]) -> None:
    import subprocess

    from tests.service import standin

    done = subprocess.run(
        [sys.executable, standin.__file__, "0", "1", "broken"],
        env=environ, capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "did not come up" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_the_state_file_is_there_while_the_service_lives_and_only_for_its_owner(start: Start) -> None:
    service = start()
    state = json.loads(service.state.read_text())
    assert (state["pid"], state["host"], state["port"]) == (service.process.pid, "127.0.0.1", service.port)
    assert len(state["token"]) >= 32
    assert stat.S_IMODE(service.state.stat().st_mode) == 0o600
    service.signal()
    service.ends_within(15)
    assert not service.state.exists()


def test_the_greeting_names_the_real_port_and_how_to_point_a_client(start: Start) -> None:
    service = start()
    assert service.port != 0
    assert f"OLLAMA_HOST=127.0.0.1:{service.port}" in service.greeting
    assert f"http://127.0.0.1:{service.port}/v1" in service.greeting


def test_a_port_that_is_taken_is_exit_code_3_with_a_remedy(start: Start, environ: dict[str, str]) -> None:
    import subprocess

    from tests.service import standin

    service = start()
    done = subprocess.run(
        [sys.executable, standin.__file__, str(service.port), "1"],
        env=environ, capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert f"127.0.0.1:{service.port} is taken" in done.stderr
    assert f"--port {service.port + 1}" in done.stderr
    assert service.state.exists(), "the one that failed must not take the other's state file with it"


def test_the_service_says_nothing_of_itself_in_its_headers(start: Start) -> None:
    service = start()
    answer = until(service.connect("/"), b"fine").lower()
    assert b"\r\nserver:" not in answer
    assert b"\r\ndate:" not in answer
