"""Every case at every door, over real sockets, judged by the real SDKs."""

from dataclasses import replace

import pytest

from mocks.server import MockOllama
from tests.contract.asking import WITH_TOOLS, Fault, Heard, Question
from tests.contract.cases import CASES, SAME, UPSTREAM, Case, problems
from tests.contract.conftest import ClientsOf, Guards
from tests.contract.scripts import PREFIX
from tests.contract.sdks import DOORS, MAIN, Door
from tests.net import Guard

DUPLICATE_INDEX = "openai responses helper"
"""Ollama gives a call the output index of the text before it, and openai-python's helper refuses that."""

PAIRS = [
    (case, door)
    for case in CASES
    for door in (DOORS.values() if case.core else MAIN)
    if door.path in case.paths
]


UNTOUCHED = [
    (script, door)
    for script in SAME
    for door in MAIN
    if door.path in WITH_TOOLS or not script.startswith("tool")
]


def _ids(value: Case | Door | str) -> str:
    return value if isinstance(value, str) else value.name


@pytest.mark.parametrize(("case", "door"), PAIRS, ids=_ids)
def test_the_sdk_hears_what_the_table_says(
    mock: MockOllama, guards: Guards, clients: ClientsOf, case: Case, door: Door
) -> None:
    expected = case.expect(door)
    asked = Question(f"mock:{PREFIX}{case.model}", case.tools, case.limit)
    heard = door.ask(clients(guards(case.settings).url), asked)
    if _ollamas_own_index(door, expected.content, bool(expected.calls), expected.attempts):
        assert heard.fault == Fault("RuntimeError", message=heard.fault.message if heard.fault else "")
        assert "output index" in heard.fault.message
        return
    assert problems(heard, expected, door) == []
    assert heard.fault or heard.model == asked.model
    if expected.attempts is not None:
        assert len(mock.journal.generations()) == expected.attempts


def _ollamas_own_index(door: Door, content: object, called: bool, attempts: int | None) -> bool:
    return door.name == DUPLICATE_INDEX and bool(content) and called and attempts == 1


@pytest.mark.parametrize(("script", "door"), UNTOUCHED, ids=_ids)
def test_the_sdk_hears_the_same_as_from_the_upstream_itself(
    mock: MockOllama, guards: Guards, clients: ClientsOf, script: str, door: Door
) -> None:
    question = Question(f"mock:{PREFIX}{script}", tools=script.startswith("tool"))
    direct = door.ask(clients(mock.url), question)
    heard = door.ask(clients(guards({}).url), question)
    assert _without_chance(heard) == _without_chance(direct)
    assert heard.content or heard.calls or heard.fault


def _without_chance(heard: Heard) -> Heard:
    """Without what is random in an error's text: a request id, or the place where a line broke."""
    if heard.fault is None:
        return heard
    odd = heard.fault.how not in ("status", "told", "broken")
    message = "" if odd else heard.fault.message.split("'request_id'")[0]
    return replace(heard, fault=replace(heard.fault, message=message))


@pytest.mark.parametrize("door", DOORS.values(), ids=_ids)
def test_a_dead_upstream_is_an_error_with_a_type_of_our_own(
    alone: Guard, clients: ClientsOf, door: Door
) -> None:
    heard = door.ask(clients(alone.url), Question("mock:healthy"))
    assert heard.fault is not None
    assert (heard.fault.how, heard.fault.status) == ("status", 502)
    assert UPSTREAM in (heard.fault.kind or heard.fault.message)
    assert "127.0.0.1" in heard.fault.message
