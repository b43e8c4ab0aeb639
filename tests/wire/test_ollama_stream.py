"""One answer over several attempts of Ollama's own routes. Ollama's own Python client is the judge."""

from collections.abc import Sequence
from typing import Any

import httpx
import ollama
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.events import Channel, Done, Event, Finish, Text, ToolDelta, Usage
from ollama_guard.wire.frame import Frame
from ollama_guard.wire.ollama_chat import OllamaChat
from ollama_guard.wire.ollama_generate import OllamaGenerate
from ollama_guard.wire.ollama_stream import OllamaSession
from tests.wire.attempts import first, later
from tests.wire.ollama_writes import SAY, STOP, THINK, frames, generate, go, native, payloads, request

CHAT = OllamaChat()
GENERATE = OllamaGenerate()
LOOK = ToolDelta(0, "look", '{"at":"sky"}', whole=True)
LISTEN = ToolDelta(0, "listen", "{}", whole=True)


def session(at: float = 0.0) -> OllamaSession:
    made = CHAT.session(request(CHAT), at=at)
    assert isinstance(made, OllamaSession)
    return made


def attempt(*events: Event, **how: Any) -> list[Frame]:
    return frames(CHAT, native(events, **how))


def second(*events: Event) -> list[Frame]:
    return attempt(*events, model="fallback:1b", second=7)


def client(stream: bytes) -> ollama.Client:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=stream))
    return ollama.Client(host="http://guard", transport=transport)


def chunks(stream: bytes) -> list[ollama.ChatResponse]:
    with client(stream) as asked:
        return list(asked.chat("m", messages=[], stream=True))


def said(stream: bytes) -> tuple[str, str, list[Any], str | None]:
    """Thought, answer, calls and ending, as Ollama's client reads them."""
    found = chunks(stream)
    assert [chunk.done for chunk in found] == [False] * (len(found) - 1) + [True]
    calls = [
        (call.function.name, call.function.arguments) for c in found for call in c.message.tool_calls or ()
    ]
    thought = "".join(chunk.message.thinking or "" for chunk in found)
    return thought, "".join(chunk.message.content or "" for chunk in found), calls, found[-1].done_reason


def test_a_later_attempt_goes_on_under_the_first_ones_name() -> None:
    talk = session()
    stream = first(talk, attempt(Text(THINK, "hm"), Text(SAY, "Blue")))
    stream += later(talk, second(Text(SAY, " sky"), *STOP))
    assert said(stream) == ("hm", "Blue sky", [], "stop")
    lines = payloads(stream)
    assert {line["model"] for line in lines} == {"demo:8b"}
    assert lines[-1]["created_at"].startswith("2026-08-22T10:07")
    assert (lines[-1]["prompt_eval_count"], lines[-1]["eval_count"]) == (31, 54)


def test_a_fallbacks_name_does_not_show_when_nothing_was_shown_before() -> None:
    talk = session()
    talk.begin_attempt()
    cloud = {
        "model": "fallback:cloud",
        "remote_model": "x",
        "remote_host": "y",
        "created_at": "t",
        "done": False,
    }
    stream = later(
        talk, frames(CHAT, go({**cloud, "message": {"role": "assistant", "content": "a"}}) + b"\n")
    )
    assert payloads(stream) == [
        {
            "model": "demo:8b",
            "created_at": "t",
            "done": False,
            "message": {"role": "assistant", "content": "a"},
        }
    ]


def test_a_last_line_that_says_something_can_lose_its_ending_and_keep_its_text() -> None:
    talk = session()
    first(talk, attempt(Text(SAY, "Blue")))
    talk.begin_attempt()
    message = {"role": "assistant", "content": " sky", "thinking": "hm"}
    ending = {
        "done": True,
        "done_reason": "length",
        "prompt_eval_count": 1,
        "eval_count": 2,
        "total_duration": 3,
    }
    (frame,) = frames(CHAT, go({"model": "m", "created_at": "t", "message": message, **ending}) + b"\n")
    events = talk.read(frame)
    assert talk.splice(frame, []) == b""
    (line,) = payloads(talk.splice(frame, [event for event in events if isinstance(event, Text)]))
    assert line == {"model": "demo:8b", "created_at": "t", "message": message, "done": False}
    (line,) = payloads(talk.splice(frame, [Finish("stop"), Usage(5, 6), Done()]))
    assert line["message"] == {"role": "assistant", "content": ""}
    assert (line["done_reason"], line["prompt_eval_count"], line["eval_count"]) == ("stop", 5, 6)
    assert line["total_duration"] == 3


