"""One message over several attempts of /v1/messages. The Anthropic SDK is the judge."""

import json
from collections.abc import Sequence
from typing import Any

import anthropic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.events import Channel, Event, Finish, Text, ToolDelta, Usage
from ollama_guard.wire.anthropic_messages import AnthropicMessages
from ollama_guard.wire.anthropic_stream import MessagesSession
from ollama_guard.wire.frame import Frame
from tests.wire.attempts import first, later, passed, spliced
from tests.wire.judges import claude, message
from tests.wire.ollama_messages import Said, check, event, frames, payloads, stream

BODY = b'{"model":"demo:8b","max_tokens":50,"stream":true,"messages":[{"role":"user","content":"Why?"}]}'
CALL = ("tool_use", ("look", {"at": "sky"}))


def session() -> MessagesSession:
    dialect = AnthropicMessages()
    request = dialect.request(BODY)
    assert request is not None
    return dialect.session(request)


def cut(said: Sequence[Said]) -> list[Frame]:
    return frames(stream(said, stop=None))


def whole(said: Sequence[Said], **kw: Any) -> list[Frame]:
    return frames(stream(said, ident="msg_two", **kw))


def said_by(body: bytes) -> list[tuple[str, Any]]:
    """Kind and content of each block that the SDK has at the end."""
    kinds: dict[str, Any] = {
        "thinking": lambda block: block.thinking,
        "text": lambda block: block.text,
        "tool_use": lambda block: (block.name, block.input),
    }
    return [(block.type, kinds[block.type](block)) for block in message(body).content]


def no_reasoning(events: Sequence[Event]) -> Sequence[Event] | None:
    reasoning = [event for event in events if isinstance(event, Text) and event.channel is Channel.REASONING]
    return None if reasoning else events


def no_call(events: Sequence[Event]) -> Sequence[Event] | None:
    return None if any(isinstance(event, ToolDelta) for event in events) else events


def test_text_goes_on_in_the_block_that_the_cut_attempt_left_open() -> None:
    one = session()
    body = first(one, cut([("thinking", "Hm"), ("text", "The sky ")]))
    body += later(one, whole([("text", "is blue")]))
    check(body)
    assert said_by(body) == [("thinking", "Hm"), ("text", "The sky is blue")]


def test_thinking_goes_on_in_its_open_block() -> None:
    one = session()
    body = first(one, cut([("thinking", "Hm, ")])) + later(one, whole([("thinking", "so"), ("text", "Blue")]))
    check(body)
    assert said_by(body) == [("thinking", "Hm, so"), ("text", "Blue")]


def test_an_open_block_is_closed_before_one_of_another_kind() -> None:
    one = session()
    body = first(one, cut([("thinking", "Hm")])) + later(
        one, whole([("text", "Blue"), CALL], stop="tool_use")
    )
    check(body)
    assert said_by(body) == [("thinking", "Hm"), ("text", "Blue"), CALL]


def test_the_message_keeps_its_first_identity() -> None:
    one = session()
    body = first(one, cut([("text", "a")])) + later(one, whole([("text", "b")], model="other:1b"))
    judged = message(body)
    assert (judged.id, judged.model) == ("msg_one", "demo:8b")


def test_a_fallback_models_name_does_not_leak_when_nothing_was_shown_before() -> None:
    body = later(session(), whole([("text", "b")], model="other:1b"))
    check(body)
    assert (message(body).id, message(body).model) == ("msg_two", "demo:8b")


def test_thinking_that_is_dropped_leaves_no_block_behind() -> None:
    one = session()
    body = first(one, cut([("text", "The sky ")]))
    body += later(one, whole([("thinking", "Hm"), ("text", "is blue")]), no_reasoning)
    check(body)
    assert said_by(body) == [("text", "The sky is blue")]


def test_a_call_that_is_dropped_leaves_no_block_behind() -> None:
    one = session()
    body = first(one, cut([("text", "I look: ")]))
    body += later(one, whole([("text", "now"), CALL, ("text", "Done")]), no_call)
    check(body)
    assert said_by(body) == [("text", "I look: now"), ("text", "Done")]


def test_text_trimmed_at_the_joint_wins_over_the_frame() -> None:
    one = session()
    body = first(one, cut([("text", "The sky is ")]))

    def trim(events: Sequence[Event]) -> Sequence[Event]:
        return [Text(e.channel, e.text.removeprefix("sky is ")) if isinstance(e, Text) else e for e in events]

    body += later(one, whole([("text", "sky is blue"), ("text", ".")]), trim)
    check(body)
    assert said_by(body) == [("text", "The sky is blue.")]


