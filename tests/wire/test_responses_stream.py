"""One response over several attempts of /v1/responses. The OpenAI SDK is the judge."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.events import Channel, Event, Finish, Text, ToolDelta, Usage
from ollama_guard.wire.frame import Frame
from ollama_guard.wire.openai_responses import OpenAIResponses
from ollama_guard.wire.responses_stream import ResponsesSession
from tests.wire.attempts import first, later, passed
from tests.wire.judges import gpt, response
from tests.wire.ollama_responses import Said, check, event, frames, payloads, stream

BODY = b'{"model":"demo:8b","stream":true,"input":"Why?","max_output_tokens":500}'
CALL = ("function_call", ("look", {"at": "sky"}))


def session(at: float = 0.0) -> ResponsesSession:
    dialect = OpenAIResponses()
    request = dialect.request(BODY)
    assert request is not None
    return dialect.session(request, at=at)


def cut(said: Sequence[Said]) -> list[Frame]:
    return frames(stream(said, end=False))


def whole(said: Sequence[Said], **kw: Any) -> list[Frame]:
    return frames(stream(said, ident="resp_2", **kw))


def said_by(body: bytes) -> list[tuple[str, Any]]:
    """Kind and content of each item that the SDK has at the end."""
    kinds: dict[str, Any] = {
        "reasoning": lambda item: "".join(part.text for part in item.summary),
        "message": lambda item: "".join(part.text for part in item.content),
        "function_call": lambda item: (item.name, json.loads(item.arguments)),
    }
    return [(item.type, kinds[item.type](item)) for item in response(body).output]


def no_reasoning(events: Sequence[Event]) -> Sequence[Event] | None:
    reasoning = [event for event in events if isinstance(event, Text) and event.channel is Channel.REASONING]
    return None if reasoning else events


def no_call(events: Sequence[Event]) -> Sequence[Event] | None:
    return None if any(isinstance(event, ToolDelta) for event in events) else events


def test_text_goes_on_in_the_message_that_the_cut_attempt_left_open() -> None:
    one = session()
    body = first(one, cut([("reasoning", "Hm"), ("message", "The sky ")]))
    body += later(one, whole([("message", "is blue")]))
    check(body)
    assert said_by(body) == [("reasoning", "Hm"), ("message", "The sky is blue")]


def test_reasoning_goes_on_in_its_open_item() -> None:
    one = session()
    body = first(one, cut([("reasoning", "Hm, ")]))
    body += later(one, whole([("reasoning", "so"), ("message", "Blue")]))
    check(body)
    assert said_by(body) == [("reasoning", "Hm, so"), ("message", "Blue")]
    assert response(body).output[0].encrypted_content == "Hm, so"


def test_an_open_item_is_ended_with_its_text_before_one_of_another_kind() -> None:
    one = session()
    body = first(one, cut([("reasoning", "Hm, "), ("reasoning", "so")]))
    body += later(one, whole([("message", "Blue")]))
    check(body)
    assert said_by(body) == [("reasoning", "Hm, so"), ("message", "Blue")]
    done = [payload for payload in payloads(body) if payload["type"].endswith("text.done")]
    assert [payload["text"] for payload in done] == ["Hm, so", "Blue"]


def test_a_message_that_ollama_leaves_open_before_a_call_is_ended() -> None:
    one = session()
    body = first(one, cut([("reasoning", "Hm")])) + later(one, whole([("message", "I look"), CALL, CALL]))
    check(body)
    assert said_by(body) == [("reasoning", "Hm"), ("message", "I look"), CALL, CALL]


def test_the_response_keeps_its_first_identity_and_settings() -> None:
    one = session()
    body = first(one, cut([("message", "a")]))
    body += later(one, whole([("message", "b")], model="other:1b", temperature=0.1, max_output_tokens=2000))
    judged = response(body)
    assert (judged.id, judged.model, judged.created_at) == ("resp_1", "demo:8b", 1_790_000_006)
    assert (judged.temperature, judged.max_output_tokens) == (1.0, None)


def test_a_fallback_models_name_does_not_leak_when_nothing_was_shown_before() -> None:
    body = later(session(), whole([("message", "b")], model="other:1b"))
    check(body)
    assert (response(body).id, response(body).model) == ("resp_2", "demo:8b")
    assert b"other:1b" not in body


def test_reasoning_that_is_dropped_leaves_no_item_behind() -> None:
    one = session()
    body = first(one, cut([("message", "The sky ")]))
    body += later(one, whole([("reasoning", "Hm"), ("message", "is blue")]), no_reasoning)
    check(body)
    assert said_by(body) == [("message", "The sky is blue")]


def test_a_call_that_is_dropped_leaves_no_item_behind() -> None:
    one = session()
    body = first(one, cut([("message", "I look: ")]))
    body += later(one, whole([("message", "now"), CALL]), no_call)
    check(body)
    assert said_by(body) == [("message", "I look: now")]


def test_text_trimmed_at_the_joint_is_trimmed_in_every_done_event() -> None:
    one = session()
    body = first(one, cut([("reasoning", "Hm"), ("message", "The sky is ")]))

    def trim(events: Sequence[Event]) -> Sequence[Event]:
        return [Text(e.channel, e.text.removeprefix("sky is ")) if isinstance(e, Text) else e for e in events]

    body += later(one, whole([("message", "sky is blue"), ("message", ".")]), trim)
    check(body)
    assert said_by(body) == [("reasoning", "Hm"), ("message", "The sky is blue.")]
    assert body.count(b"sky is sky is") == 0


def test_usage_given_by_the_engine_is_what_the_client_gets() -> None:
    one = session()
    body = first(one, cut([("message", "a")]))

    def summed(events: Sequence[Event]) -> Sequence[Event]:
        return [Usage(e.prompt + 31, e.completion + 400) if isinstance(e, Usage) else e for e in events]

    body += later(one, whole([("message", "b")]), summed)
    usage = response(body).usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (62, 409, 471)
    assert usage.output_tokens_details.reasoning_tokens == 0


def test_an_ending_that_is_kept_back_gives_no_bytes() -> None:
    one = session()
    body = first(one, cut([("message", "a")]))

    def no_ending(events: Sequence[Event]) -> Sequence[Event]:
        return [e for e in events if isinstance(e, Text)]

    body += later(one, whole([("message", "b")]), no_ending) + later(one, whole([("message", "c")]))
    check(body)
    assert said_by(body) == [("message", "abc")]


def test_words_that_come_late_stay_in_their_message() -> None:
    """The engine's joint keeps words until it is sure that they restate nothing, at the latest to the end."""
    one = session()
    body = first(one, cut([("message", "The sky is blue")]))

    def late(events: Sequence[Event]) -> Sequence[Event]:
        if any(isinstance(event, Finish) for event in events):
            return [Text(Channel.CONTENT, " indeed."), *events]
        return [event for event in events if not isinstance(event, Text)]

    body += later(one, whole([("message", "blue indeed.")]), late)
    check(body)
    assert said_by(body) == [("message", "The sky is blue indeed.")]