def test_text_trimmed_at_the_joint_takes_its_logprobs_with_it() -> None:
    talk = session()
    talk.begin_attempt()
    line = {
        "model": "m",
        "message": {"role": "assistant", "content": "Blue sky"},
        "done": False,
        "logprobs": [1],
        "x": 2,
    }
    (frame,) = frames(CHAT, go(line) + b"\n")
    assert payloads(talk.splice(frame, talk.read(frame)))[0]["logprobs"] == [1]
    (cut,) = payloads(talk.splice(frame, [Text(SAY, " sky")]))
    assert "logprobs" not in cut
    assert (cut["message"]["content"], cut["x"]) == (" sky", 2)


def test_frames_that_say_nothing_new_vanish() -> None:
    talk = session()
    first(talk, attempt(Text(SAY, "Blue")))
    talk.begin_attempt()
    for data in (
        b"\n",
        b"nonsense\n",
        b'{"model":"m","message":{"role":"assistant","content":""},"done":false}\n',
    ):
        (frame,) = frames(CHAT, data)
        assert talk.splice(frame, talk.read(frame)) == b""


def test_tool_calls_of_a_later_attempt_get_indexes_beyond_those_used() -> None:
    talk = session()
    stream = first(talk, attempt(Text(SAY, "Let me see."), LOOK))
    stream += later(talk, second(LISTEN, *STOP))
    assert said(stream)[2] == [("look", {"at": "sky"}), ("listen", {})]
    calls = [line["message"]["tool_calls"][0] for line in payloads(stream) if "tool_calls" in line["message"]]
    assert [call["function"]["index"] for call in calls] == [0, 1]


def test_calls_with_the_same_index_or_none_are_told_apart() -> None:
    talk = session()
    talk.begin_attempt()
    bare = {"function": {"name": "f", "arguments": {}}}
    line = {
        "model": "m",
        "message": {"role": "assistant", "content": "", "tool_calls": [bare]},
        "done": False,
    }
    found = frames(CHAT, (go(line) + b"\n") * 2)
    assert [event.index for frame in found for event in talk.read(frame) if isinstance(event, ToolDelta)] == [
        0,
        1,
    ]
    talk.begin_attempt()
    kept = payloads(talk.splice(found[0], talk.read(found[0])))[0]["message"]["tool_calls"]
    assert kept == [bare]
    assert talk.splice(found[1], []) == b""


def test_a_changed_call_is_written_as_it_was_changed() -> None:
    talk = session()
    talk.begin_attempt()
    (frame,) = attempt(LOOK)
    (line,) = payloads(talk.splice(frame, [ToolDelta(0, "look", '{"at":"sea"}', whole=True)]))
    assert line["message"]["tool_calls"][0]["function"] == {
        "index": 0,
        "name": "look",
        "arguments": {"at": "sea"},
    }


@pytest.mark.parametrize("data", [True, False])
def test_a_heartbeat_is_a_full_line(data: bool) -> None:
    talk = session(at=1790000000.5)
    expected = {"model": "demo:8b", "message": {"role": "assistant", "content": ""}, "done": False}
    beat = talk.heartbeat(data=data)
    assert payloads(beat) == [{**expected, "created_at": "2026-09-21T14:13:20.500000Z"}]
    assert beat.endswith(b"}\n")
    stream = beat + first(talk, attempt(Text(SAY, "Blue")))
    assert payloads(talk.heartbeat(data=data)) == [{**expected, "created_at": "2026-08-22T10:00:00.12Z"}]
    stream += (
        talk.heartbeat(data=data)
        + talk.text(Text(SAY, " sky"))
        + talk.text(Text(THINK, "hm"))
        + talk.ending("stop")
    )
    assert said(stream) == ("hm", "Blue sky", [], "stop")


def test_an_error_is_the_last_line_and_names_the_kind() -> None:
    talk = session()
    stream = first(talk, attempt(Text(SAY, "Blue"))) + talk.error("ollama_loop_guard_deadloop", "It repeats.")
    with pytest.raises(ollama.ResponseError, match=r"It repeats\. \(ollama_loop_guard_deadloop\)"):
        chunks(stream)
    assert payloads(stream)[-1]["type"] == "ollama_loop_guard_deadloop"
    assert talk.error("x", "again") == talk.ending("stop") == talk.heartbeat(data=True) == b""


