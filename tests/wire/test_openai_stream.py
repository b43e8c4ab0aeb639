"""One answer over several attempts of OpenAI's chat and completions. The OpenAI SDK is the judge."""

import json
from collections.abc import Sequence
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.events import Channel, Done, Event, Finish, Text, ToolDelta, Usage
from ollama_guard.wire.frame import Frame
from ollama_guard.wire.openai_chat import OpenAIChat
from ollama_guard.wire.openai_completions import OpenAICompletions
from ollama_guard.wire.openai_stream import OpenAISession
from tests.wire.attempts import first, later, passed, spliced
from tests.wire.judges import gpt
from tests.wire.ollama_writes import SAY, STOP, THINK, chat, completions, frames, payloads, request, sse

CHAT = OpenAIChat()
PLAIN = OpenAICompletions()
LOOK = ToolDelta(0, "look", '{"at":"sky"}', whole=True)
LISTEN = ToolDelta(0, "listen", "{}", whole=True)


def session(at: float = 0.0, **fields: Any) -> OpenAISession:
    made = CHAT.session(request(CHAT, **fields), at=at)
    assert isinstance(made, OpenAISession)
    return made


def attempt(*events: Event, **head: Any) -> list[Frame]:
    return frames(CHAT, chat(events, **head))


def second(*events: Event) -> list[Frame]:
    return attempt(*events, ident="chatcmpl-9", created=1790000099, model="fallback:1b")


def said(stream: bytes) -> Any:
    """What the SDK accumulates."""
    with gpt(stream) as client, client.chat.completions.stream(model="m", messages=[]) as events:
        return events.get_final_completion()


def one_answer(stream: bytes) -> list[Any]:
    """The chunks, after a check of what must hold for any answer of one generation."""
    chunks = payloads(stream)
    assert len({(c["id"], c["created"], c["model"], c["system_fingerprint"]) for c in chunks}) == 1
    deltas = [choice for chunk in chunks for choice in chunk["choices"]]
    assert sum("role" in choice["delta"] for choice in deltas) == 1
    assert "role" in deltas[0]["delta"]
    assert sum(choice["finish_reason"] is not None for choice in deltas) == 1
    assert stream.count(b"data: [DONE]\n\n") == 1
    assert stream.endswith(b"data: [DONE]\n\n")
    return chunks


def test_a_later_attempt_goes_on_under_the_first_ones_identity() -> None:
    talk = session()
    stream = first(talk, attempt(Text(THINK, "hm"), Text(SAY, "Blue")))
    stream += later(talk, second(Text(SAY, " sky"), *STOP))
    chunks = one_answer(stream)
    assert chunks[0]["id"] == "chatcmpl-417"
    assert chunks[-1]["usage"] == {"prompt_tokens": 31, "completion_tokens": 54, "total_tokens": 85}
    final = said(stream)
    assert final.choices[0].message.content == "Blue sky"
    assert final.choices[0].message.reasoning == "hm"
    assert final.choices[0].finish_reason == "stop"


def test_when_nothing_was_shown_the_later_attempt_keeps_its_own_identity_but_for_a_fallbacks_name() -> None:
    talk = session()
    talk.begin_attempt()
    for frame in attempt(Text(THINK, "hm")):
        talk.read(frame)
    chunks = one_answer(later(talk, second(Text(SAY, "Blue"), *STOP)))
    assert (chunks[0]["id"], chunks[0]["created"], chunks[0]["model"]) == (
        "chatcmpl-9",
        1790000099,
        "demo:8b",
    )


def test_text_trimmed_at_the_joint_takes_its_logprobs_with_it() -> None:
    talk = session()
    first(talk, attempt(Text(SAY, "Blue")))
    talk.begin_attempt()
    choice = {"index": 0, "delta": {"content": "Blue sky"}, "logprobs": {"content": [{"token": "x"}]}, "x": 1}
    (frame,) = frames(CHAT, sse({"id": "z", "model": "m", "choices": [choice], "unknown": 7}))
    (kept,) = payloads(talk.splice(frame, talk.read(frame)))
    assert kept["choices"][0]["logprobs"] == {"content": [{"token": "x"}]}
    (cut,) = payloads(talk.splice(frame, [Text(SAY, " sky")]))
    assert cut["choices"][0] == {"index": 0, "delta": {"content": " sky"}, "finish_reason": None, "x": 1}
    assert cut["unknown"] == 7


