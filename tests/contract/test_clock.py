"""Verdicts by the clock, at every door: what no text shows is ended by its time."""

import pytest

from mocks.server import MockOllama
from tests.contract.asking import COMPLETIONS, NATIVE_CHAT, Question
from tests.contract.cases import CALL, THINKING, Expected, problems
from tests.contract.conftest import ClientsOf, Guards
from tests.contract.scripts import HEALTHY_ANSWER, PREFIX, SCRIPTS
from tests.contract.sdks import MAIN, Door

SHORT_THOUGHTS = {"stall.max_reasoning_sec": 0.3, "stall.first_byte_sec": 0.5}
SHORT_ATTEMPTS = {"stall.max_total_sec": 0.3}
SHORT_GAPS = {"stall.tools_gap_sec": 0.4}

TWICE = Expected(HEALTHY_ANSWER, attempts=2)


def _name(door: Door) -> str:
    return door.name


@pytest.mark.parametrize("door", [door for door in MAIN if door.path in THINKING], ids=_name)
def test_reasoning_that_goes_on_too_long_is_answered_for(
    mock: MockOllama, guards: Guards, clients: ClientsOf, door: Door
) -> None:
    heard = door.ask(clients(guards(SHORT_THOUGHTS).url), Question("mock:think-forever-then-healthy"))
    assert problems(heard, TWICE, door) == []
    assert len(mock.journal.generations()) == 2


@pytest.mark.parametrize("door", [door for door in MAIN if door.path == COMPLETIONS], ids=_name)
@pytest.mark.parametrize("script", ["think-forever-then-healthy", "loop-reasoning"])
def test_hidden_reasoning_on_completions_is_ended_by_the_time_of_the_attempt(
    mock: MockOllama, guards: Guards, clients: ClientsOf, door: Door, script: str
) -> None:
    heard = door.ask(clients(guards(SHORT_ATTEMPTS).url), Question(f"mock:{script}"))
    assert problems(heard, TWICE, door) == []
    assert len(mock.journal.generations()) == 2


@pytest.mark.parametrize("door", MAIN, ids=_name)
def test_a_silent_upstream_is_asked_again(
    mock: MockOllama, guards: Guards, clients: ClientsOf, door: Door
) -> None:
    heard = door.ask(clients(guards(SHORT_THOUGHTS).url), Question("mock:silent-then-healthy"))
    assert problems(heard, TWICE, door) == []
    assert len(mock.journal.generations()) == 2


@pytest.mark.parametrize("door", [door for door in MAIN if door.path == NATIVE_CHAT], ids=_name)
def test_a_call_that_is_written_for_ever_in_silence_is_ended_by_the_gap(
    mock: MockOllama, guards: Guards, clients: ClientsOf, door: Door
) -> None:
    silent = {"steps": [*SCRIPTS["loop-tool-args"]["attempts"][0]["steps"][:1], {"wait": None}]}
    model = mock.script("silent-call", {"attempts": [silent, PREFIX + "tool-call"]})
    heard = door.ask(clients(guards(SHORT_GAPS).url), Question(model, tools=True))
    expected = Expected("I will write the file.", calls=(CALL,), finish="tool_calls", attempts=2)
    assert problems(heard, expected, door) == []
