"""An answer that looped in its content reads on: no word lost, none doubled but a little of the loop itself.

Each continuation is one that models are known to write: it goes on, or restates the last words first, or
begins all over again.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from mocks.clients import ask
from mocks.judges import judge
from mocks.server import MockOllama
from tests.contract.asking import CHAT, NATIVE_CHAT, NATIVE_GENERATE, PATHS, RESPONSES, Question, fields
from tests.contract.cases import Joined
from tests.contract.conftest import ClientsOf, Guards
from tests.contract.scripts import HEALTHY_ANSWER
from tests.contract.sdks import MAIN, Door

SENTENCE = "At sunset the light crosses far more air on its way to you. "
CLEAN = HEALTHY_ANSWER[: HEALTHY_ANSWER.index(SENTENCE) + len(SENTENCE)]
REST = HEALTHY_ANSWER[len(CLEAN) :]
RESTATED = "far more air on its way to you. "

CODE = (
    "Here is a function that counts:\n\n```python\ndef count(limit: int) -> int:\n    total = 0\n"
    "    for number in range(limit):\n        total += number\n"
)
LINE = "        total += number\n"
CODE_REST = "    return total\n```\n\nIt adds every number below the limit."


def _looping(mock: MockOllama, name: str, clean: str, unit: str, answer: Mapping[str, Any]) -> str:
    first = {"steps": [{"say": clean}, {"say": unit, "times": None}]}
    return mock.script(name, {"attempts": [first, {"steps": [answer]}]})


def _name(door: Door) -> str:
    return door.name


@pytest.mark.parametrize("door", MAIN, ids=_name)
@pytest.mark.parametrize(
    "answer",
    [
        {"say": HEALTHY_ANSWER, "resume": True},
        {"say": HEALTHY_ANSWER, "resume": True, "overlap": len(RESTATED)},
        {"say": REST},
        {"say": SENTENCE + REST},
        {"say": HEALTHY_ANSWER},
    ],
    ids=[
        "goes on",
        "restates the last words",
        "ignores white space",
        "restates the sentence",
        "begins again",
    ],
)
def test_prose_is_joined_without_a_lost_or_doubled_word(
    mock: MockOllama, guards: Guards, clients: ClientsOf, door: Door, answer: dict[str, Any]
) -> None:
    model = _looping(mock, "looping-prose", CLEAN, SENTENCE, answer)
    heard = door.ask(clients(guards({}).url), Question(model))
    assert heard.fault is None
    if door.whole:
        assert heard.content == HEALTHY_ANSWER  # nothing was shown: not a word of the loop is left
    else:
        assert Joined(CLEAN, SENTENCE, REST).problem(heard.content) == ""


@pytest.mark.parametrize("door", MAIN, ids=_name)
@pytest.mark.parametrize(
    "answer",
    [CODE_REST, LINE + CODE_REST, "```python\n" + CODE_REST],
    ids=["goes on", "restates", "new fence"],
)
def test_code_keeps_its_indentation_and_its_fences(
    mock: MockOllama, guards: Guards, clients: ClientsOf, door: Door, answer: str
) -> None:
    model = _looping(mock, "looping-code", CODE, LINE, {"say": answer})
    heard = door.ask(clients(guards({}).url), Question(model))
    assert heard.fault is None
    fences = [line for line in heard.content.splitlines() if line.startswith("```")]
    assert fences == ["```python", "```"]
    assert heard.content.startswith(CODE)
    assert heard.content.endswith("\n" + CODE_REST)
    if door.whole:
        assert heard.content == CODE + CODE_REST


FORMATS: Mapping[str, Mapping[str, Any]] = {
    CHAT: {"response_format": {"type": "json_object"}},
    RESPONSES: {"text": {"format": {"type": "json_object"}}},
    NATIVE_CHAT: {"format": "json"},
    NATIVE_GENERATE: {"format": {"type": "object"}},
}
GOOD = '{"city": "Oslo", "districts": ["Frogner", "Sagene"]}'


def _json_question(mock: MockOllama, path: str, *, stream: bool) -> dict[str, Any]:
    looped = _looping(
        mock, "looping-json", '{"city": "Oslo", "districts": [', '"Frogner", "Sagene", ', {"say": GOOD}
    )
    return {**fields(path, Question(looped)), **FORMATS[path], "stream": stream}


@pytest.mark.parametrize("path", FORMATS)
def test_json_by_request_is_begun_again_where_nothing_was_shown(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    body = _json_question(mock, path, stream=False)
    seen = asyncio.run(ask(guards({}).url, path, body))
    assert seen.status == 200
    assert json.dumps(GOOD)[1:-1] in seen.text
    assert 'Frogner\\", \\"Sagene\\", \\"Frogner' not in seen.text
    asked_again = mock.journal.generations()[1].body
    assert all(asked_again[name] == value for name, value in FORMATS[path].items())
    assert '"districts": [' not in json.dumps(asked_again)  # half a JSON text is nothing to go on from


@pytest.mark.parametrize("path", FORMATS)
def test_json_by_request_of_which_a_part_was_shown_ends_in_an_error(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    body = _json_question(mock, path, stream=True)
    report = judge(path, asyncio.run(ask(guards({}).url, path, body)).body)
    assert report.problems == []
    assert "ollama_loop_guard_deadloop" in json.dumps(report.errors)
    assert len(mock.journal.generations()) == 1


@pytest.mark.parametrize("path", PATHS)
def test_the_model_is_told_what_it_said_but_never_the_loop(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    model = _looping(mock, "looping-prose", CLEAN, SENTENCE, {"say": HEALTHY_ANSWER, "resume": True})
    body = {**fields(path, Question(model)), "stream": True}
    asyncio.run(ask(guards({}).url, path, body))
    first, second = (json.dumps(entry.body, ensure_ascii=False) for entry in mock.journal.generations())
    assert SENTENCE.strip() not in first
    assert second.count(SENTENCE.strip()) == 1
    assert CLEAN.rstrip() in second.replace("\\n", "\n")
