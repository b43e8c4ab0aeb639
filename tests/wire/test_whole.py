"""The one body of a client that did not ask for a stream, field by field as Ollama would have sent it."""

import json
from collections.abc import Sequence
from typing import Any

import ollama
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.events import Channel, Done, Event, Finish, Text, ToolDelta, Usage
from ollama_guard.wire.dialect import Dialect, Session
from ollama_guard.wire.frame import Frame
from ollama_guard.wire.ollama_chat import OllamaChat
from ollama_guard.wire.ollama_generate import OllamaGenerate
from ollama_guard.wire.openai_chat import OpenAIChat
from ollama_guard.wire.openai_completions import OpenAICompletions
from ollama_guard.wire.table import DIALECTS
from tests.wire.judges import gpt
from tests.wire.ollama_writes import ALL, SAY, STOP, THINK, WRITERS, frames, generations, go, request, sse
from tests.wire.test_ollama_stream import client

CHAT, PLAIN, NATIVE, GENERATE = OpenAIChat(), OpenAICompletions(), OllamaChat(), OllamaGenerate()
LOOK = ToolDelta(0, "look", '{"at":"sky"}', whole=True)


def session(dialect: Dialect) -> Session:
    return dialect.session(request(dialect, stream=False), at=1790000000.0)


def collect(talk: Session, found: Sequence[Frame]) -> None:
    talk.begin_attempt()
    for frame in found:
        talk.collect(frame, talk.read(frame))


def body(dialect: Dialect, *events: Event) -> Any:
    talk = session(dialect)
    collect(talk, frames(dialect, WRITERS[dialect.name](events)))
    return json.loads(talk.body())


def test_a_chat_completion() -> None:
    assert body(CHAT, Text(THINK, "h"), Text(THINK, "m"), Text(SAY, "Blue"), Text(SAY, " sky"), *STOP) == {
        "id": "chatcmpl-417",
        "object": "chat.completion",
        "created": 1790000000,
        "model": "demo:8b",
        "system_fingerprint": "fp_ollama",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Blue sky", "reasoning": "hm"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 31, "completion_tokens": 54, "total_tokens": 85},
    }


def test_a_chat_completion_with_a_tool_call() -> None:
    (choice,) = body(CHAT, LOOK, Finish("tool_calls"), Done())["choices"]
    function = {"name": "look", "arguments": '{"at":"sky"}'}
    call = {"id": "call_0", "index": 0, "type": "function", "function": function}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    assert choice == {"index": 0, "message": message, "finish_reason": "tool_calls"}


def test_a_call_written_in_pieces_is_joined() -> None:
    pieces = (ToolDelta(0, "look", ""), ToolDelta(0, None, '{"at":'), ToolDelta(0, None, '"sky"}'))
    (choice,) = body(CHAT, *pieces, Finish("tool_calls"), Done())["choices"]
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at":"sky"}'}


def test_pieces_whose_arguments_are_no_text_do_not_raise() -> None:
    talk = session(CHAT)
    calls = [{"index": 0, "function": {"arguments": value}} for value in ({"a": 1}, 3, None, '"x"')]
    stream = b"".join(sse({"model": "m", "choices": [{"delta": {"tool_calls": [call]}}]}) for call in calls)
    collect(talk, frames(CHAT, stream))
    (call,) = json.loads(talk.body())["choices"][0]["message"]["tool_calls"]
    assert call["function"]["arguments"] == '{"a":1}"x"'


def test_several_choices_logprobs_and_unknown_fields_are_kept() -> None:
    talk = session(CHAT)
    chunks = [
        {"index": n, "delta": {"content": text}, "logprobs": {"content": [{"token": text}]}}
        for text in "ab"
        for n in (1, 0)
    ]
    stream = b"".join(sse({"id": "z", "model": "m", "choices": [choice], "timings": 5}) for choice in chunks)
    collect(talk, frames(CHAT, stream))
    value = json.loads(talk.body())
    assert [choice["index"] for choice in value["choices"]] == [0, 1]
    assert [choice["message"]["content"] for choice in value["choices"]] == ["ab", "ab"]
    assert value["choices"][0]["logprobs"] == {"content": [{"token": "a"}, {"token": "b"}]}
    assert value["choices"][0]["finish_reason"] is None
    assert value["timings"] == 5