def test_messages_that_the_upstream_keeps_apart_stay_apart() -> None:
    parts = frames(stream([("message", "One")], ident="resp_2"))
    second = frames(stream([("message", "Two")], ident="resp_3"))
    one = session()
    body = first(one, cut([("message", "Zero, ")])) + later(one, [*parts[:-1], *second[2:]])
    check(body)
    assert said_by(body) == [("message", "Zero, One"), ("message", "Two")]


def test_a_call_in_pieces_is_spliced_at_the_clients_index() -> None:
    one = session()
    body = first(one, cut([("reasoning", "Hm"), ("message", "I look")]))
    body += later(one, whole([CALL, CALL], pieces=3))
    check(body)
    assert said_by(body) == [("reasoning", "Hm"), ("message", "I look"), CALL, CALL]


def test_a_call_whose_arguments_come_only_at_its_end_is_spliced_whole() -> None:
    parts = [part for part in stream([CALL], ident="resp_2") if b"arguments.delta" not in part]
    one = session()
    body = first(one, cut([("message", "I look")])) + later(one, frames(parts))
    check(body)
    assert said_by(body) == [("message", "I look"), CALL]


def test_ids_that_come_again_are_changed() -> None:
    one = session()
    body = first(one, frames(stream([CALL], end=False)))
    body += later(one, frames(stream([CALL, ("message", "Blue")])))
    check(body)
    assert said_by(body)[:2] == [CALL, CALL]
    assert len({item.call_id for item in response(body).output if item.type == "function_call"}) == 2


