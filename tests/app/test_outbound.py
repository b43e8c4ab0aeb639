import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from ollama_guard.app import outbound
from ollama_guard.app.outbound import WRITE_BYTES, ClientStalled, status_for_client, write


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

    with pytest.raises(ClientStalled):
        asyncio.run(write(send, b"x"))


@pytest.mark.parametrize(("status", "sent"), [(200, 200), (429, 429), (503, 503), (520, 502), (999, 502)])
def test_a_status_that_no_server_can_phrase_becomes_502(status: int, sent: int) -> None:
    assert status_for_client(status) == sent
