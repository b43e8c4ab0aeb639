"""The mock over real sockets: faults as scripted, and a journal that tells the truth."""

import asyncio
import gzip
import hashlib
import json
import time
from typing import Any

import pytest

from mocks import clients
from mocks.clients import Seen
from mocks.judges import judge
from mocks.server import MockOllama
from tests.mocks.asking import ALL_PATHS, NATIVE, SSE, request


def ask(mock: MockOllama, path: str, model: str, /, **more: Any) -> Seen:
    keys = {"leave_after", "leave_by", "pace", "timeout", "method", "headers"}
    extra = {key: more.pop(key) for key in keys & set(more)}
    seen = asyncio.run(clients.ask(mock.url, path, request(path, model, **more), **extra))
    mock.journal.settled(1)  # the client may be faster than the journal
    return seen


@pytest.mark.parametrize("path", ALL_PATHS)
def test_a_healthy_answer_is_what_a_strict_reader_accepts(mock: MockOllama, path: str) -> None:
    seen = ask(mock, path, "mock:healthy")
    report = judge(path, seen.body)
    assert (seen.status, seen.ended, report.problems) == (200, "complete", [])
    assert report.content.startswith("The sky is blue because")
    assert report.reasoning.startswith("The user asks") or path == "/v1/completions"
    entry = mock.journal[0]
    assert (entry.ended, entry.script, entry.attempt, entry.status) == ("finished", "healthy", 1, 200)
    assert entry.characters >= len(report.content + report.reasoning)


@pytest.mark.parametrize("path", ALL_PATHS)
def test_the_text_survives_every_dialect(mock: MockOllama, path: str) -> None:
    text = '<b>&amp; \u2028 \u2029 \u0085 日本語 👩‍👩‍👧 "quoted" back\\slash\ttab\x01'
    model = mock.script("hard", {"steps": [{"say": text, "chunk": 1}]})
    assert judge(path, ask(mock, path, model).body).content == text


@pytest.mark.parametrize("path", ALL_PATHS)
def test_streamed_or_not_the_answer_is_the_same(mock: MockOllama, path: str) -> None:
    streamed = judge(path, ask(mock, path, "mock:plain").body).content
    body = json.dumps(ask(mock, path, "mock:plain", stream=False).json(), ensure_ascii=False)
    assert json.dumps(streamed, ensure_ascii=False)[1:-1] in body


@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("model", ["mock:loop-reasoning", "mock:think-then-silent", "mock:think-forever"])
def test_the_client_s_leaving_is_seen_at_once_and_ends_the_generation(
    mock: MockOllama, model: str, how: str
) -> None:
    seen = ask(mock, "/api/chat", model, leave_after=5, leave_by=how)
    assert mock.journal.settled()
    entry = mock.journal[0]
    assert entry.client_left
    assert entry.ended_at is not None
    assert entry.ended_at - seen.ended_at < 0.1
    events = entry.events
    time.sleep(0.05)  # whatever went on generating would show in this time
    assert entry.events == events
    assert entry.last_event_at is not None
    assert entry.last_event_at <= entry.ended_at + 0.02


def test_leaving_before_the_first_byte_is_seen(mock: MockOllama) -> None:
    seen = ask(mock, "/api/chat", "mock:silent", leave_after=0)
    assert mock.journal.wait(lambda journal: any(entry.ended for entry in journal), 1)
    assert (mock.journal[0].ended, mock.journal[0].events) == ("client_closed", 0)
    assert (mock.journal[0].ended_at or 9e9) - seen.ended_at < 0.1
    # The journal may learn of a request only after its client is gone: `settled` alone would not wait for it.


def test_a_client_that_never_reads_stops_the_generation_at_the_socket(mock: MockOllama) -> None:
    mock.script("flood", {"delay": 0, "steps": [{"say": "x" * 2000, "times": None, "chunk": 0}]})
    first, second = asyncio.run(_flood(mock))
    assert first == second
    assert mock.journal.settled()
    assert mock.journal[0].ended == "reset"