def test_text_trimmed_to_nothing_gives_no_bytes() -> None:
    one = session()
    first(one, cut([("text", "The sky is ")]))
    one.begin_attempt()
    shown = [spliced(one, frame, lambda _: ()) for frame in whole([("text", "sky is")])[:3]]
    assert shown == [b"", b"", b""]


def test_usage_given_by_the_engine_is_what_the_client_gets() -> None:
    one = session()
    body = first(one, cut([("text", "a")]))

    def summed(events: Sequence[Event]) -> Sequence[Event]:
        return [Usage(e.prompt + 31, e.completion + 400) if isinstance(e, Usage) else e for e in events]

    body += later(one, whole([("text", "b")], stop="max_tokens"), summed)
    judged = message(body)
    assert (judged.usage.input_tokens, judged.usage.output_tokens) == (62, 409)
    assert judged.stop_reason == "max_tokens"


def test_an_ending_that_is_kept_back_gives_no_bytes() -> None:
    one = session()
    body = first(one, cut([("text", "a")]))

    def no_ending(events: Sequence[Event]) -> Sequence[Event] | None:
        return None if any(isinstance(e, Finish) for e in events) else events

    body += later(one, whole([("text", "b")])[:-1], no_ending)
    body += later(one, whole([("text", "c")]))
    check(body)
    assert said_by(body) == [("text", "abc")]


def test_words_that_come_late_stay_in_their_block() -> None:
    """The engine's joint keeps words until it is sure that they restate nothing, at the latest to the end."""
    one = session()
    body = first(one, cut([("text", "The sky is blue")]))

    def late(events: Sequence[Event]) -> Sequence[Event]:
        if any(isinstance(event, Finish) for event in events):
            return [Text(Channel.CONTENT, " indeed."), *events]
        return [event for event in events if not isinstance(event, Text)]

    body += later(one, whole([("text", "blue indeed.")]), late)
    check(body)
    assert said_by(body) == [("text", "The sky is blue indeed.")]


def test_blocks_that_the_upstream_keeps_apart_stay_apart() -> None:
    parts = stream([("text", "One"), CALL, ("text", "Two")])
    apart = [part for part in parts if b"tool_use" not in part and b"input_json" not in part]
    stop = [at for at, part in enumerate(apart) if b"content_block_stop" in part]
    del apart[stop[1]]
    apart = [part.replace(b'"index": 2', b'"index": 1') for part in apart]
    one = session()
    body = first(one, cut([("text", "Zero, ")])) + later(one, frames(apart))
    check(body)
    assert said_by(body) == [("text", "Zero, One"), ("text", "Two")]


def test_the_id_of_a_call_that_comes_again_is_changed() -> None:
    one = session()
    body = first(one, frames(stream([CALL], stop=None))) + later(one, frames(stream([CALL], stop="tool_use")))
    check(body)
    assert len({block.id for block in message(body).content}) == 2


def test_a_call_that_was_shown_is_still_to_be_run_at_the_end() -> None:
    one = session()
    body = first(one, frames(stream([CALL, ("text", "and ")], stop=None))) + later(
        one, whole([("text", "more")])
    )
    check(body)
    assert message(body).stop_reason == "tool_use"


def test_a_call_in_pieces_is_spliced_at_the_clients_index() -> None:
    one = session()
    body = first(one, cut([("thinking", "Hm"), ("text", "I look")]))
    block = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    pieces = [{"type": "input_json_delta", "partial_json": text} for text in ("", '{"at":', '"sky"}')]
    deltas = [event({"type": "content_block_delta", "index": 0, "delta": piece}) for piece in pieces]
    parts = stream([], stop="tool_use")
    start, stop = (
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop"},
    )
    parts[1:1] = [event(start), *deltas, event({**stop, "index": 0})]
    body += later(one, frames(parts))
    check(body)
    assert said_by(body) == [("thinking", "Hm"), ("text", "I look"), CALL]


