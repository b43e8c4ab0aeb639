"""What is made of an ending that is none: empty, truncated, broken off, refused, or no upstream at all."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from mocks.clients import TRUNCATED, ask
from mocks.judges import judge
from mocks.server import MockOllama
from tests.live.conftest import IMPATIENT, Guards
from tests.live.look import rows
from tests.live.talk import CLIENTS, HEALTHY_ANSWER, ONE_OF_EACH, PATH, Asker, body
from tests.net import Guard, free_port, guard_server


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
@pytest.mark.parametrize("script", ["empty-then-healthy", "nothing-then-healthy"])
def test_an_empty_answer_is_asked_for_again_unchanged(
    mock: MockOllama, guards: Guards, client: Asker, script: str
) -> None:
    heard = client(guards(IMPATIENT).url, f"mock:{script}")
    assert heard.error is None
    assert heard.content == HEALTHY_ANSWER
    assert heard.finish == ["stop"]
    entries = mock.journal.generations()
    assert len(entries) >= 2
    assert all(entry.body == entries[0].body for entry in entries)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_empty_for_ever_ends_in_a_network_error_and_not_in_a_hang(
    mock: MockOllama, guards: Guards, client: Asker
) -> None:
    guard = guards(IMPATIENT)
    began = time.monotonic()
    heard = client(guard.url, "mock:empty")
    assert heard.network_error, repr(heard.error)
    assert time.monotonic() - began < 10
    assert heard.finish == []
    assert len(mock.journal.generations()) > 1 + 2  # the retries, and then keepalive
    assert rows(guard, "exchange")[-1]["outcome"] == "aborted"


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
def test_giving_up_on_empty_closes_the_connection_inside_the_body(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    seen = asyncio.run(ask(guards(IMPATIENT).url, path, body("mock:empty")))
    assert seen.status == 200
    assert seen.ended == TRUNCATED  # the socket is closed, and the chunked body has no terminator
    assert judge(path, seen.body, ended=False).problems == []


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_an_answer_that_is_only_a_tool_call_is_not_empty(
    mock: MockOllama, guards: Guards, client: Asker
) -> None:
    heard = client(guards(IMPATIENT).url, "mock:tool-call-only")
    assert heard.error is None
    assert len(heard.calls) == 1
    assert len(mock.journal.generations()) == 1


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_reasoning_and_a_stop_are_not_empty(mock: MockOllama, guards: Guards, client: Asker) -> None:
    heard = client(guards(IMPATIENT).url, "mock:think-only")
    assert heard.error is None
    assert heard.finish == ["stop"]
    assert len(mock.journal.generations()) == 1


def test_an_empty_answer_passes_where_retries_are_off(mock: MockOllama, guards: Guards) -> None:
    seen = asyncio.run(ask(guards({"empty.retry": False}).url, "/api/chat", body("mock:empty")))
    assert seen.ended == "complete"
    assert judge("/api/chat", seen.body).finish == ["stop"]
    assert len(mock.journal.generations()) == 1


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_truncated_thinking_goes_on_with_a_higher_limit(
    mock: MockOllama, guard: Guard, client: Asker
) -> None:
    native = "ollama" in client.__name__
    limit = {"options": {"num_predict": 50}} if native else {"max_tokens": 50}
    heard = client(guard.url, "mock:truncated", **limit)
    assert heard.error is None
    assert heard.content == HEALTHY_ANSWER
    assert heard.finish == ["stop"]
    first, second = (entry.body for entry in mock.journal.generations())
    raised = second["options"]["num_predict"] if native else second["max_tokens"]
    assert raised == 200
    assert second["messages"][:-1] == first["messages"]
    assert second["messages"][-1]["role"] == "user"


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/v1/chat/completions", {"max_completion_tokens": 600_000}),
        ("/v1/chat/completions", {"max_tokens": 600_000}),
        ("/api/chat", {"options": {"num_predict": 600_000, "num_ctx": 4096}}),
    ],
)
def test_the_raised_limit_stops_at_a_million(
    mock: MockOllama, guard: Guard, path: str, limit: dict[str, object]
) -> None:
    asyncio.run(ask(guard.url, path, body("mock:truncated", **limit)))
    second = mock.journal.generations()[1].body
    assert "1000000" in str({name: second[name] for name in limit})
    assert "600000" not in str(second)
    if path == "/api/chat":
        assert second["options"]["num_ctx"] == 4096  # another would make Ollama load the model anew


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_thinking_that_is_truncated_again_and_again_ends_in_an_error(
    mock: MockOllama, guard: Guard, client: Asker
) -> None:
    heard = client(guard.url, "mock:truncated-always")
    assert "ollama_loop_guard_truncated" in heard.told
    assert len(mock.journal.generations()) == 3


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
@pytest.mark.parametrize("script", ["dies", "eof", "torn"])
def test_an_answer_that_breaks_off_is_an_error_and_never_a_silent_half(
    mock: MockOllama, guard: Guard, client: Asker, script: str
) -> None:
    heard = client(guard.url, f"mock:{script}")
    assert "ollama_loop_guard_upstream" in heard.told
    assert heard.content != ""
    assert HEALTHY_ANSWER.startswith(heard.content)
    assert heard.finish == []


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
@pytest.mark.parametrize("script", ["dies", "eof", "torn", "half-line", "dies-thinking", "error-line"])
def test_the_stream_stays_valid_when_the_upstream_breaks(
    mock: MockOllama, guard: Guard, path: str, script: str
) -> None:
    seen = asyncio.run(ask(guard.url, path, body(f"mock:{script}")))
    report = judge(path, seen.body)
    assert report.problems == []  # half a line is not shown, so nothing can be glued to it
    assert len(report.errors) == 1
    assert seen.ended == "complete"


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
@pytest.mark.parametrize("attempts", [["dies-first"], ["loop-reasoning-always", "status-500", "healthy"]])
def test_an_upstream_that_fails_before_anything_was_said_is_asked_again(
    mock: MockOllama, guards: Guards, client: Asker, attempts: list[str]
) -> None:
    name = mock.script("fails-" + attempts[0], {"attempts": attempts})
    heard = client(guards(IMPATIENT).url, name)
    assert heard.error is None, repr(heard.error)
    assert heard.content == HEALTHY_ANSWER


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_ollamas_own_breaker_is_a_verdict_like_ours(mock: MockOllama, guard: Guard, client: Asker) -> None:
    heard = client(guard.url, "mock:breaker")
    assert heard.error is None
    assert heard.finish == ["stop"]
    assert heard.content.endswith(HEALTHY_ANSWER[-60:])


@pytest.fixture(scope="module")
def alone() -> Iterator[Guard]:
    """A guard whose Ollama is not running."""
    with guard_server(f"http://127.0.0.1:{free_port()}") as guard:
        yield guard


@pytest.mark.parametrize("path", [*PATH.values(), "/api/tags"])
def test_no_ollama_is_said_at_once_and_with_a_remedy(alone: Guard, path: str) -> None:
    began = time.monotonic()
    method = "GET" if path == "/api/tags" else "POST"
    seen = asyncio.run(ask(alone.url, path, body("m"), method=method))
    assert seen.status == 502
    assert time.monotonic() - began < 2
    error = seen.json()["error"]
    assert "ollama serve" in (error["message"] if isinstance(error, dict) else error)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_the_sdks_read_that_there_is_no_ollama(alone: Guard, client: Asker) -> None:
    heard = client(alone.url, "m")
    assert "cannot reach Ollama" in heard.told
    assert heard.error is not None
    assert heard.error.status_code == 502  # type: ignore[attr-defined]