async def _flood(mock: MockOllama) -> tuple[int, int]:
    async with clients.held(mock.url, "/api/chat", request("/api/chat", "mock:flood")):
        for _ in range(100):  # until the sockets are full
            before = mock.journal[0].events if len(mock.journal) else -1
            await asyncio.sleep(0.1)
            if before > 0 and before == mock.journal[0].events:
                break
        await asyncio.sleep(0.2)
        return before, mock.journal[0].events


@pytest.mark.parametrize("path", ["/api/chat", "/v1/chat/completions"])
@pytest.mark.parametrize("loop", ["loop-reasoning", "loop-content", "loop-variant", "loop-long"])
def test_a_loop_goes_on_until_it_is_cut_and_the_next_attempt_answers(
    mock: MockOllama, path: str, loop: str
) -> None:
    model = f"mock:{loop}"
    first = judge(path, ask(mock, path, model, leave_after=400).body, ended=False)
    assert first.endings == 0
    assert first.problems == []
    second = judge(path, ask(mock, path, model).body)
    assert (second.endings, second.finish) == (1, ["stop"])
    assert second.content.startswith("The sky is blue")
    assert [entry.attempt for entry in mock.journal] == [1, 2]


def test_another_conversation_starts_at_the_first_attempt(mock: MockOllama) -> None:
    ask(mock, "/api/chat", "mock:empty-then-healthy", text="one")
    ask(mock, "/api/chat", "mock:empty-then-healthy", text="two")
    ask(mock, "/api/chat", "mock:empty-then-healthy", text="one")
    assert [entry.attempt for entry in mock.journal] == [1, 1, 2]
    mock.reset()
    ask(mock, "/api/chat", "mock:empty-then-healthy", text="one")
    assert [entry.attempt for entry in mock.journal] == [1]


@pytest.mark.parametrize("path", ALL_PATHS)
def test_a_conversation_with_something_appended_is_the_same(mock: MockOllama, path: str) -> None:
    ask(mock, path, "mock:short", text="Why?")
    ask(mock, path, "mock:short", text="Why?\n\nYou repeat yourself.")
    ask(mock, path, "mock:short", text="Why? Because.")
    if path not in ("/api/generate", "/v1/completions"):
        parts = [{"type": "text", "text": "Why?"}, {"type": "text", "text": "You repeat yourself."}]
        turns = [{"role": "user", "content": parts}]
        ask(mock, path, "mock:short", **{"input" if path == "/v1/responses" else "messages": turns})
    assert [entry.attempt for entry in mock.journal][:4] in ([1, 2, 1], [1, 2, 1, 3])


@pytest.mark.parametrize("path", ALL_PATHS)
def test_a_cut_off_stream_has_no_ending_of_its_own(mock: MockOllama, path: str) -> None:
    seen = ask(mock, path, "mock:eof")
    report = judge(path, seen.body, ended=False)
    assert (seen.ended, report.endings, report.finish) == ("complete", 0, [])
    assert report.content


@pytest.mark.parametrize(("model", "ended"), [("mock:dies", "reset"), ("mock:torn", "truncated")])
def test_a_broken_connection_is_broken(mock: MockOllama, model: str, ended: str) -> None:
    seen = ask(mock, "/v1/chat/completions", model)
    assert (seen.status, seen.ended, mock.journal[0].ended) == (200, ended, "fault")


def test_an_error_in_the_middle_shows_on_native_paths_only(mock: MockOllama) -> None:
    for path in ALL_PATHS:
        report = judge(path, ask(mock, path, "mock:error-line").body, ended=False)
        assert report.finish == []
        assert bool(report.errors) == (path in NATIVE)
    last = json.loads(ask(mock, "/v1/chat/completions", "mock:error-line").body.split(b"\n\n")[-2][6:])
    assert last["model"] == ""


@pytest.mark.parametrize("path", ALL_PATHS)
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_error_statuses_keep_their_form(mock: MockOllama, path: str, status: int) -> None:
    seen = ask(mock, path, f"mock:status-{status}")
    assert seen.status == status
    error = seen.json()["error"]
    assert error if path in NATIVE else error["message"]
    assert (seen.header("retry-after") == "7") == (status == 429)