def test_frames_that_say_nothing_new_vanish() -> None:
    talk = session()
    first(talk, attempt(Text(SAY, "Blue")))
    talk.begin_attempt()
    for data in (
        b": hb\n",
        b"\n",
        b'data: {"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}\n\n',
        b'data: {"model":"m","choices":[{"index":0,"delta":{"content":""},"finish_reason":null}]}\n\n',
        b'data: {"id":"z","model":"m","choices":[]}\n\n',
        b"data: nonsense\n\n",
    ):
        (frame,) = frames(CHAT, data)
        assert talk.splice(frame, talk.read(frame)) == b""


def test_what_was_taken_out_of_a_frame_is_not_written() -> None:
    talk = session()
    first(talk, attempt(Text(SAY, "Blue")))
    talk.begin_attempt()
    last = {"content": "x", "reasoning": "y"}
    choice = {"index": 0, "delta": last, "finish_reason": "stop"}
    (frame,) = frames(
        CHAT, sse({"id": "z", "model": "m", "choices": [choice], "usage": {"prompt_tokens": 3}})
    )
    assert talk.splice(frame, []) == b""
    (only_end,) = payloads(talk.splice(frame, [Finish("length"), Usage(5, 6)]))
    assert only_end["choices"] == [{"index": 0, "delta": {"content": ""}, "finish_reason": "length"}]
    assert only_end["usage"] == {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11}


def test_tool_calls_of_a_later_attempt_get_indexes_beyond_those_used() -> None:
    talk = session()
    stream = first(talk, attempt(Text(SAY, "Let me see."), LOOK))
    stream += later(talk, second(LISTEN, Finish("tool_calls"), Done()))
    one_answer(stream)
    calls = said(stream).choices[0].message.tool_calls
    assert [(call.function.name, call.function.arguments) for call in calls] == [
        ("look", '{"at":"sky"}'),
        ("listen", "{}"),
    ]


def test_indexes_have_no_gap_where_a_call_was_taken_out() -> None:
    talk = session()
    first(talk, attempt(Text(SAY, "Blue")))
    blocked = later(talk, second(LOOK), lambda _: None)
    shown = later(talk, second(ToolDelta(0, "a", "{}", whole=True), ToolDelta(1, "b", "{}", whole=True)))
    assert blocked == b""
    assert [c["choices"][0]["delta"]["tool_calls"][0]["index"] for c in payloads(shown)] == [0, 1]


def test_one_of_two_calls_in_a_frame_can_be_taken_out() -> None:
    talk = session()
    first(talk, attempt(Text(SAY, "Blue")))
    talk.begin_attempt()
    calls = [{"id": n, "index": 0, "function": {"name": n, "arguments": "{}"}} for n in ("a", "b")]
    (frame,) = frames(
        CHAT, sse({"id": "z", "model": "m", "choices": [{"index": 0, "delta": {"tool_calls": calls}}]})
    )
    events = talk.read(frame)
    (chunk,) = payloads(talk.splice(frame, events[1:]))
    assert chunk["choices"][0]["delta"]["tool_calls"] == [
        {"id": "b", "index": 0, "function": {"name": "b", "arguments": "{}"}}
    ]


def test_a_call_written_in_pieces_keeps_one_index() -> None:
    talk = session()
    stream = first(talk, attempt(LOOK))
    pieces = (ToolDelta(0, "listen", '{"to":'), ToolDelta(0, None, '"sea"}'))
    stream += later(talk, second(*pieces, Finish("tool_calls"), Done()))
    calls = said(stream).choices[0].message.tool_calls
    assert [call.function.arguments for call in calls] == ['{"at":"sky"}', '{"to":"sea"}']


def test_a_stop_after_a_call_that_was_given_is_a_tool_calls() -> None:
    talk = session()
    stream = first(talk, attempt(LOOK))
    stream += later(talk, second(Text(SAY, "there"), *STOP))
    assert said(stream).choices[0].finish_reason == "tool_calls"
    talk = session()
    first(talk, attempt(LOOK))
    assert payloads(talk.ending("stop"))[0]["choices"][0]["finish_reason"] == "tool_calls"


