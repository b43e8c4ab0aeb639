"""The response object, and the one body of /v1/responses without a stream."""

import json
from collections.abc import Sequence
from typing import Any

from ollama_guard.events import Channel, Event, Text, Usage
from ollama_guard.wire.openai_responses import OpenAIResponses
from ollama_guard.wire.responses_object import begun, ended, single, usage
from ollama_guard.wire.responses_stream import ResponsesSession
from tests.wire.attempts import keep
from tests.wire.judges import gpt
from tests.wire.ollama_responses import frames, stream

BODY = b'{"model":"demo:8b","input":"Why?","instructions":"Be brief.","temperature":0}'
CALL = ("function_call", ("look", {"at": "sky"}))


def session() -> ResponsesSession:
    request = OpenAIResponses().request(BODY)
    assert request is not None
    assert not request.stream
    return OpenAIResponses().session(request, at=5)


def collect(one: ResponsesSession, parts: Sequence[bytes], change: Any = keep) -> dict[str, Any]:
    one.begin_attempt()
    for frame in frames(parts):
        one.collect(frame, change(one.read(frame)))
    body: dict[str, Any] = json.loads(one.body())
    return body


def test_the_body_is_what_ollama_writes_for_the_same_answer() -> None:
    body = collect(session(), stream([("reasoning", "Hm"), ("message", "Blue"), ("message", " sky")]))
    text = {"type": "output_text", "text": "Blue sky", "annotations": [], "logprobs": []}
    assert body["output"] == [
        {
            "id": "rs_resp_1_0",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "Hm"}],
            "encrypted_content": "Hm",
        },
        {
            "id": "msg_resp_1_1",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [text],
        },
    ]
    assert (body["id"], body["status"], body["error"], body["usage"]["total_tokens"]) == (
        "resp_1",
        "completed",
        None,
        40,
    )


def test_calls_take_the_place_of_the_message_as_ollama_has_it() -> None:
    body = collect(session(), stream([("reasoning", "Hm"), ("message", "I look"), CALL, CALL]))
    assert [item["type"] for item in body["output"]] == ["reasoning", "function_call", "function_call"]
    assert [item.get("status") for item in body["output"]] == [None, "completed", "completed"]


def test_an_answer_without_words_has_an_empty_message() -> None:
    body = collect(session(), stream([]))
    assert [item["content"][0]["text"] for item in body["output"]] == [""]


def test_attempts_are_one_answer() -> None:
    one = session()
    one.begin_attempt()
    for frame in frames(stream([("reasoning", "Hm"), ("message", "The sky ")], end=False)):
        one.collect(frame, one.read(frame))

    def summed(events: Sequence[Event]) -> Sequence[Event]:
        return [Usage(e.prompt, e.completion + 100) if isinstance(e, Usage) else e for e in events]

    collect(one, stream([("message", "is blue")], ident="resp_2"), summed)
    with gpt(one.body(), media_type="application/json") as client:
        answer = client.responses.create(model="m", input="x")
    assert answer.output_text == "The sky is blue"
    assert answer.usage is not None
    assert (answer.id, answer.usage.output_tokens) == ("resp_1", 109)


def test_an_ending_of_ours_makes_the_body_whole() -> None:
    one = session()
    one.text(Text(Channel.CONTENT, "Note"))
    one.ending("stop")
    body = json.loads(one.body())
    assert body["output"][0]["content"][0]["text"] == "Note"
    assert (body["status"], body["created_at"], body["completed_at"]) == ("completed", 5, 5)


def test_a_body_asked_for_before_any_end_is_still_a_response() -> None:
    assert json.loads(session().body())["status"] == "completed"


def test_a_response_of_our_own_echoes_the_request_as_ollama_does() -> None:
    request = OpenAIResponses().request(BODY)
    assert request is not None
    made = begun(request, "resp_x", 5)
    assert (made["instructions"], made["temperature"], made["top_p"]) == ("Be brief.", 0, 1.0)
    assert (made["status"], made["output"], made["usage"], made["tools"]) == ("in_progress", [], None, [])
    assert made["text"] == {"format": {"type": "text"}}


def test_an_ended_response_keeps_what_was_told_first() -> None:
    first: dict[str, Any] = {"id": "a", "model": "m", "status": "in_progress", "usage": None, "output": []}
    last = {"id": "b", "model": "n", "status": "completed", "usage": {}, "output": ["x"], "new": 1}
    assert ended(first, last, [{"type": "message"}]) == {
        "id": "a",
        "model": "m",
        "status": "completed",
        "usage": {},
        "output": [{"type": "message"}],
        "new": 1,
    }


def test_items_of_other_kinds_stay_in_a_single_body() -> None:
    search = {"type": "web_search_call"}
    assert single({"output": [search, {"type": "message"}]}, {})["output"] == [search, {"type": "message"}]


def test_usage_keeps_the_upstreams_details() -> None:
    made = usage(Usage(3, 4), {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 2}})
    assert made == {
        "input_tokens": 3,
        "output_tokens": 4,
        "total_tokens": 7,
        "input_tokens_details": {"cached_tokens": 2},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