def test_an_error_does_not_name_the_kind_twice() -> None:
    assert payloads(session().error("kind", "a kind of error"))[0]["error"] == "a kind of error"


def test_there_is_one_ending() -> None:
    talk = session()
    first(talk, attempt(*STOP))
    assert talk.ending("stop") == talk.error("x", "y") == b""
    talk = session()
    first(talk, frames(CHAT, b'{"error":"boom"}\n'))
    assert talk.ending("stop") == b""
    talk = session()
    later(talk, frames(CHAT, b'{"error":"boom"}\n'))
    assert talk.ending("stop") == b""


def test_an_ending_can_have_the_usage() -> None:
    (line,) = payloads(session().ending("length", Usage(3, 4)))
    assert (line["done"], line["done_reason"], line["prompt_eval_count"], line["eval_count"]) == (
        True,
        "length",
        3,
        4,
    )


def test_an_ending_of_ours_counts_the_lines_of_all_attempts() -> None:
    talk = session()
    first(talk, attempt(Text(THINK, "hm"), Text(SAY, "Blue"), Text(SAY, " sky")))
    later(talk, second(Text(SAY, "!")))
    (line,) = payloads(talk.ending("stop"))
    assert line["eval_count"] == 4
    assert line["prompt_eval_count"] > 0


def test_an_ending_after_a_call_is_a_stop() -> None:
    talk = session()
    stream = first(talk, attempt(LOOK)) + talk.ending("tool_calls")
    assert said(stream)[2:] == ([("look", {"at": "sky"})], "stop")


def test_generate_goes_on_too() -> None:
    talk = GENERATE.session(request(GENERATE))
    stream = first(talk, frames(GENERATE, generate([Text(THINK, "hm"), Text(SAY, "Blue")])))
    stream += talk.heartbeat(data=True) + talk.text(Text(SAY, " sky")) + talk.text(Text(THINK, "?"))
    stream += later(talk, frames(GENERATE, generate([Text(SAY, "!"), *STOP], model="fallback:1b")))
    with client(stream) as asked:
        found = list(asked.generate("m", "x", stream=True))
    assert "".join(chunk.response for chunk in found) == "Blue sky!"
    assert "".join(chunk.thinking or "" for chunk in found) == "hm?"
    assert {chunk.model for chunk in found} == {"demo:8b"}
    assert [chunk.done for chunk in found] == [False] * (len(found) - 1) + [True]
    assert found[-1].done_reason == "stop"
    other = GENERATE.session(request(GENERATE))
    assert payloads(other.ending("stop"))[0].keys() == {
        "model",
        "created_at",
        "response",
        "done",
        "done_reason",
        "prompt_eval_count",
        "eval_count",
    }


def test_a_generate_error_is_raised() -> None:
    stream = GENERATE.session(request(GENERATE)).error("kind", "boom")
    with client(stream) as asked, pytest.raises(ollama.ResponseError, match="boom"):
        list(asked.generate("m", "x", stream=True))


answers = st.lists(st.builds(Text, st.sampled_from(Channel), st.text(min_size=1, max_size=6)), max_size=5)


@given(st.lists(answers, min_size=1, max_size=4), st.data())
def test_any_sequence_of_attempts_is_one_answer(
    attempts: Sequence[Sequence[Text]], data: st.DataObject
) -> None:
    talk = session(at=1.0)
    stream = b""
    for number, texts in enumerate(attempts):
        events = [*texts, *STOP] if number == len(attempts) - 1 else texts
        stream += first(talk, attempt(*events)) if number == 0 else later(talk, second(*events))
        if number < len(attempts) - 1 and data.draw(st.booleans()):
            stream += talk.heartbeat(data=data.draw(st.booleans()))
    expected = {
        channel: "".join(t.text for texts in attempts for t in texts if t.channel is channel)
        for channel in Channel
    }
    if "\x85" not in stream.decode():  # Go writes it raw, and Ollama's own client is torn by it
        assert said(stream) == (expected[THINK], expected[SAY], [], "stop")
    assert {line["model"] for line in payloads(stream)} == {"demo:8b"}


def test_what_we_write_does_not_tear_ollamas_client() -> None:
    talk = session()
    stream = (
        later(talk, attempt(Text(SAY, "a\u0085b\u2028c")))
        + talk.text(Text(SAY, "\u0085"))
        + talk.ending("stop")
    )
    assert said(stream)[1] == "a\u0085b\u2028c\u0085"
