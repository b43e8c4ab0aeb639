import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import pytest

from ollama_guard.app.inbound import ClientLeft, Inbound, TooLarge, TooSlow

GONE = {"type": "http.disconnect"}


def part(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def inbound(*messages: dict[str, Any], pause_sec: float = 5) -> Inbound:
    """The messages in order, and then nothing for ever."""
    waiting = list(messages)

    async def receive() -> MutableMapping[str, Any]:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    return Inbound(receive, pause_sec)


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    async def go() -> Any:
        async with asyncio.timeout(10):
            return await work()

    return asyncio.run(go())


def test_a_body_in_parts_is_one_body() -> None:
    source = inbound(part(b"a", more=True), part(b"", more=True), part(b"bc"))
    assert run(lambda: source.whole(3)) == b"abc"


def test_a_body_over_the_limit_is_given_up_at_once() -> None:
    source = inbound(part(b"ab", more=True), part(b"cd", more=True))  # and no more: it must not wait for it
    with pytest.raises(TooLarge):
        run(lambda: source.whole(3))


def test_a_client_that_leaves_in_its_body_is_told_apart() -> None:
    with pytest.raises(ClientLeft):
        run(lambda: inbound(part(b"a", more=True), GONE).whole(9))


def test_a_client_that_pauses_for_too_long_in_its_body_is_given_up() -> None:
    with pytest.raises(TooSlow):
        run(lambda: inbound(part(b"a", more=True), pause_sec=0.01).whole(9))


def test_pieces_are_given_as_they_come_and_empty_ones_left_out() -> None:
    async def go() -> list[bytes]:
        return [
            piece async for piece in inbound(part(b"a", more=True), part(b"", more=True), part(b"b")).chunks()
        ]

    assert run(go) == [b"a", b"b"]


def test_leaving_is_seen_after_the_body_and_not_taken_from_it() -> None:
    async def go() -> list[str]:
        source, seen = inbound(part(b"a", more=True), part(b"b"), part(b""), GONE), list[str]()

        async def listen() -> None:
            await source.left()
            seen.append("left")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(listen())
            await asyncio.sleep(0)
            seen.append((await source.whole(9)).decode())
        return seen

    assert run(go) == ["ab", "left"]