def test_an_error_before_the_first_byte_has_a_status(mock: MockOllama) -> None:
    assert ask(mock, "/v1/chat/completions", "mock:error-first").status == 500


def test_no_header_comes_before_the_first_event(mock: MockOllama) -> None:
    model = mock.script("late", {"steps": [{"wait": 0.3}, {"say": "Now."}]})
    seen = ask(mock, "/api/chat", model)
    assert seen.head_at - seen.sent_at >= 0.3
    assert ask(mock, "/api/chat", "mock:silent", timeout=0.3).status == 0


def test_a_gap_is_a_gap(mock: MockOllama) -> None:
    model = mock.script("gap", {"steps": [{"say": "One"}, {"wait": 0.3}, {"say": "two"}]})
    assert 0.2 <= ask(mock, "/api/chat", model).longest_silence < 2  # the first event may come late


def test_after_a_cut_a_wedged_model_hangs_until_it_is_unloaded(mock: MockOllama) -> None:
    ask(mock, "/api/chat", "mock:wedge", leave_after=20)
    assert mock.journal.settled()
    assert ask(mock, "/api/chat", "mock:wedge", timeout=0.3).ended == "timeout"
    assert ask(mock, "/api/chat", "mock:healthy").ended == "complete"  # only this model hangs
    body = {"model": "mock:wedge", "keep_alive": 0}
    unload = asyncio.run(clients.ask(mock.url, "/api/generate", body))
    assert unload.json()["done_reason"] == "unload"
    seen = ask(mock, "/api/chat", "mock:wedge")
    assert judge("/api/chat", seen.body).content


def test_loading_and_unloading_answer_with_one_object(mock: MockOllama) -> None:
    bodies: dict[str, dict[str, Any]] = {"/api/generate": {}, "/api/chat": {"messages": []}}
    for path, body in bodies.items():
        for keep, reason in ((None, "load"), (0, "unload")):
            more = {"keep_alive": keep} if keep is not None else {}
            seen = asyncio.run(clients.ask(mock.url, path, {"model": "mock:short"} | body | more))
            assert seen.header("content-type") == "application/json; charset=utf-8"
            assert (seen.json()["done"], seen.json()["done_reason"]) == (True, reason)
            models = asyncio.run(clients.ask(mock.url, "/api/ps", method="GET")).json()["models"]
            assert [model["name"] for model in models] == (["mock:short"] if reason == "load" else [])


def test_the_repeat_breaker_ends_without_an_ending(mock: MockOllama) -> None:
    report = judge("/api/chat", ask(mock, "/api/chat", "mock:breaker").body, ended=False)
    assert report.endings == 0
    assert report.content.endswith(" so" * 31)


def test_a_script_can_stand_in_the_request(mock: MockOllama) -> None:
    steps = {"steps": [{"say": "Inline."}]}
    for more in ({"mock": steps}, {"options": {"mock": steps}}):
        report = judge("/api/chat", ask(mock, "/api/chat", "any:model", **more).body)
        assert report.content == "Inline."
    assert ask(mock, "/api/chat", "any:model").status == 404
    assert ask(mock, "/api/chat", "any:model", mock="short").status == 200


@pytest.mark.parametrize("model", ["mock:short-cloud", "mock-short:cloud", "mock:short"])
def test_a_cloud_name_plays_the_same_script(mock: MockOllama, model: str) -> None:
    assert judge("/api/chat", ask(mock, "/api/chat", model).body).content == "Blue light scatters most."


def test_thinking_is_left_out_when_it_is_turned_off(mock: MockOllama) -> None:
    assert judge("/api/chat", ask(mock, "/api/chat", "mock:healthy", think=False).body).reasoning == ""


def test_the_token_limit_ends_a_limited_script(mock: MockOllama) -> None:
    few = judge("/api/chat", ask(mock, "/api/chat", "mock:limited", options={"num_predict": 50}).body)
    more = judge("/api/chat", ask(mock, "/api/chat", "mock:limited", options={"num_predict": 500}).body)
    assert (few.finish, few.content, few.usage[0]["completion"]) == (["length"], "", 50)
    assert (more.finish, bool(more.content)) == (["stop"], True)