def test_heartbeats_errors_and_text_of_ours_are_read_by_the_sdk() -> None:
    talk = session()
    stream = talk.heartbeat(data=False)
    stream += first(talk, attempt(Text(SAY, "Blue")))
    stream += talk.heartbeat(data=True) + talk.heartbeat(data=False) + talk.text(Text(SAY, " sky"))
    stream += talk.text(Text(THINK, "hm")) + talk.ending("stop")
    one_answer(stream)
    final = said(stream)
    assert (final.choices[0].message.content, final.choices[0].message.reasoning) == ("Blue sky", "hm")
    assert final.choices[0].finish_reason == "stop"


def test_the_transport_heartbeat_is_a_comment_without_a_blank_line() -> None:
    assert session().heartbeat(data=False) == b": hb\n"


def test_a_data_heartbeat_before_anything_is_known_gives_an_identity_that_stays() -> None:
    talk = session(at=1790000000.9)
    beat = talk.heartbeat(data=True)
    (chunk,) = payloads(beat)
    assert chunk["id"].startswith("chatcmpl-")
    assert (chunk["created"], chunk["model"], chunk["object"]) == (
        1790000000,
        "demo:8b",
        "chat.completion.chunk",
    )
    assert chunk["choices"] == [{"index": 0, "delta": {"content": ""}, "finish_reason": None}]
    rest = later(talk, second(Text(SAY, "Blue"), *STOP))
    assert {c["id"] for c in payloads(beat + rest)} == {chunk["id"]}
    assert "role" in payloads(rest)[0]["choices"][0]["delta"]
    assert session().heartbeat(data=True) == session().heartbeat(data=True)


def test_a_first_attempt_that_passes_after_a_heartbeat_sets_the_identity() -> None:
    talk = session()
    talk.heartbeat(data=True)
    first(talk, attempt(Text(SAY, "Blue")))
    assert {c["id"] for c in payloads(talk.heartbeat(data=True) + later(talk, second(*STOP)))} == {
        "chatcmpl-417"
    }


def test_a_heartbeat_while_the_first_frame_is_held_has_that_frames_identity() -> None:
    talk = session()
    talk.begin_attempt()
    (frame,) = attempt(Text(SAY, "Blue"))
    events = talk.read(frame)
    beat = talk.heartbeat(data=True)
    talk.passed(frame, events)
    assert {c["id"] for c in payloads(beat + frame.raw)} == {"chatcmpl-417"}


def test_an_error_is_an_object_with_our_kind_and_then_the_terminator() -> None:
    talk = session()
    stream = first(talk, attempt(Text(SAY, "Blue"))) + talk.error("ollama_loop_guard_deadloop", "It repeats.")
    with gpt(stream) as client, pytest.raises(openai.APIError, match="It repeats") as caught:
        said_until_error(client)
    assert caught.value.type == "ollama_loop_guard_deadloop"
    assert stream.endswith(b"data: [DONE]\n\n")
    assert talk.error("x", "again") == b""


def said_until_error(client: openai.OpenAI) -> None:
    for _ in client.chat.completions.create(model="m", messages=[], stream=True):
        pass


def test_there_is_one_ending() -> None:
    talk = session()
    first(talk, attempt(Text(SAY, "Blue"), *STOP))
    assert talk.ending("stop") == talk.error("x", "y") == talk.heartbeat(data=True) == b""
    talk = session()
    first(talk, attempt(Text(SAY, "Blue"), Finish("stop")))
    assert talk.ending("stop") == b"data: [DONE]\n\n"


def test_an_ending_of_nothing_is_an_answer_of_its_own() -> None:
    stream = session().ending("stop")
    one_answer(stream)
    assert said(stream).choices[0].message.content in ("", None)


def test_an_ending_has_the_usage_that_was_asked_for() -> None:
    assert len(payloads(session().ending("stop", Usage(1, 2)))) == 1
    talk = session(stream_options={"include_usage": True})
    assert payloads(talk.ending("stop", Usage(1, 2)))[1]["usage"]["total_tokens"] == 3


def test_an_ending_of_ours_counts_the_chunks_of_all_attempts() -> None:
    talk = session(stream_options={"include_usage": True})
    first(talk, attempt(Text(THINK, "hm"), Text(SAY, "Blue")))
    later(talk, second(Text(SAY, " sky")))
    usage = payloads(talk.ending("stop"))[-1]["usage"]
    assert (usage["completion_tokens"], usage["total_tokens"]) == (3, usage["prompt_tokens"] + 3)


