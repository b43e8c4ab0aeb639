"""One JSON body: what the guard puts together from a stream is what Ollama sends for `stream: false`.

Field by field, but for what differs between any two answers: ids, stamps and durations.
"""

import asyncio
import json
import re
from typing import Any

import pytest

from mocks.clients import COMPLETE, Seen, ask
from mocks.server import MockOllama
from tests.contract.asking import CHAT, COMPLETIONS, MESSAGES, NATIVE_CHAT, PATHS, RESPONSES, Question, fields
from tests.contract.cases import IMPATIENT
from tests.contract.conftest import Guards
from tests.contract.scripts import HEALTHY_ANSWER, PREFIX, SCRIPTS

SCRIPTS_ASKED = (
    "healthy", "plain", "short", "code", "unicode", "mixed", "think-only", "think-tags", "json",
    "truncated-content", "tool-call", "tool-call-only", "tool-call-text", "tool-calls", "tool-call-final",
)  # fmt: skip
UNSEEN_THERE = {"tool-call", "tool-call-only", "tool-calls", "think-only"}
"""On /v1/completions nothing would be left of these, and nothing is an empty answer."""
ASKED = [
    (script, path)
    for script in SCRIPTS_ASKED
    for path in PATHS
    if path != COMPLETIONS or script not in UNSEEN_THERE
]

_DIFFERENT = re.compile(r"(id|call_id|created|created_at|completed_at|request_id|\w+_duration)")
_IDENT = re.compile(r"[a-z]+_?[a-z]*[-_][0-9a-z_]+")


def _ask(url: str, path: str, body: dict[str, Any]) -> Seen:
    seen = asyncio.run(ask(url, path, body))
    assert seen.ended == COMPLETE
    return seen


def _comparable(value: Any) -> Any:
    """The value without what differs between two answers, but with the kind of an id."""
    if isinstance(value, dict):
        return {
            name: _shape(name, part) if _DIFFERENT.fullmatch(name) else _comparable(part)
            for name, part in value.items()
        }
    return [_comparable(part) for part in value] if isinstance(value, list) else value


def _shape(name: str, value: Any) -> Any:
    if isinstance(value, str) and _IDENT.fullmatch(value):
        return re.match(r"[a-z]+", value)[0]  # type: ignore[index]
    return (name, type(value).__name__)


def _names(value: Any) -> Any:
    """The names of an object's fields at every depth."""
    if isinstance(value, dict):
        return {name: _names(part) for name, part in value.items()}
    return [_names(part) for part in value] if isinstance(value, list) else None


@pytest.mark.parametrize(("script", "path"), ASKED)
def test_a_body_equals_what_ollama_itself_sends(
    mock: MockOllama, guards: Guards, script: str, path: str
) -> None:
    body = fields(path, Question(f"mock:{PREFIX}{script}", tools="tool" in script)) | {"stream": False}
    direct, seen = _ask(mock.url, path, body), _ask(guards({}).url, path, body)
    assert (seen.status, seen.header("content-type")) == (direct.status, direct.header("content-type"))
    assert seen.header("content-length") == str(len(seen.body))
    assert _comparable(seen.json()) == _comparable(direct.json())
    assert mock.journal.generations()[-1].body["stream"] is True


@pytest.mark.parametrize("path", PATHS)
def test_a_body_after_an_intervention_has_the_fields_of_one_without(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    looped, plain = (
        fields(path, Question(f"mock:{PREFIX}{script}")) | {"stream": False}
        for script in ("loop-content", "healthy")
    )
    seen = _ask(guards({}).url, path, looped)
    assert len(mock.journal.generations()) == 2
    assert _names(seen.json()) == _names(_ask(mock.url, path, plain).json())


@pytest.mark.parametrize("path", PATHS)
def test_blanks_before_the_body_keep_a_slow_answer_alive_and_it_still_reads(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    model = mock.script("late-body", {"steps": [{"wait": 0.8}, {"say": HEALTHY_ANSWER}]})
    guard = guards({"heartbeat.heartbeat_sec": 0.1, "heartbeat.whole_commit_sec": 0.2})
    body = fields(path, Question(model)) | {"stream": False}
    seen = _ask(guard.url, path, body)
    assert seen.status == 200
    assert seen.body.startswith(b"  ")
    assert seen.longest_silence < 0.5
    direct = _ask(mock.url, path, body).json()
    assert _comparable(seen.json()) == _comparable(direct)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("status", [400, 404, 429, 503])
def test_an_error_status_is_passed_with_its_body_and_headers(
    mock: MockOllama, guards: Guards, path: str, status: int
) -> None:
    for stream in (True, False):
        body = fields(path, Question(f"mock:status-{status}")) | {"stream": stream}
        direct, seen = _ask(mock.url, path, body), _ask(guards({}).url, path, body)
        assert (seen.status, seen.header("retry-after")) == (status, direct.header("retry-after"))
        assert _comparable(seen.json()) == _comparable(direct.json())


@pytest.mark.parametrize("path", PATHS)
def test_giving_up_has_a_status_and_the_error_form_of_the_path(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    body = fields(path, Question(f"mock:{PREFIX}loop-content-always")) | {"stream": False}
    seen = _ask(guards({}).url, path, body)
    assert seen.status == 502
    given = seen.json()
    error = given["error"]
    text = error if isinstance(error, str) else error["message"]
    assert "ollama_loop_guard_deadloop" in json.dumps(given)
    assert "3 attempts" in text
    if path == MESSAGES:
        assert given["type"] == "error"
    if path in (CHAT, COMPLETIONS, RESPONSES):
        assert error["type"] == "ollama_loop_guard_deadloop"


def test_empty_for_ever_breaks_off_and_is_no_body(mock: MockOllama, guards: Guards) -> None:
    body = fields(NATIVE_CHAT, Question("mock:empty")) | {"stream": False}
    seen = asyncio.run(ask(guards(IMPATIENT).url, NATIVE_CHAT, body))
    assert seen.ended != COMPLETE
    assert seen.body.strip() == b""
    assert len(mock.journal.generations()) > 1 + len(SCRIPTS["empty"]["steps"])
