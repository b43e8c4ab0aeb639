"""A stream with anything in the place of anything: nothing raises, whatever is done with it."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.events import Text, ToolDelta
from ollama_guard.wire.dialect import Dialect
from tests.wire.ollama_writes import ALL, SAY, frames, go, request, sse

CALL = {
    "id": "c",
    "index": 0,
    "type": "function",
    "function": {"index": 0, "name": "f", "arguments": '{"a":1}'},
}
BOX = {
    "role": "assistant",
    "content": "a",
    "reasoning": "b",
    "thinking": "c",
    "text": "d",
    "tool_calls": [CALL],
}
CHOICE = {"index": 0, "delta": BOX, "finish_reason": "stop", "logprobs": {"content": [1]}, **BOX}
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
CHUNK = {"id": "z", "created": 1, "model": "m", "choices": [CHOICE], "usage": USAGE, "message": BOX, **BOX}
CHUNK |= {
    "response": "r",
    "created_at": "t",
    "done": True,
    "done_reason": "stop",
    "eval_count": 3,
    "logprobs": [1],
}

ODD: list[Any] = [None, True, 0, -1, 1.5, "", "x", [], [None], [3], {}, {"x": 1}, [[]], [{}]]
odd = st.sampled_from(ODD)


@st.composite
def chunks(draw: st.DrawFn) -> Any:
    """A chunk of every field there is, with some of them replaced or taken away."""
    chunk = json.loads(json.dumps(CHUNK))
    for _ in range(draw(st.integers(0, 4))):
        place = chunk
        while True:
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            if not (isinstance(place[key], dict | list) and place[key] and draw(st.integers(0, 3))):
                break
            place = place[key]
        if isinstance(place, dict) and draw(st.booleans()):
            del place[key]
            if not chunk:
                break
        else:
            place[key] = copy.deepcopy(draw(odd))
    return chunk


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)
@given(found=st.lists(chunks(), min_size=1, max_size=3))
def test_nothing_raises_and_what_is_written_can_be_read(dialect: Dialect, found: list[Any]) -> None:
    native = dialect.path.startswith("/api/")
    stream = b"".join(go(chunk) + b"\n" if native else sse(chunk) for chunk in found)
    taken = frames(dialect, stream)
    for stream_asked in (True, False):
        talk = dialect.session(request(dialect, stream=stream_asked), at=1.0)
        for number in range(3):
            talk.begin_attempt()
            for frame in taken:
                events = talk.read(frame)
                if not stream_asked:
                    talk.collect(frame, events if number else [])
                elif number == 0:
                    talk.passed(frame, events)
                else:
                    changed = [e for e in events if not isinstance(e, Text)] + [Text(SAY, "new")]
                    out = talk.splice(frame, changed if number == 1 else [])
                    assert b"".join(f.raw for f in frames(dialect, out)) == out
                    assert all(json.loads(f.data) for f in frames(dialect, out) if f.data.startswith(b"{"))
        talk.heartbeat(data=True)
        talk.text(Text(SAY, "x"))
        talk.ending("stop")
        if not stream_asked:
            json.loads(talk.body())


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)
def test_calls_that_are_none_are_no_calls(dialect: Dialect) -> None:
    odd_calls: tuple[Any, ...] = (None, 3, "x", [], [None], [3], [{}], [{"function": 3}])
    for calls in odd_calls:
        box = {"role": "assistant", "content": "", "tool_calls": calls}
        line = {"model": "m", "message": box, "done": False, "choices": [{"index": 0, "delta": box}], **box}
        (frame,) = frames(dialect, go(line) + b"\n" if dialect.path.startswith("/api/") else sse(line))
        talk = dialect.session(request(dialect))
        talk.begin_attempt()
        whole = [event for event in talk.read(frame) if isinstance(event, ToolDelta) and event.whole]
        assert whole == []