def test_a_call_cut_before_its_done_event_is_ended() -> None:
    one = session()
    events = frames(stream([CALL], end=False))
    body = first(one, events[:4]) + later(one, whole([("message", "Blue")]))
    check(body)
    assert said_by(body) == [CALL, ("message", "Blue")]
    assert response(body).output[0].status == "completed"


def summary_part(at: int, text: str) -> list[dict[str, Any]]:
    place = {"item_id": "r", "output_index": 0, "summary_index": at}
    part = {"type": "summary_text", "text": text}
    stem = "response.reasoning_summary"
    return [
        {"type": f"{stem}_part.added", **place, "part": {**part, "text": ""}},
        {"type": f"{stem}_text.delta", **place, "delta": text},
        {"type": f"{stem}_text.done", **place, "text": text},
        {"type": f"{stem}_part.done", **place, "part": part},
    ]


REASONING = {"id": "r", "type": "reasoning", "summary": []}
SAID = [{"type": "summary_text", "text": text} for text in ("One", "Two")]
SEALED = {**REASONING, "encrypted_content": "sealed", "summary": SAID}
SUMMARY: list[dict[str, Any]] = [
    {"type": "response.output_item.added", "output_index": 0, "item": REASONING},
    *summary_part(0, "One"),
    *summary_part(1, "Two"),
    {"type": "response.output_item.done", "output_index": 0, "item": SEALED},
]


def summaries(ident: str) -> list[Frame]:
    parts = stream([("message", "Blue")], ident=ident)
    told = [event({**payload, "sequence_number": 2 + at}) for at, payload in enumerate(SUMMARY)]
    moved = [part.replace(b'"output_index": 0', b'"output_index": 1') for part in parts[2:]]
    return frames([*parts[:2], *told, *moved])


def test_summary_parts_of_other_servers_stay_parts() -> None:
    body = later(session(), summaries("resp_2"))
    check(body)
    reasoning = response(body).output[0]
    assert [part.text for part in reasoning.summary] == ["One", "Two"]
    assert reasoning.encrypted_content == "sealed"


def test_summary_parts_go_on_in_the_open_item() -> None:
    one = session()
    body = first(one, cut([("reasoning", "Zero, ")])) + later(one, summaries("resp_2"))
    check(body)
    reasoning = response(body).output[0]
    assert [part.text for part in reasoning.summary] == ["Zero, One", "Two"]
    assert reasoning.encrypted_content == "Zero, OneTwo"


def test_a_passed_stream_with_summary_parts_is_gone_on_with() -> None:
    one = session()
    body = first(one, summaries("resp_1")[:9]) + later(one, whole([("message", "Blue")]))
    check(body, gapless=False)
    assert [part.text for part in response(body).output[0].summary] == ["One", "Two"]


def test_reasoning_text_of_other_servers_is_kept_as_such() -> None:
    item = {"id": "r", "type": "reasoning", "summary": [], "content": []}
    place = {"item_id": "r", "output_index": 0, "content_index": 0}
    told: list[dict[str, Any]] = [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.reasoning_text.delta", **place, "delta": "Hm"},
    ]
    parts = stream([], ident="resp_2")
    body = later(session(), frames([*parts[:-1], *map(event, told), parts[-1]]))
    check(body)
    assert response(body).output[0].content[0].text == "Hm"