def test_a_signature_is_shown_only_over_the_words_it_signs() -> None:
    def signed(words: str) -> list[Frame]:
        parts = stream([("thinking", words), ("text", "Blue")])
        signature = {"type": "signature_delta", "signature": "c2ln"}
        parts.insert(3, event({"type": "content_block_delta", "index": 0, "delta": signature}))
        return frames(parts)

    alone = later(session(), signed("Hm"))
    assert message(alone).content[0].signature == "c2ln"
    one = session()
    joined = first(one, cut([("thinking", "Hm, ")])) + later(one, signed("so"))
    check(joined)
    assert b"c2ln" not in joined


def test_blocks_of_the_servers_own_tools_keep_their_content() -> None:
    one = session()
    body = first(one, cut([("text", "I search")]))
    result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    parts = stream([("text", "Found")])
    parts[1:1] = [
        event({"type": "content_block_start", "index": 0, "content_block": result}),
        event({"type": "content_block_stop", "index": 0}),
    ]
    parts = [part.replace(b'"index": 0, "delta"', b'"index": 1, "delta"') for part in parts]
    body += later(one, frames(parts))
    check(body)
    assert [block.type for block in message(body).content] == ["text", "web_search_tool_result", "text"]


def test_an_upstreams_own_pings_and_comments_stay() -> None:
    one = session()
    body = first(one, cut([("text", "a")]))
    assert later(one, frames([b": hello\n\n", event({"type": "ping"})])) == b": hello\n\n" + event(
        {"type": "ping"}
    )
    body += later(one, whole([("text", "b")]))
    check(body)


def test_text_of_our_own_opens_a_message_when_there_is_none() -> None:
    one = session()
    body = one.text(Text(Channel.CONTENT, "Note")) + one.ending("stop")
    check(body)
    assert said_by(body) == [("text", "Note")]
    assert message(body).id.startswith("msg_")


def test_our_own_identity_depends_on_the_request_alone() -> None:
    assert session().ending("stop") == session().ending("stop")


def test_a_later_attempt_goes_on_from_a_message_of_our_own() -> None:
    one = session()
    body = one.text(Text(Channel.REASONING, "Hm")) + later(one, whole([("thinking", "so"), ("text", "Blue")]))
    check(body)
    assert said_by(body) == [("thinking", "Hmso"), ("text", "Blue")]


@pytest.mark.parametrize(
    ("reason", "stop_reason"), [("stop", "end_turn"), ("length", "max_tokens"), ("tool_calls", "tool_use")]
)
def test_an_ending_of_ours_closes_what_is_open(reason: str, stop_reason: str) -> None:
    one = session()
    body = first(one, cut([("thinking", "Hm"), ("text", "Blue"), ("text", " sky")])) + one.ending(reason)
    check(body)
    judged = message(body)
    assert judged.stop_reason == stop_reason
    assert (judged.usage.input_tokens, judged.usage.output_tokens) == (7, 3)


def test_an_ending_after_the_upstreams_own_finish_adds_only_what_is_missing() -> None:
    one = session()
    body = first(one, frames(stream([("text", "Blue")])[:-1])) + one.ending("stop")
    check(body)
    complete = session()
    first(complete, frames(stream([("text", "Blue")])))
    assert complete.ending("stop") == b""


@pytest.mark.parametrize("shown", [[], [("thinking", "Hm")], [("text", "Blue")]])
def test_an_error_is_raised_by_the_sdk_with_its_kind_and_message(shown: list[Said]) -> None:
    one = session()
    body = (first(one, cut(shown)) if shown else b"") + one.error("ollama_loop_guard_deadloop", "It looped.")
    with pytest.raises(anthropic.APIStatusError, match="It looped") as raised:
        message(body)
    assert isinstance(raised.value.body, dict)
    assert raised.value.body["error"]["type"] == "ollama_loop_guard_deadloop"


def test_a_plain_heartbeat_is_a_ping() -> None:
    one = session()
    first(one, cut([("text", "a")]))
    assert (
        payloads(session().heartbeat(data=True)) == payloads(one.heartbeat(data=False)) == [{"type": "ping"}]
    )


@pytest.mark.parametrize("kind", ["thinking", "text"])
def test_a_data_heartbeat_is_an_empty_delta_that_the_sdk_yields(kind: str) -> None:
    one = session()
    body = first(one, cut([(kind, "a")]))
    beat = one.heartbeat(data=True)
    assert payloads(beat)[0]["delta"] == {"type": f"{kind}_delta", kind: ""}
    body += beat + one.ending("stop")
    check(body)
    with claude(body) as client:
        raw = client.messages.create(
            model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}], stream=True
        )
        assert sum(item.type == "content_block_delta" for item in raw) == 2