def test_a_text_completion() -> None:
    assert body(PLAIN, Text(SAY, "Blue"), Text(SAY, " sky"), *STOP) == {
        "id": "cmpl-88",
        "object": "text_completion",
        "created": 1790000000,
        "model": "demo:8b",
        "system_fingerprint": "fp_ollama",
        "choices": [{"text": "Blue sky", "index": 0, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 31, "completion_tokens": 54, "total_tokens": 85},
    }


def test_a_native_chat() -> None:
    assert body(NATIVE, Text(THINK, "hm"), Text(SAY, "Blue"), Text(SAY, " sky"), LOOK, *STOP) == {
        "model": "demo:8b",
        "created_at": "2026-08-22T10:00:06.12Z",
        "message": {
            "role": "assistant",
            "content": "Blue sky",
            "thinking": "hm",
            "tool_calls": [
                {"id": "call_0", "function": {"index": 0, "name": "look", "arguments": {"at": "sky"}}}
            ],
        },
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 31,
        "eval_count": 54,
        "total_duration": 910000000,
    }


def test_a_native_generation() -> None:
    assert body(GENERATE, Text(THINK, "hm"), Text(SAY, "Blue"), Text(SAY, " sky"), *STOP) == {
        "model": "demo:8b",
        "created_at": "2026-08-22T10:00:05.12Z",
        "response": "Blue sky",
        "thinking": "hm",
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 31,
        "eval_count": 54,
        "total_duration": 910000000,
    }


def test_what_the_last_line_says_and_its_logprobs_are_kept() -> None:
    talk = session(GENERATE)
    lines = [
        {"model": "m", "created_at": "t", "response": "Blue", "done": False, "logprobs": [1]},
        {"model": "m", "created_at": "u", "response": "!", "done": True, "context": [9], "logprobs": [2]},
    ]
    collect(talk, frames(GENERATE, b"".join(go(line) + b"\n" for line in lines)))
    last = {
        "model": "m",
        "created_at": "u",
        "response": "Blue!",
        "done": True,
        "context": [9],
        "logprobs": [1, 2],
    }
    assert json.loads(talk.body()) == last


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)
def test_attempts_are_joined_into_one_answer(dialect: Dialect) -> None:
    talk = session(dialect)
    write = WRITERS[dialect.name]
    collect(talk, frames(dialect, write([Text(SAY, "Blue")])))
    talk.begin_attempt()
    for frame in frames(dialect, write([Text(SAY, "Blue sky"), *STOP], model="fallback:1b")):
        events = [Text(SAY, " sky") if isinstance(event, Text) else event for event in talk.read(frame)]
        events = [Usage(31, 99) if isinstance(event, Usage) else event for event in events]
        talk.collect(frame, events)
    value = json.loads(talk.body())
    assert value["model"] == "demo:8b"
    assert said(dialect, value)[1:] == ("Blue sky", "stop", 99)


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)
def test_an_ending_of_ours_is_an_ending(dialect: Dialect) -> None:
    talk = session(dialect)
    collect(talk, frames(dialect, WRITERS[dialect.name]([Text(SAY, "Blue")])))
    talk.text(Text(SAY, "!"))
    talk.ending("stop")
    assert said(dialect, json.loads(talk.body()))[1:] == ("Blue!", "stop", 1)


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)
def test_nothing_at_all_is_still_a_body(dialect: Dialect) -> None:
    value = json.loads(session(dialect).body())
    assert said(dialect, value)[:3] == ("", "", None)
    assert value["model"] == "demo:8b"


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)
@given(data=st.data())
def test_a_body_says_what_the_stream_said(dialect: Dialect, data: st.DataObject) -> None:
    plain = dialect.name == "openai-completions"
    events = data.draw(generations(thinks=not plain, calls=not plain))
    text = {
        channel: "".join(e.text for e in events if isinstance(e, Text) and e.channel is channel)
        for channel in Channel
    }
    (finish,) = [event for event in events if isinstance(event, Finish)]
    (usage,) = [event for event in events if isinstance(event, Usage)]
    assert said(dialect, body(dialect, *events)) == (text[THINK], text[SAY], finish.reason, usage.completion)


def said(dialect: Dialect, value: Any) -> tuple[str, str, str | None, int | None]:
    """Thought, answer, ending and cost, as the official client reads the body."""
    data = json.dumps(value).encode()
    if dialect.name == "openai-chat":
        with gpt(data, media_type=dialect.single_type) as asked:
            chat = asked.chat.completions.create(model="m", messages=[])
        assert isinstance(chat, openai.types.chat.ChatCompletion)
        message = chat.choices[0].message
        thought = getattr(message, "reasoning", "")
        return (
            thought,
            message.content or "",
            chat.choices[0].finish_reason,
            chat.usage.completion_tokens if chat.usage else None,
        )
    if dialect.name == "openai-completions":
        with gpt(data, media_type=dialect.single_type) as asked:
            text = asked.completions.create(model="m", prompt="x")
        return (
            "",
            text.choices[0].text,
            text.choices[0].finish_reason,
            text.usage.completion_tokens if text.usage else None,
        )
    with client(data) as asked:
        answer = asked.chat("m") if dialect.name == "ollama-chat" else asked.generate("m", "x")
    if isinstance(answer, ollama.ChatResponse):
        thought, content = answer.message.thinking, answer.message.content
    else:
        thought, content = answer.thinking, answer.response
    return thought or "", content or "", answer.done_reason, answer.eval_count


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_text_of_our_own_is_in_the_body(dialect: Dialect) -> None:
    """The engine's own words come without a frame: a note, or what ends a streak of tool calls."""
    asked = {"messages": [{"role": "user", "content": "Why?"}], "prompt": "Why?", "input": "Why?"}
    body = {"model": "demo:8b", "max_tokens": 100, "stream": False, **asked}
    made = dialect.request(json.dumps(body).encode())
    assert made is not None
    talk = dialect.session(made, at=1790000000.0)
    talk.begin_attempt()
    talk.collect(Frame(b""), [Text(Channel.CONTENT, "Ended here.")])
    talk.ending("stop")
    assert b"Ended here." in talk.body()
