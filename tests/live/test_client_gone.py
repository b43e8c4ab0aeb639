"""A client that leaves takes its upstream request with it, whatever state the exchange is in."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from mocks.clients import Wire, ask, connect, request_bytes
from mocks.journal import Entry
from mocks.server import MockOllama
from tests.live.conftest import Guards
from tests.live.look import rows, until, wait_rows
from tests.live.talk import PATH, body
from tests.net import Guard, guard_server

WITHIN = 0.25
"""Seconds from the client's close to the close that the upstream sees."""

Leave = Callable[[Wire], None]


def by_fin(wire: Wire) -> None:
    wire.writer.close()


def by_rst(wire: Wire) -> None:
    wire.reset()


LEAVES = {"fin": by_fin, "rst": by_rst}


def leave_when(url: str, raw: bytes, ready: Callable[[], bool], leave: Leave = by_fin) -> float:
    """Send a request, wait for a moment, leave; the monotonic time of it."""

    async def go() -> float:
        wire = await connect(url)
        wire.writer.write(raw)
        await wire.writer.drain()
        assert await asyncio.to_thread(until, ready), "the moment to leave did not come"
        leave(wire)
        left_at = time.monotonic()
        with contextlib.suppress(OSError):
            await wire.writer.wait_closed()
        return left_at

    return asyncio.run(go())


def idle(guard: Guard) -> bool:
    return bool(guard.health()["live"] == 0)


def assert_cut(mock: MockOllama, guard: Guard, left_at: float, attempts: int = 1) -> None:
    assert mock.journal.settled()
    last: Entry = mock.journal[-1]
    assert last.client_left
    assert last.ended_at is not None
    assert last.ended_at - left_at < WITHIN
    assert until(lambda: idle(guard))
    assert len(mock.journal) == attempts  # and no attempt follows: nothing is live that could make one


@pytest.mark.parametrize("leave", LEAVES.values(), ids=LEAVES)
@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
@pytest.mark.parametrize("script", ["silent", "silent-after-first", "say-forever", "think-forever"])
def test_a_client_that_leaves_closes_the_upstream_at_once(
    mock: MockOllama, guard: Guard, path: str, script: str, leave: Leave
) -> None:
    told = len(rows(guard, "exchange"))
    raw = request_bytes(guard.url, path, body(f"mock:{script}"))
    begun = 0 if script == "silent" else 1
    ready = lambda: mock.requests != [] and mock.requests[0].events >= begun  # noqa: E731
    left_at = leave_when(guard.url, raw, ready, leave)
    assert_cut(mock, guard, left_at)
    assert wait_rows(guard, "exchange", told + 1)[-1]["outcome"] == "client_gone"


def test_a_client_that_leaves_in_a_heartbeat_closes_the_upstream(mock: MockOllama, guards: Guards) -> None:
    settings = {"heartbeat.heartbeat_sec": 0.05, "heartbeat.commit_sec": 0.05, "heartbeat.data_sec": 0.05}
    guard = guards(settings)
    seen: list[bytes] = []

    async def go() -> float:
        wire = await connect(guard.url)
        wire.writer.write(request_bytes(guard.url, "/api/chat", body("mock:silent")))
        while b"".join(seen).count(b"\n") < 12:  # the head, and a few heartbeats
            seen.append(await asyncio.wait_for(wire.reader.read(4096), 10))
        await wire.close()
        return time.monotonic()

    assert_cut(mock, guard, asyncio.run(go()))


def test_a_client_that_leaves_between_two_attempts_is_not_asked_for_again(
    mock: MockOllama, guards: Guards
) -> None:
    guard = guards({"empty.pause_sec": 60, "empty.pause_max_sec": 60})
    told = len(rows(guard, "exchange"))
    raw = request_bytes(guard.url, "/api/chat", body("mock:empty"))
    ready = lambda: len(mock.requests) == 1 and mock.requests[0].ended is not None  # noqa: E731
    left_at = leave_when(guard.url, raw, ready)
    assert until(lambda: idle(guard))
    assert time.monotonic() - left_at < 1
    assert wait_rows(guard, "exchange", told + 1)[-1]["outcome"] == "client_gone"
    assert len(mock.journal) == 1