def test_usage_that_was_told_is_not_told_again() -> None:
    talk = session(stream_options={"include_usage": True})
    first(talk, attempt(Text(SAY, "Blue"), Finish("stop"), Usage(31, 54)))
    assert talk.ending("stop") == b"data: [DONE]\n\n"


def test_every_choice_ends_and_has_its_own_role() -> None:
    talk = session(n=2)
    talk.begin_attempt()
    choices = [{"index": n, "delta": {"role": "assistant", "content": str(n)}} for n in (0, 1)]
    (frame,) = frames(CHAT, sse({"id": "z", "model": "m", "choices": choices}))
    passed(talk, frame)
    assert [c["choices"][0]["index"] for c in payloads(talk.ending("stop"))] == [0, 1]
    talk = session(n=2)
    talk.begin_attempt()
    (only,) = frames(CHAT, sse({"id": "z", "model": "m", "choices": choices[:1]}))
    passed(talk, only)
    (chunk,) = payloads(spliced(talk, frame))
    assert [choice["delta"] for choice in chunk["choices"]] == [
        {"content": "0"},
        {"role": "assistant", "content": "1"},
    ]


def test_reasoning_goes_on_under_the_name_the_server_uses() -> None:
    talk = session()
    talk.begin_attempt()
    (frame,) = frames(
        CHAT, sse({"id": "z", "model": "m", "choices": [{"index": 0, "delta": {"reasoning_content": "a"}}]})
    )
    passed(talk, frame)
    assert payloads(talk.text(Text(THINK, "b")))[0]["choices"][0]["delta"] == {
        "content": "",
        "reasoning_content": "b",
    }
    (chunk,) = payloads(talk.splice(frame, [Text(THINK, "c")]))
    assert chunk["choices"][0]["delta"] == {"reasoning_content": "c"}


@pytest.mark.parametrize("end", [None, "stop"])
def test_completions_go_on_too(end: str | None) -> None:
    made = PLAIN.session(request(PLAIN))
    stream = first(made, frames(PLAIN, completions([Text(THINK, "hidden"), Text(SAY, "Blue")])))
    stream += made.heartbeat(data=True) + made.text(Text(SAY, " sky")) + made.text(Text(THINK, "no"))
    if end:
        stream += made.ending(end)
    else:
        stream += later(made, frames(PLAIN, completions([Text(SAY, "!"), *STOP], ident="cmpl-9", created=5)))
    chunks = payloads(stream)
    assert len({(c["id"], c["model"]) for c in chunks}) == 1
    with gpt(stream) as client:
        texts = [
            c.choices[0].text
            for c in client.completions.create(model="m", prompt="x", stream=True)
            if c.choices
        ]
    assert "".join(texts) == ("Blue sky" if end else "Blue sky!")
    assert sum(choice["finish_reason"] is not None for c in chunks for choice in c["choices"]) == 1
    assert stream.count(b"[DONE]") == 1


answers = st.lists(st.builds(Text, st.sampled_from(Channel), st.text(min_size=1, max_size=6)), max_size=5)


@given(st.lists(answers, min_size=1, max_size=4), st.data())
def test_any_sequence_of_attempts_is_one_answer(
    attempts: Sequence[Sequence[Text]], data: st.DataObject
) -> None:
    talk = session(at=1.0)
    stream = b""
    for number, texts in enumerate(attempts):
        events = [*texts, *STOP] if number == len(attempts) - 1 else texts
        found = attempt(*events) if number == 0 else second(*events)
        stream += first(talk, found) if number == 0 else later(talk, found)
        if number < len(attempts) - 1 and data.draw(st.booleans()):
            stream += talk.heartbeat(data=number > 0 or bool(texts))
    if not attempts[0]:
        assert json.dumps(payloads(stream))  # its identity is a later attempt's, or ours
    chunks = payloads(stream)
    assert len({(c["id"], c["created"], c["model"]) for c in chunks}) == 1
    expected = {
        channel: "".join(t.text for texts in attempts for t in texts if t.channel is channel)
        for channel in Channel
    }
    message = said(stream).choices[0].message
    assert (message.content or "") == expected[SAY]
    assert (getattr(message, "reasoning", None) or "") == expected[THINK]
