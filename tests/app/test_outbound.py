import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest
from starlette.types import Send

from ollama_guard.app import outbound
from ollama_guard.app.outbound import WRITE_BYTES, ClientStalled, Outbound, status_for_client


async def write(send: Send, data: bytes, times: int = 1) -> None:
    body = Outbound(send)
    try:
        for _ in range(times):
            await body.write(data)
    finally:
        body.close()


def test_bytes_are_handed_over_in_pieces_and_none_is_the_last() -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    data = bytes(range(256)) * 1000
    asyncio.run(write(send, data))
    assert b"".join(one["body"] for one in sent) == data
    assert all(len(one["body"]) <= WRITE_BYTES and one["more_body"] for one in sent)
    assert len(sent) == -(-len(data) // WRITE_BYTES)


def test_a_client_that_takes_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "WRITE_STALL_SEC", 0.01)

    async def send(_: MutableMapping[str, Any]) -> None:
        await asyncio.Event().wait()

    async def twice() -> None:
        with pytest.raises(ClientStalled):
            await write(send, b"x")
        await asyncio.sleep(0)  # the task is not cancelled for anything else

    asyncio.run(twice())


def test_a_slow_client_is_waited_for_as_long_as_it_takes_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "WRITE_STALL_SEC", 0.1)

    async def send(_: MutableMapping[str, Any]) -> None:
        await asyncio.sleep(0.04)

    asyncio.run(write(send, b"x", times=6))


def test_a_writer_that_is_cancelled_says_nothing_of_a_stall() -> None:
    async def send(_: MutableMapping[str, Any]) -> None:
        await asyncio.Event().wait()

    async def cancelled() -> None:
        async with asyncio.TaskGroup() as tasks:
            writer = tasks.create_task(write(send, b"x"))
            await asyncio.sleep(0)
            writer.cancel()
        assert writer.cancelled()

    asyncio.run(cancelled())


@pytest.mark.parametrize(("status", "sent"), [(200, 200), (429, 429), (503, 503), (520, 502), (999, 502)])
def test_a_status_that_no_server_can_phrase_becomes_502(status: int, sent: int) -> None:
    assert status_for_client(status) == sent
