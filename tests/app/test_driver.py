"""What no live test can bring about: faults of our own inside an exchange."""

import asyncio
from collections.abc import Iterator

import pytest

from mocks.clients import ask
from mocks.server import MockOllama
from ollama_guard.engine.messages import Bytes, GoOn, Headers, Input, Output
from ollama_guard.engine.stream import Exchange
from tests.bench.prose import prose
from tests.live.inside import Inside, guard_inside
from tests.live.look import until
from tests.live.talk import body
from tests.net import mock_server


@pytest.fixture
def mock() -> Iterator[MockOllama]:
    with mock_server(delay=0.005) as server:
        yield server


@pytest.fixture
def guard(mock: MockOllama) -> Iterator[Inside]:
    with guard_inside(mock.url) as inside:
        yield inside


class OurFaultError(Exception):
    """A bug."""


def break_at(monkeypatch: pytest.MonkeyPatch, kind: type[Input], count: int) -> None:
    """The engine fails at the `count`th input of a kind."""
    step, seen = Exchange.step, [0]

    def broken(self: Exchange, happened: Input) -> list[Output]:
        seen[0] += isinstance(happened, kind)
        if seen[0] == count and isinstance(happened, kind):
            raise OurFaultError
        return step(self, happened)

    monkeypatch.setattr(Exchange, "step", broken)


def test_a_fault_before_the_response_is_a_500_and_cuts_the_upstream(
    monkeypatch: pytest.MonkeyPatch, mock: MockOllama, guard: Inside
) -> None:
    break_at(monkeypatch, Headers, 1)
    seen = asyncio.run(ask(guard.url, "/api/chat", body("mock:say-forever")))
    assert seen.status == 500
    assert mock.journal.settled()
    assert mock.journal[0].client_left
    assert until(lambda: guard.registry.live == 0)


def test_a_fault_inside_the_response_breaks_it_off_and_cuts_the_upstream(
    monkeypatch: pytest.MonkeyPatch, mock: MockOllama, guard: Inside
) -> None:
    break_at(monkeypatch, Bytes, 5)
    seen = asyncio.run(ask(guard.url, "/v1/chat/completions", body("mock:say-forever")))
    assert seen.status == 200
    assert seen.ended == "truncated"  # never as though it were whole
    assert mock.journal.settled()
    assert mock.journal[0].client_left
    assert until(lambda: guard.registry.live == 0)


def test_a_fault_leaves_the_next_exchange_alone(
    monkeypatch: pytest.MonkeyPatch, mock: MockOllama, guard: Inside
) -> None:
    break_at(monkeypatch, Headers, 1)
    asyncio.run(ask(guard.url, "/api/chat", body("mock:healthy")))
    assert asyncio.run(ask(guard.url, "/api/chat", body("mock:healthy"))).status == 200


def test_an_answer_goes_on_while_a_long_delta_of_another_is_judged(
    monkeypatch: pytest.MonkeyPatch, mock: MockOllama, guard: Inside
) -> None:
    mock.script("long", {"steps": [{"say": prose(1, 200_000), "chunk": 200_000}]})
    step, order = Exchange.step, list[tuple[Exchange, type[Input]]]()

    def seen(self: Exchange, happened: Input) -> list[Output]:
        order.append((self, type(happened)))
        return step(self, happened)

    monkeypatch.setattr(Exchange, "step", seen)

    async def both() -> list[int]:
        asked = (ask(guard.url, "/api/chat", body(f"mock:{name}")) for name in ("long", "healthy"))
        return [answer.status for answer in await asyncio.gather(*asked)]

    assert asyncio.run(both()) == [200, 200]
    turns = [place for place, (_, kind) in enumerate(order) if kind is GoOn]
    assert len(turns) > 50
    between = {order[place][0] for place in range(turns[0], turns[-1])}
    assert len(between) == 2