def test_annotations_of_a_message_are_kept() -> None:
    citation = {
        "type": "url_citation",
        "url": "https://example.org",
        "title": "t",
        "start_index": 0,
        "end_index": 4,
    }
    parts = stream([("message", "Blue")], ident="resp_2")
    place = {"output_index": 0, "content_index": 0, "annotation_index": 0}
    added = {"type": "response.output_text.annotation.added", "item_id": "msg_resp_2_0", **place}
    parts.insert(5, event({**added, "annotation": citation}))
    parts = [
        p.replace(
            b'"text": "Blue", "annotations": []',
            b'"text": "Blue", "annotations": [%s]' % json.dumps(citation).encode(),
        )
        for p in parts
    ]
    body = later(session(), frames(parts))
    assert response(body).output[0].content[0].annotations[0].url == "https://example.org"
    told = next(payload for payload in payloads(body) if payload["type"].endswith("annotation.added"))
    assert (told["item_id"], told["output_index"]) == ("msg_resp_2_0", 0)
    one = session()
    joined = first(one, cut([("message", "The sky: ")])) + later(one, frames(parts))
    check(joined)  # the places that annotations name are places in the upstream's text alone
    assert response(joined).output[0].content[0].annotations == []


def test_items_of_the_servers_own_tools_are_renumbered() -> None:
    search = {"id": "ws", "type": "web_search_call", "status": "in_progress"}
    told = [
        {"type": "response.output_item.added", "output_index": 0, "item": search},
        {"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws"},
        {"type": "response.output_item.done", "output_index": 0, "item": {**search, "status": "completed"}},
    ]
    parts = stream([], ident="resp_2")
    one = session()
    body = first(one, cut([("message", "I search")])) + later(
        one, frames([*parts[:2], *map(event, told), parts[-1]])
    )
    check(body)
    searching = next(payload for payload in payloads(body) if payload["type"].endswith("searching"))
    assert (searching["item_id"], searching["output_index"]) == ("ws", 1)
    assert [item.type for item in response(body).output] == ["message", "web_search_call"]


def test_text_of_our_own_begins_a_response_when_there_is_none() -> None:
    one = session(at=1_790_000_000.7)
    body = one.text(Text(Channel.CONTENT, "Note")) + one.ending("stop")
    check(body)
    assert said_by(body) == [("message", "Note")]
    judged = response(body)
    assert (judged.created_at, judged.model, judged.max_output_tokens) == (1_790_000_000, "demo:8b", 500)
    assert judged.id.startswith("resp_")


def test_reasoning_of_our_own_announces_its_part() -> None:
    """openai-node's `.stream()` throws on reasoning whose part was never added."""
    body = session().text(Text(Channel.REASONING, "Hm"))
    assert "response.reasoning_summary_part.added" in [payload["type"] for payload in payloads(body)]


def test_our_own_identity_depends_on_the_request_alone() -> None:
    assert session().ending("stop") == session().ending("stop")