def test_a_client_that_leaves_in_a_later_attempt_closes_that_one(mock: MockOllama, guard: Guard) -> None:
    name = mock.script("loop-then-silent", {"attempts": ["loop-reasoning-always", "silent"]})
    raw = request_bytes(guard.url, "/api/chat", body(name))
    left_at = leave_when(guard.url, raw, lambda: len(mock.requests) == 2)
    assert_cut(mock, guard, left_at, attempts=2)


def test_a_client_that_leaves_in_a_non_streaming_generation_closes_the_upstream(
    mock: MockOllama, guard: Guard
) -> None:
    content = body("mock:say-forever") | {"stream": False}
    raw = request_bytes(guard.url, "/api/chat", content)
    left_at = leave_when(guard.url, raw, lambda: mock.requests != [] and mock.requests[0].events > 3)
    assert_cut(mock, guard, left_at)


@pytest.mark.parametrize("leave", LEAVES.values(), ids=LEAVES)
def test_a_client_that_leaves_a_pull_closes_it_upstream(mock: MockOllama, guard: Guard, leave: Leave) -> None:
    raw = request_bytes(guard.url, "/api/pull", {"model": "big", "mock": {"lines": 1000, "delay": 0.05}})
    left_at = leave_when(guard.url, raw, lambda: mock.requests != [] and mock.requests[0].events > 3, leave)
    assert_cut(mock, guard, left_at)


@pytest.mark.parametrize("leave", LEAVES.values(), ids=LEAVES)
def test_a_client_that_leaves_in_an_upload_closes_it_upstream(
    mock: MockOllama, guard: Guard, leave: Leave
) -> None:
    raw = request_bytes(guard.url, "/api/blobs/sha256:00", b"x" * 100_000)[:-50_000]
    ready = lambda: mock.requests != [] and mock.requests[0].body_bytes >= 50_000  # noqa: E731
    left_at = leave_when(guard.url, raw, ready, leave)
    assert_cut(mock, guard, left_at)


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
def test_a_client_that_leaves_before_its_request_is_whole_never_reaches_ollama(
    mock: MockOllama, guard: Guard, path: str
) -> None:
    begun = guard.health()["counters"]
    raw = request_bytes(guard.url, path, body("mock:healthy"))[:-10]
    leave_when(guard.url, raw, lambda: True)
    assert until(lambda: idle(guard))
    assert len(mock.journal) == 0
    assert guard.health()["counters"] == begun


@pytest.fixture
def deaf() -> Iterator[str]:
    """The address of something that listens and takes no connection: its backlog is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, contextlib.ExitStack() as stack:
        address = listener.getsockname()
        for _ in range(16):
            sock = stack.enter_context(socket.socket())
            sock.settimeout(0.2)
            try:
                sock.connect(address)
            except TimeoutError:
                break
        else:
            pytest.skip("this system takes connections beyond the backlog")
        yield f"http://127.0.0.1:{address[1]}"


def test_a_client_that_leaves_while_the_guard_connects_ends_that_too(deaf: str) -> None:
    with guard_server(deaf, {"upstream.connect_timeout_sec": 30}) as guard:
        raw = request_bytes(guard.url, "/api/chat", body("m"))
        left_at = leave_when(guard.url, raw, lambda: not idle(guard))
        assert until(lambda: idle(guard))
        assert time.monotonic() - left_at < 1
        (row,) = wait_rows(guard, "exchange", 1)
        assert row["outcome"] == "client_gone"


def test_a_connect_that_takes_too_long_is_an_error_with_status(deaf: str) -> None:
    with guard_server(deaf, {"upstream.connect_timeout_sec": 0.5}) as guard:
        seen = asyncio.run(ask(guard.url, "/api/chat", body("m")))
        assert seen.status == 502