def test_a_data_heartbeat_inside_a_call_adds_nothing_to_its_arguments() -> None:
    one = session()
    parts = frames(stream([CALL], stop="tool_use"))
    one.begin_attempt()
    body = b"".join(passed(one, frame) + one.heartbeat(data=True) for frame in parts[:-2])
    body += b"".join(passed(one, frame) for frame in parts[-2:])
    check(body)
    assert said_by(body) == [CALL]


def test_a_fragment_changes_nothing_and_is_never_spliced() -> None:
    one = session()
    body = first(one, cut([("text", "a")]))
    fragment = Frame(b'event: content_block_delta\ndata: {"type":', whole=False)
    assert one.read(fragment) == ()
    one.passed(fragment, ())
    assert one.splice(fragment, ()) == b""
    check(body + one.ending("stop"))


def test_a_frame_that_is_not_json_is_read_as_nothing() -> None:
    one = session()
    junk = Frame(b"data: {oops\n\n", b"{oops")
    assert one.read(junk) == ()
    assert one.splice(junk, ()) == junk.raw


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
CALLS = st.tuples(st.just("tool_use"), st.tuples(st.just("look"), st.dictionaries(WORDS, WORDS, max_size=2)))
SAID = st.lists(
    st.tuples(st.just("thinking"), WORDS) | st.tuples(st.just("text"), WORDS) | CALLS, min_size=1, max_size=6
)


@given(attempts=st.lists(SAID, min_size=1, max_size=3), data=st.data())
def test_any_attempts_cut_anywhere_make_one_message_that_says_what_was_shown(
    attempts: list[list[Said]], data: st.DataObject
) -> None:
    one, body, shown = session(), b"", ""
    beats = st.sampled_from([None, None, False, True])
    for number, said in enumerate(attempts):
        one.begin_attempt()
        last = number == len(attempts) - 1
        given = frames(stream(said, ident=f"msg_{number}", stop="end_turn" if last else None))
        for frame in given if last else given[: data.draw(st.integers(0, len(given)))]:
            beat = data.draw(beats)
            body += b"" if beat is None else one.heartbeat(data=beat)
            events = one.read(frame)
            if any(isinstance(event, ToolDelta) for event in events) and not last:
                break  # the engine holds a call back until it is whole
            shown += "".join(event.text for event in events if isinstance(event, Text))
            if number:
                body += one.splice(frame, events)
            else:
                one.passed(frame, events)
                body += frame.raw
    check(body)
    judged = message(body)
    assert "".join(str(getattr(b, b.type, "")) for b in judged.content) == shown
    calls = [what[1][1] for what in attempts[-1] if what[0] == "tool_use"]
    assert [b.input for b in judged.content if b.type == "tool_use"] == calls


@given(SAID)
def test_what_is_passed_is_never_changed(said: list[Said]) -> None:
    parts = stream(said)
    assert first(session(), frames(parts)) == b"".join(parts)


def test_frames_held_back_are_read_first_and_passed_later() -> None:
    one = session()
    held = cut([("thinking", "Hm"), ("text", "Blue")])
    one.begin_attempt()
    read = [(frame, one.read(frame)) for frame in held]
    assert payloads(one.heartbeat(data=True)) == [{"type": "ping"}]
    for frame, events in read:
        one.passed(frame, events)
    assert json.loads(frames([one.heartbeat(data=True)])[0].data)["index"] == 1


ODD = st.sampled_from(
    [None, True, 3, -1, "", "x", [], [1], {}, {"type": "text"}, {"type": "tool_use", "id": 3}]
)
EVENTS = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
]


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(EVENTS) | ODD},
            optional={
                "index": ODD,
                "message": ODD,
                "content_block": ODD,
                "delta": ODD,
                "usage": ODD,
                "error": ODD,
            },
        ),
        max_size=5,
    ),
    st.booleans(),
)
def test_nothing_that_an_upstream_may_write_raises(given: list[dict[str, Any]], streaming: bool) -> None:
    parts = frames(event({**payload, "type": str(payload["type"])}) for payload in given)
    one = session()
    first(one, parts)
    later(one, parts)
    one.ending("stop")
    request = AnthropicMessages().request(BODY.replace(b'"stream":true', b'"stream":false'))
    assert request is not None
    other = AnthropicMessages().session(request)
    for frame in parts:
        other.collect(frame, other.read(frame))
    assert json.loads(other.body())
