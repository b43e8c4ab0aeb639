"""A loop is cut at once and answered for inside the same stream, as the real SDKs see it."""

import asyncio

import pytest

from mocks.clients import ask
from mocks.judges import judge
from mocks.server import MockOllama
from tests.live.conftest import Guards
from tests.live.look import rows
from tests.live.talk import CLIENTS, HEALTHY_ANSWER, HEALTHY_REASONING, ONE_OF_EACH, PATH, Asker, body
from tests.net import Guard

REASONING_LOOPS = ("loop-reasoning", "loop-variant", "loop-long", "loop-token", "loop-unicode")
CONTENT_LOOPS = ("loop-content", "loop-content-token")
CHARACTERS_AN_EVENT, SECONDS_AN_EVENT = 4, 0.003  # of the scripts that loop


@pytest.mark.parametrize(
    ("script", "client"),
    [("loop-reasoning", client) for client in CLIENTS]
    + [(script, client) for script in ("loop-variant", "loop-unicode") for client in ONE_OF_EACH],
)
def test_a_loop_in_reasoning_is_answered_for_in_the_same_stream(
    mock: MockOllama, guard: Guard, client: str, script: str
) -> None:
    heard = CLIENTS[client](guard.url, f"mock:{script}")
    assert heard.error is None
    assert heard.content == HEALTHY_ANSWER
    assert heard.finish == ["stop"]
    assert mock.journal.settled()
    looped, answered = mock.journal.generations()
    assert looped.client_left
    assert answered.ended == "finished"


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
@pytest.mark.parametrize("script", CONTENT_LOOPS)
def test_a_loop_in_the_answer_is_gone_on_from_where_the_text_was_clean(
    mock: MockOllama, guard: Guard, client: Asker, script: str
) -> None:
    heard = client(guard.url, f"mock:{script}")
    assert heard.error is None
    assert heard.finish == ["stop"]
    assert heard.content.startswith(HEALTHY_ANSWER[:200])
    assert heard.content.endswith(HEALTHY_ANSWER[-60:])
    # At most about one copy of what repeated is in between.
    assert len(heard.content) < len(HEALTHY_ANSWER) + 200
    assert mock.journal.settled()
    assert [entry.client_left for entry in mock.journal.generations()] == [True, False]


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
@pytest.mark.parametrize(
    ("script", "before"), [("loop-reasoning", 0), ("loop-content", len(HEALTHY_REASONING))]
)
def test_the_upstream_sees_the_close_within_100_ms_of_the_verdict_and_generates_no_more(
    mock: MockOllama, guard: Guard, path: str, script: str, before: int
) -> None:
    asyncio.run(ask(guard.url, path, body(f"mock:{script}")))
    assert mock.journal.settled()
    looped, answered = mock.journal.generations()
    verdict = rows(guard, "verdict")[-1]
    # The mock waits 3 ms after each event: what it wrote beyond the verdict says how long it went on.
    beyond = looped.characters - before - verdict["at"]
    assert beyond / CHARACTERS_AN_EVENT * SECONDS_AN_EVENT < 0.1
    assert looped.ended == "client_closed"
    assert looped.ended_at is not None
    assert looped.ended_at < answered.opened_at < looped.ended_at + 0.3


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
@pytest.mark.parametrize(
    "script", [*REASONING_LOOPS, *CONTENT_LOOPS, "loop-lines", "loop-twice", "loop-then-content", "breaker"]
)
def test_a_strict_reader_finds_nothing_wrong_in_an_interrupted_stream(
    mock: MockOllama, guard: Guard, path: str, script: str
) -> None:
    seen = asyncio.run(ask(guard.url, path, body(f"mock:{script}")))
    report = judge(path, seen.body)
    assert report.problems == []
    assert report.errors == []
    assert report.finish == ["stop"]
    assert seen.ended == "complete"


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_the_second_rung_is_firmer_with_thinking_off_and_the_sampler_moved(
    mock: MockOllama, guard: Guard, client: Asker
) -> None:
    heard = client(guard.url, "mock:loop-twice")
    assert heard.content == HEALTHY_ANSWER
    first, second, third = (entry.body for entry in mock.journal.generations())
    assert second["messages"][0] == third["messages"][0] == first["messages"][0]
    assert "loop" in second["messages"][-1]["content"]
    assert len(second["messages"]) == len(third["messages"])  # one steering message, not one on another
    assert second["messages"][-1] != third["messages"][-1]
    if "options" in third or "think" in third:
        assert third["think"] is False
        assert third["options"]["temperature"] != 0
    else:
        assert third["reasoning_effort"] == "none"
        assert third["temperature"] != 0
    looped_text = "Wait, but I need to check the second condition"
    assert looped_text not in str(second["messages"]) + str(third["messages"])


