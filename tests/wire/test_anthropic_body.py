"""The one body of /v1/messages without a stream."""

import json
from collections.abc import Sequence
from typing import Any

from ollama_guard.events import Channel, Event, Finish, Text, Usage
from ollama_guard.wire.anthropic_messages import AnthropicMessages
from ollama_guard.wire.anthropic_stream import MessagesSession
from tests.wire.attempts import keep
from tests.wire.judges import claude
from tests.wire.ollama_messages import Said, event, frames, stream

BODY = b'{"model":"demo:8b","max_tokens":50,"messages":[{"role":"user","content":"Why?"}]}'
CALL = ("tool_use", ("look", {"at": "sky"}))


def session() -> MessagesSession:
    request = AnthropicMessages().request(BODY)
    assert request is not None
    assert not request.stream
    return AnthropicMessages().session(request)


def collect(one: MessagesSession, parts: Sequence[bytes], change: Any = keep) -> dict[str, Any]:
    one.begin_attempt()
    for frame in frames(parts):
        one.collect(frame, change(one.read(frame)))
    body: dict[str, Any] = json.loads(one.body())
    return body


def judged(one: MessagesSession) -> Any:
    with claude(one.body(), media_type="application/json") as client:
        return client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}])


def test_the_body_is_what_ollama_writes_for_the_same_answer() -> None:
    said: list[Said] = [("thinking", "Hm, "), ("thinking", "so"), ("text", "Blue"), CALL]
    assert collect(session(), stream(said, stop="tool_use")) == {
        "id": "msg_one",
        "type": "message",
        "role": "assistant",
        "model": "demo:8b",
        "content": [
            {"type": "thinking", "thinking": "Hm, so"},
            {"type": "text", "text": "Blue"},
            {"type": "tool_use", "id": "call_msg_one_2", "name": "look", "input": {"at": "sky"}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 31, "output_tokens": 9},
    }


def test_text_around_calls_is_one_text_as_ollama_has_it() -> None:
    body = collect(session(), stream([("text", "One"), CALL, ("text", "Two")], stop="tool_use"))
    assert [block.get("text") for block in body["content"]] == ["OneTwo", None]


def test_attempts_are_one_answer() -> None:
    one = session()
    collect(one, stream([("thinking", "Hm"), ("text", "The sky ")], stop=None))

    def summed(events: Sequence[Event]) -> Sequence[Event]:
        return [Usage(e.prompt, e.completion + 100) if isinstance(e, Usage) else e for e in events]

    collect(one, stream([("text", "is blue")], ident="msg_two", stop="max_tokens"), summed)
    answer = judged(one)
    assert [block.type for block in answer.content] == ["thinking", "text"]
    assert answer.content[1].text == "The sky is blue"
    assert (answer.id, answer.stop_reason, answer.usage.output_tokens) == ("msg_one", "max_tokens", 109)


def test_a_block_of_the_servers_own_tools_keeps_its_place() -> None:
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "sky"}}
    parts = stream([], ident="msg_one")
    start = {"type": "content_block_start", "index": 0, "content_block": search}
    stop = {"type": "content_block_stop", "index": 0}
    text = [part.replace(b'"index": 0', b'"index": 1') for part in stream([("text", "Blue")])[1:]]
    body = collect(session(), [parts[0], event(start), event(stop), *text])
    assert body["content"] == [search, {"type": "text", "text": "Blue"}]


def test_signatures_and_citations_are_kept() -> None:
    parts = stream([("thinking", "Hm"), ("text", "Blue")])
    signature = {"type": "signature_delta", "signature": "c2ln"}
    parts.insert(3, event({"type": "content_block_delta", "index": 0, "delta": signature}))
    citation = {"type": "citations_delta", "citation": {"url": "https://example.org"}}
    parts.insert(7, event({"type": "content_block_delta", "index": 1, "delta": citation}))
    thinking, text = collect(session(), parts)["content"]
    assert thinking["signature"] == "c2ln"
    assert text["citations"] == [{"url": "https://example.org"}]


def test_an_ending_of_ours_makes_the_body_whole() -> None:
    one = session()
    collect(one, stream([("text", "Blue")], stop=None))
    one.text(Text(Channel.CONTENT, " (cut)"))
    one.ending("stop")
    answer = judged(one)
    assert (answer.content[0].text, answer.stop_reason) == ("Blue (cut)", "end_turn")


def test_an_answer_without_content_has_an_empty_list() -> None:
    body = collect(session(), stream([]))
    assert (body["content"], body["stop_reason"]) == ([], "end_turn")


def test_a_call_whose_arguments_are_no_object_has_none() -> None:
    parts = stream([CALL], stop="tool_use")
    broken = [part.replace(b'\\"sky\\"}', b"") for part in parts]
    assert collect(session(), broken)["content"][0]["input"] == {}


def test_a_dropped_ending_is_not_in_the_body() -> None:
    one = session()
    assert "stop_reason" not in collect(
        one, stream([("text", "a")]), lambda es: [e for e in es if not isinstance(e, Finish | Usage)]
    )
