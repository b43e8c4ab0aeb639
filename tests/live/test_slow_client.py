"""A client that reads slowly, or never, costs a bounded amount of memory and slows the upstream down."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from mocks.clients import finish, held
from mocks.server import MockOllama
from tests.live.conftest import Guards
from tests.live.look import needs_proc, resident_mb, until
from tests.live.talk import HEALTHY_ANSWER, ask_ollama, body
from tests.net import Guard

pytestmark = needs_proc

EVENT = 4096  # characters
FLOOD_EVENTS = 30_000  # 120 MB, if somebody took them
MOST_MB = 24.0
"""What one such client may add: its buffer, what uvicorn and httpx hold, and the detectors."""


@pytest.fixture
def small(guards: Guards) -> Guard:
    return guards({"server.client_buffer_kb": 256, "detect.content": False})


def flood(mock: MockOllama) -> str:
    text = "".join(chr(97 + n * 7 % 26) for n in range(EVENT))
    return mock.script("flood", {"delay": 0, "steps": [{"say": text, "chunk": EVENT, "times": FLOOD_EVENTS}]})


def still(value: Callable[[], Any]) -> Any:
    """Wait until a value has not changed for half a second; the value."""
    last, unchanged = value(), 0

    def settled() -> bool:
        nonlocal last, unchanged
        unchanged = unchanged + 1 if value() == last else 0
        last = value()
        return unchanged > 50  # looks, 10 ms apart

    assert until(settled, 30)
    return last


@pytest.mark.parametrize("path", ["/api/chat", "/v1/chat/completions", "/api/pull"])
def test_a_client_that_never_reads_slows_the_upstream_and_takes_bounded_memory(
    mock: MockOllama, small: Guard, path: str
) -> None:
    content, most = body(flood(mock)), FLOOD_EVENTS // 4
    if path == "/api/pull":  # relayed, not guarded
        content = {"model": "big", "mock": {"lines": 200_000, "delay": 0}}  # 22 MB
        most = 120_000  # the kernels' buffers take some megabytes
    before = resident_mb(small.process.pid)

    async def go() -> None:
        async with held(small.url, path, content):
            begun = lambda: mock.requests != [] and mock.requests[0].events > 0  # noqa: E731
            assert await asyncio.to_thread(until, begun, 30)
            events = await asyncio.to_thread(still, lambda: mock.requests[0].events)
            assert 0 < events < most
            assert mock.requests[0].ended is None
            assert resident_mb(small.process.pid) - before < MOST_MB

    asyncio.run(go())
    # The block's end is the client's leaving: the upstream is closed although bytes for it still wait.
    assert mock.journal.settled()
    assert mock.requests[0].client_left
    assert until(lambda: small.health()["live"] == 0)


def test_a_client_that_reads_late_gets_every_byte(mock: MockOllama, small: Guard) -> None:
    text = "".join(chr(97 + n * 7 % 26) for n in range(EVENT))
    steps = [{"say": text, "chunk": EVENT, "times": 2000}, {"end": "stop"}]
    name = mock.script("eight-megabytes", {"delay": 0, "steps": steps})

    async def go() -> bytes:
        async with held(small.url, "/api/chat", body(name)) as (wire, seen):
            await asyncio.to_thread(until, lambda: mock.requests != [])
            await asyncio.to_thread(still, lambda: mock.requests[0].events)
            await finish(wire, seen, 60)
            assert seen.ended == "complete"
            return seen.body

    answer = asyncio.run(go())
    assert answer.count(text.encode()) == 2000
    assert b'"done":true' in answer.splitlines()[-1]
    assert mock.requests[0].ended == "finished"


def test_other_clients_are_served_while_one_does_not_read(mock: MockOllama, small: Guard) -> None:
    async def go() -> str:
        async with held(small.url, "/api/chat", body(flood(mock))):
            await asyncio.to_thread(until, lambda: mock.requests != [])
            heard = await asyncio.to_thread(ask_ollama, small.url, "mock:healthy")
            return heard.content

    assert asyncio.run(go()) == HEALTHY_ANSWER