@pytest.mark.parametrize(
    ("script", "client"),
    [("loop-reasoning-always", client) for client in CLIENTS]
    + [("loop-content-always", client) for client in ONE_OF_EACH],
)
def test_a_model_that_only_loops_ends_in_an_error_that_the_sdk_raises(
    mock: MockOllama, guard: Guard, client: str, script: str
) -> None:
    heard = CLIENTS[client](guard.url, f"mock:{script}")
    assert "ollama_loop_guard_deadloop" in heard.told
    assert heard.finish == []
    assert mock.journal.settled()
    assert [entry.client_left for entry in mock.journal.generations()] == [True] * 3


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
def test_the_error_after_the_last_rung_is_one_valid_event_and_the_response_ends(
    mock: MockOllama, guard: Guard, path: str
) -> None:
    seen = asyncio.run(ask(guard.url, path, body("mock:loop-reasoning-always")))
    report = judge(path, seen.body)
    assert report.problems == []
    assert len(report.errors) == 1
    assert "ollama_loop_guard_deadloop" in str(report.errors[0])
    assert seen.ended == "complete"


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_tokens_of_the_attempt_that_was_cut_are_counted_in_the_usage(
    mock: MockOllama, guard: Guard, client: Asker
) -> None:
    heard = client(guard.url, "mock:loop-reasoning")
    looped, answered = mock.journal.generations()
    assert heard.completion_tokens > answered.events
    assert heard.completion_tokens <= looped.events + answered.events


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
@pytest.mark.parametrize("script", ["tool-call", "tool-call-only", "tool-calls", "tool-call-final"])
def test_tool_calls_reach_the_sdk_whole(mock: MockOllama, guard: Guard, client: Asker, script: str) -> None:
    direct, heard = client(mock.url, f"mock:{script}"), client(guard.url, f"mock:{script}")
    assert heard.error is None
    assert heard.calls == direct.calls != []
    assert heard.finish == direct.finish


def test_a_wedged_upstream_is_unloaded_and_asked_again(mock: MockOllama, guards: Guards) -> None:
    guard = guards({"intervene.recovery_sec": 0.5})
    seen = asyncio.run(ask(guard.url, "/api/chat", body("mock:wedge")))
    report = judge("/api/chat", seen.body)
    assert report.problems == []
    assert report.content == HEALTHY_ANSWER
    unloads = [entry for entry in mock.journal if entry.path == "/api/generate"]
    assert [entry.body["keep_alive"] for entry in unloads] == [0]


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
def test_the_log_tells_each_verdict_and_one_row_an_exchange(
    mock: MockOllama, guard: Guard, path: str
) -> None:
    exchanges, verdicts = len(rows(guard, "exchange")), len(rows(guard, "verdict"))
    asyncio.run(ask(guard.url, path, body("mock:loop-twice")))
    (row,) = rows(guard, "exchange")[exchanges:]
    assert (row["outcome"], row["attempts"], row["model"]) == ("recovered", 3, "mock:loop-twice")
    assert [row["rung"] for row in rows(guard, "verdict")[verdicts:]] == ["steer", "steer_firm"]
    assert "Wait, but I need" not in guard.output  # no text of a model's in the log
