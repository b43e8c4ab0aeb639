"""What happens because time passes: stalls, silences, heartbeats; all in tenths of seconds here."""

import asyncio

import pytest

from mocks.clients import ask
from mocks.judges import judge
from mocks.server import MockOllama
from tests.live.conftest import Guards
from tests.live.talk import CLIENTS, HEALTHY_ANSWER, ONE_OF_EACH, PATH, Asker, body
from tests.net import Guard

HURRIED = {
    "stall.max_reasoning_sec": 0.8,
    "stall.first_byte_sec": 1.5,
    "stall.gap_sec": 0.8,
    "stall.tools_gap_sec": 30,
    "stall.max_total_sec": 3,
}
NO_RETRY = HURRIED | {"intervene.max_retries": 0}
BEATING = {"heartbeat.heartbeat_sec": 0.15, "heartbeat.data_sec": 0.5, "heartbeat.commit_sec": 0.3}
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}]
STALLS = ("think-forever", "think-then-silent", "say-forever", "silent-after-first")


@pytest.fixture
def hurried(guards: Guards) -> Guard:
    return guards(HURRIED)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_reasoning_that_never_ends_is_cut_by_the_clock_and_answered_for(
    mock: MockOllama, hurried: Guard, client: Asker
) -> None:
    heard = client(hurried.url, "mock:think-forever-then-healthy")
    assert heard.error is None
    assert heard.content == HEALTHY_ANSWER
    assert [entry.client_left for entry in mock.journal.generations()] == [True, False]


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
@pytest.mark.parametrize("script", STALLS)
def test_a_stall_without_a_retry_left_is_an_error(
    mock: MockOllama, guards: Guards, client: Asker, script: str
) -> None:
    heard = client(guards(NO_RETRY).url, f"mock:{script}")
    assert "ollama_loop_guard_stall" in heard.told
    assert mock.journal.settled()
    (entry,) = mock.journal.generations()
    assert entry.client_left


def test_an_upstream_that_sends_nothing_more_is_cut_by_the_clock_alone(
    mock: MockOllama, guards: Guards
) -> None:
    asyncio.run(ask(guards(NO_RETRY).url, "/api/chat", body("mock:think-then-silent")))
    assert mock.journal.settled()
    (entry,) = mock.journal.generations()
    assert entry.last_event_at is not None
    assert entry.ended_at is not None
    assert 0.6 < entry.ended_at - entry.last_event_at < 3


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
def test_reasoning_over_its_limit_of_characters_is_a_stall(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    guard = guards({"stall.reasoning_char_limit": 2000, "intervene.max_retries": 0})
    seen = asyncio.run(ask(guard.url, path, body("mock:think-fast-forever")))
    report = judge(path, seen.body)
    assert "ollama_loop_guard_stall" in str(report.errors)
    assert 1900 < len(report.reasoning) < 2200


def test_the_wait_for_the_first_byte_is_no_reasoning(mock: MockOllama, hurried: Guard) -> None:
    name = mock.script("loads-first", {"steps": [{"wait": 1.1}, {"think": "Hm. "}, {"say": "Blue."}]})
    seen = asyncio.run(ask(hurried.url, "/api/chat", body(name)))
    assert judge("/api/chat", seen.body).content == "Blue."
    assert len(mock.journal.generations()) == 1


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_silence_before_the_first_byte_has_a_limit_too(
    mock: MockOllama, hurried: Guard, client: Asker
) -> None:
    heard = client(hurried.url, "mock:silent-then-healthy")
    assert heard.error is None
    assert heard.content == HEALTHY_ANSWER
    assert [entry.client_left for entry in mock.journal.generations()] == [True, False]


@pytest.mark.parametrize("client", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_with_tools_in_the_request_a_gap_is_no_stall(mock: MockOllama, hurried: Guard, client: Asker) -> None:
    call = {"name": "get_weather", "arguments": {"city": "Oslo"}}
    steps = [{"say": "Let me look."}, {"wait": 1.5}, {"call": call}]
    name = mock.script("writes-a-call", {"steps": steps})
    heard = client(hurried.url, name, tools=TOOLS)
    assert heard.error is None
    assert heard.calls == [("get_weather", {"city": "Oslo"})]
    assert len(mock.journal.generations()) == 1


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
def test_heartbeats_come_in_a_long_silence_and_leave_the_answer_whole(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    steps = [{"say": "The sky "}, {"wait": 1.3}, {"say": "is blue."}]
    name = mock.script("pauses", {"steps": steps})
    seen = asyncio.run(ask(guards(BEATING).url, path, body(name)))
    report = judge(path, seen.body)
    assert report.problems == []
    assert report.content == "The sky is blue."
    assert report.heartbeats >= 4
    assert seen.longest_silence < 0.6


@pytest.mark.parametrize("path", [PATH["openai"], PATH["ollama"]], ids=PATH)
def test_heartbeats_come_before_the_first_byte_once_the_response_is_committed(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    name = mock.script("late-by-1.3", {"steps": [{"wait": 1.3}, {"say": "Blue."}]})
    seen = asyncio.run(ask(guards(BEATING).url, path, body(name)))
    report = judge(path, seen.body)
    assert seen.status == 200
    assert report.problems == []
    assert report.content == "Blue."
    assert report.heartbeats >= 3
    assert 0.25 < seen.head_at - seen.sent_at < 1.0


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
def test_heartbeats_come_through_the_pauses_between_attempts(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    settings = BEATING | {"empty.pause_sec": 0.7, "empty.pause_max_sec": 0.7}
    seen = asyncio.run(ask(guards(settings).url, path, body("mock:empty-then-healthy")))
    report = judge(path, seen.body)
    assert report.problems == []
    assert report.content == HEALTHY_ANSWER
    assert report.heartbeats >= 4
    assert seen.longest_silence < 0.6


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_the_sdks_are_not_disturbed_by_heartbeats(mock: MockOllama, guards: Guards, client: Asker) -> None:
    steps = [
        {"wait": 0.7},
        {"think": "Hm."},
        {"wait": 0.7},
        {"say": "Blue."},
        {"wait": 0.7},
        {"say": " Yes."},
    ]
    name = mock.script("hesitates", {"steps": steps})
    heard = client(guards(BEATING).url, name)
    assert heard.error is None
    assert (heard.reasoning, heard.content, heard.finish) == ("Hm.", "Blue. Yes.", ["stop"])


@pytest.mark.parametrize("path", PATH.values(), ids=PATH)
def test_an_error_status_after_the_commit_is_told_in_a_frame(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    guard = guards(BEATING | {"empty.max_retries": 0, "empty.keepalive_sec": 0, "empty.retry": False})
    name = mock.script("late-error", {"steps": [{"wait": 0.8}, {"error": "the model has crashed"}]})
    seen = asyncio.run(ask(guard.url, path, body(name)))
    report = judge(path, seen.body)
    assert seen.status == 200
    assert report.problems == []
    assert "the model has crashed" in str(report.errors)


def test_an_error_status_before_the_commit_keeps_its_status(mock: MockOllama, guards: Guards) -> None:
    name = mock.script("soon-error", {"steps": [{"wait": 0.1}, {"error": "the model has crashed"}]})
    seen = asyncio.run(ask(guards(BEATING).url, "/api/chat", body(name)))
    assert seen.status == 500