@pytest.mark.parametrize("path", SSE)
def test_a_compressed_answer_is_compressed_as_it_goes(mock: MockOllama, path: str) -> None:
    seen = ask(mock, path, "mock:gzip")
    assert seen.header("content-encoding") == "gzip"
    assert judge(path, gzip.decompress(seen.body)).problems == []
    assert len(seen.chunks) > 20


def test_a_redirect_is_one(mock: MockOllama) -> None:
    seen = ask(mock, "/v1/chat/completions", "mock:redirect")
    assert (seen.status, seen.header("location")) == (307, "http://192.0.2.1/v1/chat/completions")


def test_an_unfinished_body_and_a_bad_one_are_told_apart(mock: MockOllama) -> None:
    head = b"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
    assert asyncio.run(clients.send(mock.url, head + b"{not json")).status == 400
    assert asyncio.run(clients.send(mock.url, head + b"{", timeout=0.2)).ended == "timeout"
    assert mock.journal.settled()
    assert [entry.ended for entry in mock.journal] == ["finished", "client_closed"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "localhost:11434"}, 200),
        ({"Host": "[::1]:11434"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
def test_foreign_hosts_and_origins_are_refused_as_ollama_does(
    mock: MockOllama, headers: dict[str, str], status: int
) -> None:
    seen = asyncio.run(clients.ask(mock.url, "/api/version", method="GET", headers=headers))
    assert seen.status == status


def test_the_journal_is_served_and_scripts_can_be_posted(mock: MockOllama) -> None:
    given = {"name": "posted", "script": {"steps": [{"say": "Posted."}]}}
    assert asyncio.run(clients.ask(mock.url, "/_mock/script", given)).json() == {"model": "mock:posted"}
    assert (
        asyncio.run(clients.ask(mock.url, "/_mock/script", {"name": "x", "script": {"steps": [{}]}})).status
        == 400
    )
    ask(mock, "/api/chat", "mock:posted", headers={"X-Test": "yes"})
    (row,) = asyncio.run(clients.ask(mock.url, "/_mock/journal", method="GET")).json()
    assert (row["model"], row["ended"], row["body"]["messages"][0]["role"]) == (
        "mock:posted",
        "finished",
        "user",
    )
    assert ["X-Test", "yes"] in row["headers"]
    assert asyncio.run(clients.ask(mock.url, f"/_mock/journal?since={row['id']}", method="GET")).json() == []
    assert asyncio.run(clients.ask(mock.url, "/_mock/reset", {})).status == 204
    assert len(mock.journal) == 0


def test_the_echo_shows_the_request_as_it_came(mock: MockOllama) -> None:
    seen = asyncio.run(
        clients.ask(mock.url, "/_mock/echo?a=%2f", b"\x00\xff", method="PATCH", headers={"Te": "x"})
    )
    assert (seen.json()["method"], seen.json()["target"]) == ("PATCH", "/_mock/echo?a=%2f")
    assert ["Te", "x"] in seen.json()["headers"]


def test_the_dry_run_tells_whether_the_last_turn_is_left_open(mock: MockOllama) -> None:
    turns = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Because"}]
    body = {"model": "mock:short", "messages": turns, "_debug_render_only": True}
    for prefill in (False, True):
        seen = asyncio.run(clients.ask(mock.url, "/api/chat", body | {"mock": {"prefill": prefill}}))
        assert seen.json()["_debug_info"]["rendered_template"].endswith("Because") == prefill
    assert mock.journal.generations() == []


def test_it_serves_inside_a_running_loop_too() -> None:
    async def inside() -> bool:
        async with MockOllama(delay=0) as mock:
            await clients.ask(mock.url, "/api/chat", request("/api/chat", "mock:short"))
            await clients.ask(mock.url, "/api/chat", request("/api/chat", "mock:silent"), leave_after=0)
            return await mock.journal.until(
                lambda journal: [e.ended for e in journal] == ["finished", "client_closed"]
            )

    assert asyncio.run(inside())


def test_a_fault_of_the_mock_itself_is_not_hidden() -> None:
    async def broken() -> None:
        async with MockOllama(delay=0) as mock:
            mock.script("bad", {"attempts": ["nowhere"]})
            seen = await clients.ask(mock.url, "/api/chat", request("/api/chat", "mock:bad"))
            assert seen.ended == "reset"

    with pytest.raises(ExceptionGroup, match="the mock itself failed"):
        asyncio.run(broken())


def test_ipv6_loopback_works() -> None:
    async def inside() -> str:
        async with MockOllama(host="::1", delay=0) as mock:
            return (await clients.ask(mock.url, "/", method="GET")).text

    try:
        assert asyncio.run(inside()) == "Ollama is running"
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")


def test_an_upload_is_counted_as_it_comes_and_checked(mock: MockOllama) -> None:
    data = bytes(range(256)) * 4096
    name = "sha256:" + hashlib.sha256(data).hexdigest()

    async def upload() -> tuple[int, int]:
        wire = await clients.connect(mock.url)
        raw = clients.request_bytes(mock.url, f"/api/blobs/{name}", data)
        wire.writer.write(raw[: len(raw) // 2])
        await wire.writer.drain()
        for _ in range(100):
            if len(mock.journal) and mock.journal[0].body_bytes > 400_000:
                break
            await asyncio.sleep(0.02)
        half = mock.journal[0].body_bytes
        wire.writer.write(raw[len(raw) // 2 :])
        status = int((await wire.line()).split()[1])
        await wire.close()
        return half, status

    half, status = asyncio.run(upload())
    assert 400_000 < half < len(data)
    assert (status, mock.journal[0].body_bytes, mock.journal[0].body_sha256) == (201, len(data), name[7:])
    assert asyncio.run(clients.ask(mock.url, f"/api/blobs/{name}", method="HEAD")).status == 200
    wrong = asyncio.run(clients.ask(mock.url, f"/api/blobs/sha256:{'0' * 64}", b"x"))
    assert (wrong.status, "digest mismatch" in wrong.text) == (400, True)


def test_a_pull_streams_its_progress(mock: MockOllama) -> None:
    body = {"model": "demo:8b", "mock": {"lines": 50, "delay": 0}}
    seen = asyncio.run(clients.ask(mock.url, "/api/pull", body))
    assert seen.header("content-type") == "application/x-ndjson"
    assert len(seen.chunks) == 54
    assert json.loads(seen.chunks[-1][1]) == {"status": "success"}


@pytest.mark.parametrize(
    ("method", "path", "status", "text"),
    [
        ("GET", "/", 200, "Ollama is running"),
        ("HEAD", "/", 200, ""),
        ("GET", "/api/nothing", 404, "404 page not found"),
        ("POST", "/v1/messages/count_tokens", 404, "404 page not found"),
        ("GET", "/api/chat", 405, "405 method not allowed"),
        ("POST", "/api/tags", 405, "405 method not allowed"),
        ("DELETE", "/api/delete", 200, ""),
    ],
)
def test_other_paths_answer_as_ollama_does(
    mock: MockOllama, method: str, path: str, status: int, text: str
) -> None:
    seen = asyncio.run(clients.ask(mock.url, path, method=method))
    assert (seen.status, seen.text) == (status, text)
    if text:
        assert (seen.header("content-type") or "").startswith("text/plain")


def test_models_are_listed_and_described(mock: MockOllama) -> None:
    tags = asyncio.run(clients.ask(mock.url, "/api/tags", method="GET")).json()["models"]
    listed = asyncio.run(clients.ask(mock.url, "/v1/models", method="GET")).json()["data"]
    assert {model["name"] for model in tags} == {model["id"] for model in listed} >= {"mock:healthy"}
    show = asyncio.run(clients.ask(mock.url, "/api/show", {"model": "mock:healthy"})).json()
    assert "thinking" in show["capabilities"]
    assert asyncio.run(clients.ask(mock.url, "/api/show", {"model": "none"})).status == 404
    assert asyncio.run(clients.ask(mock.url, "/v1/models/none", method="GET")).status == 404