@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls"])
def test_an_ending_of_ours_ends_what_is_open(reason: str) -> None:
    one = session()
    body = first(one, cut([("reasoning", "Hm"), ("message", "Blue"), ("message", " sky")])) + one.ending(
        reason
    )
    check(body)
    assert said_by(body) == [("reasoning", "Hm"), ("message", "Blue sky")]
    usage = response(body).usage
    assert (usage.input_tokens, usage.output_tokens) == (len(BODY) // 4, 3)


def test_nothing_follows_an_end() -> None:
    one = session()
    first(one, frames(stream([("message", "Blue")])))
    assert one.ending("stop") == one.error("k", "m") == b""


@pytest.mark.parametrize("shown", [[], [("reasoning", "Hm")], [("message", "Blue")]])
def test_an_error_is_a_failed_response_that_the_sdk_reads(shown: list[Said]) -> None:
    one = session()
    body = (first(one, cut(shown)) if shown else b"") + one.error("ollama_loop_guard_deadloop", "It looped.")
    check(body)
    with gpt(body) as client:
        *_, last = client.responses.create(model="m", input="x", stream=True)
        assert last.type == "response.failed"
        assert last.response.error is not None
        assert (last.response.error.code, last.response.error.message) == (
            "ollama_loop_guard_deadloop",
            "It looped.",
        )
        assert [item.status for item in last.response.output if item.type == "message"] == (
            ["incomplete"] if shown and shown[0][0] == "message" else []
        )
    with pytest.raises(RuntimeError, match="completed"):
        response(body)


def test_a_heartbeat_before_the_response_is_a_comment_on_one_line() -> None:
    assert session().heartbeat(data=True) == session().heartbeat(data=False) == b": hb\n"
    one = session()
    body = one.heartbeat(data=False) * 2 + first(one, frames(stream([("message", "Blue")])))
    check(body)
    assert said_by(body) == [("message", "Blue")]


@pytest.mark.parametrize("data", [False, True])
def test_a_heartbeat_inside_passed_frames_repeats_the_last_number(data: bool) -> None:
    one = session()
    given = frames(stream([("reasoning", "Hm"), ("message", "Blue")]))
    one.begin_attempt()
    body = b"".join(passed(one, frame) + one.heartbeat(data=data) for frame in given[:-1]) + passed(
        one, given[-1]
    )
    numbers = [payload["sequence_number"] for payload in payloads(body)]
    assert numbers == sorted(numbers)
    check(body, gapless=False)
    assert said_by(body) == [("reasoning", "Hm"), ("message", "Blue")]


def test_a_heartbeat_after_a_splice_has_a_number_of_its_own() -> None:
    one = session()
    body = first(one, cut([("message", "a")]))
    one.begin_attempt()
    for frame in whole([("message", "b")])[:-1]:
        body += one.splice(frame, one.read(frame)) + (one.heartbeat(data=True) if one._numbering else b"")
    body += one.ending("stop")
    check(body)
    assert [p["type"] for p in payloads(body)].count("keepalive") > 1


def test_heartbeats_while_the_next_attempt_is_awaited_have_numbers_of_their_own() -> None:
    one = session()
    body = first(one, cut([("message", "a")]))
    one.begin_attempt()
    body += one.heartbeat(data=False) + one.heartbeat(data=True)
    for frame in whole([("message", "b")]):
        body += one.splice(frame, one.read(frame))
    check(body)
    assert said_by(body) == [("message", "ab")]
    assert [p["type"] for p in payloads(body)].count("keepalive") == 2


def test_a_comment_is_spliced_as_it_is_and_half_a_frame_never() -> None:
    one = session()
    body = first(one, cut([("message", "a")]))
    assert later(one, frames([b": hello\n\n"])) == b": hello\n\n"
    fragment = Frame(b'event: response.output_text.delta\ndata: {"type":', whole=False)
    assert one.read(fragment) == ()
    one.passed(fragment, ())
    assert one.splice(fragment, ()) == b""
    check(body + one.ending("stop"))


def test_a_done_marker_of_other_servers_comes_only_after_the_end() -> None:
    one = session()
    marker = frames([b"data: [DONE]\n\n"])
    first(one, cut([("message", "a")]))
    assert later(one, marker) == b""
    later(one, whole([("message", "b")]))
    assert later(one, marker) == b"data: [DONE]\n\n"


def test_an_upstreams_failure_that_is_passed_on_keeps_the_identity() -> None:
    one = session()
    body = first(one, cut([("message", "a")]))
    failed = {
        "id": "resp_9",
        "status": "failed",
        "error": {"code": "server_error", "message": "no"},
        "output": [],
    }
    body += later(one, frames([event({"type": "response.failed", "sequence_number": 7, "response": failed})]))
    check(body)
    last = payloads(body)[-1]["response"]
    assert (last["id"], last["error"]["message"]) == ("resp_1", "no")


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
CALLS = st.tuples(
    st.just("function_call"), st.tuples(st.just("look"), st.dictionaries(WORDS, WORDS, max_size=2))
)
SPOKEN = st.lists(
    st.tuples(st.just("reasoning"), WORDS) | st.tuples(st.just("message"), WORDS), min_size=1, max_size=5
)


@given(
    attempts=st.lists(SPOKEN, min_size=1, max_size=3),
    calls=st.lists(CALLS, max_size=2),
    pieces=st.integers(1, 3),
    data=st.data(),
)
def test_any_attempts_cut_anywhere_make_one_response_that_says_what_was_shown(
    attempts: list[list[Said]], calls: list[Said], pieces: int, data: st.DataObject
) -> None:
    one, body, shown = session(), b"", ""
    beats = st.sampled_from([None, None, False, True])
    if len(attempts) == 1 and attempts[0][-1][0] == "message":
        calls = []  # as Ollama writes it, a message with calls behind it is no well-formed response
    for number, said in enumerate(attempts):
        one.begin_attempt()
        last = number == len(attempts) - 1
        parts = stream([*said, *calls] if last else said, ident=f"resp_{number}", end=last, pieces=pieces)
        given = frames(parts)
        for frame in given if last else given[: data.draw(st.integers(0, len(given)))]:
            beat = data.draw(beats)
            body += b"" if beat is None else one.heartbeat(data=beat)
            events = one.read(frame)
            shown += "".join(event.text for event in events if isinstance(event, Text))
            if number:
                body += one.splice(frame, events)
            else:
                one.passed(frame, events)
                body += frame.raw
    check(body, gapless=False)
    said_at_last = said_by(body)
    assert "".join(text for kind, text in said_at_last if kind != "function_call") == shown
    assert [item for item in said_at_last if item[0] == "function_call"] == calls


@given(SPOKEN)
def test_what_is_passed_is_never_changed(said: list[Said]) -> None:
    parts = stream(said)
    assert first(session(), frames(parts)) == b"".join(parts)


def test_frames_held_back_are_read_first_and_passed_later() -> None:
    one = session()
    held = cut([("reasoning", "Hm"), ("message", "Blue")])
    one.begin_attempt()
    read = [(frame, one.read(frame)) for frame in held]
    assert one.heartbeat(data=True) == b": hb\n"
    for frame, events in read:
        one.passed(frame, events)
    body = b"".join(frame.raw for frame in held) + later(one, whole([("message", " sky")]))
    check(body)
    assert said_by(body) == [("reasoning", "Hm"), ("message", "Blue sky")]


def test_a_finish_alone_ends_the_response() -> None:
    body = later(
        session(), whole([("message", "b")]), lambda es: [e for e in es if isinstance(e, Text | Finish)]
    )
    check(body)


ODD = st.sampled_from(
    [
        None,
        True,
        3,
        -1,
        "",
        "x",
        "i",
        [],
        [1],
        {},
        {"type": "message", "id": "i"},
        {"type": "function_call", "id": "i"},
    ]
)
EVENTS = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.done",
    "response.web_search_call.searching",
    "response.failed",
    "response.completed",
]


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(EVENTS) | ODD},
            optional={
                "sequence_number": ODD,
                "output_index": ODD,
                "item_id": st.just("i") | ODD,
                "item": ODD,
                "part": ODD | st.just({"type": "output_text"}),
                "delta": ODD,
                "text": ODD,
                "arguments": ODD,
                "response": ODD,
            },
        ),
        max_size=6,
    )
)
def test_nothing_that_an_upstream_may_write_raises(given: list[dict[str, Any]]) -> None:
    parts = frames(event({**payload, "type": str(payload["type"])}) for payload in given)
    one = session()
    first(one, parts)
    later(one, parts)
    one.ending("stop")
    other = session()
    for frame in parts:
        other.collect(frame, other.read(frame))
    assert json.loads(other.body())["output"]
