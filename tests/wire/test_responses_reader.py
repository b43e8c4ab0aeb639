"""What the frames of /v1/responses say."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.events import Channel, Done, Event, Finish, Text, ToolDelta, UpstreamError, Usage
from ollama_guard.wire.responses_reader import ResponsesReader
from tests.wire.ollama_responses import payloads, stream

CALL = ("function_call", ("look", {"at": "sky"}))
JSON = st.sampled_from(
    [None, True, 3, -1, 0.5, "", "x", "\ud800", "{}", [], [1], {}, {"a": 1}, {"message": 3}]
)


def read(*given: dict[str, Any], limit: int | None = None) -> list[Event]:
    reader = ResponsesReader(limit)
    return [event for payload in given for event in reader.events(payload)]


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.output_item.{kind}", "output_index": 0, "item": {"id": "i", **fields}}


def completed(**response: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": response}


def test_ollamas_stream_is_read_in_order() -> None:
    said = [("reasoning", "Hm"), ("message", "Blue"), ("message", " sky"), CALL, CALL]
    assert read(*payloads(b"".join(stream(said)))) == [
        Text(Channel.REASONING, "Hm"),
        Text(Channel.CONTENT, "Blue"),
        Text(Channel.CONTENT, " sky"),
        ToolDelta(0, "look", ""),
        ToolDelta(0, None, '{"at": "sky"}', whole=True),
        ToolDelta(1, "look", ""),
        ToolDelta(1, None, '{"at": "sky"}', whole=True),
        Finish("tool_calls"),
        Usage(31, 9),
        Done(),
    ]


def test_a_call_in_pieces_is_whole_at_its_done_event() -> None:
    events = [e for e in read(*payloads(b"".join(stream([CALL], pieces=3)))) if isinstance(e, ToolDelta)]
    assert [event.whole for event in events] == [False, False, False, False, True]
    assert "".join(event.arguments for event in events) == '{"at": "sky"}'


def test_arguments_that_come_only_at_the_end_are_read_once() -> None:
    started = item("added", type="function_call", name="look", arguments="")
    done = {"type": "response.function_call_arguments.done", "item_id": "i", "arguments": "{}"}
    finished = item("done", type="function_call", name="look", arguments="{}")
    expected = [ToolDelta(0, "look", ""), ToolDelta(0, None, "{}", whole=True)]
    assert read(started, done, finished) == expected
    assert read(started, finished) == expected
    assert read(finished) == [ToolDelta(0, "look", "{}", whole=True)]


def test_a_custom_tool_is_a_call_that_is_whole_at_its_end() -> None:
    delta = {"type": "response.custom_tool_call_input.delta", "item_id": "i", "delta": "{}"}
    done = {"type": "response.custom_tool_call_input.done", "item_id": "i", "input": "{}*"}
    assert read(item("added", type="custom_tool_call", name="patch", input=""), delta, done) == [
        ToolDelta(0, "patch", ""),
        ToolDelta(0, None, "{}"),
        ToolDelta(0, None, "*", whole=True),
    ]


@pytest.mark.parametrize("kind", ["reasoning_text", "reasoning_summary_text"])
def test_both_forms_of_reasoning_are_read(kind: str) -> None:
    assert read({"type": f"response.{kind}.delta", "delta": "Hm"}) == [Text(Channel.REASONING, "Hm")]


@pytest.mark.parametrize(
    ("limit", "echo", "tokens", "reason"),
    [
        (None, None, 9, "stop"),
        (10, None, 9, "stop"),
        (9, None, 9, "length"),
        (None, 9, 9, "length"),
        (9, 36, 20, "stop"),
        (9, 36, 36, "length"),
    ],
)
def test_an_ending_by_length_shows_in_the_count_of_tokens(
    limit: int | None, echo: int | None, tokens: int, reason: str
) -> None:
    """Ollama says `completed` in both cases; the echo of a re-issued limit wins over the client's own."""
    told = completed(max_output_tokens=echo, usage={"input_tokens": 3, "output_tokens": tokens})
    assert read(told, limit=limit) == [Finish(reason), Usage(3, tokens), Done()]


@pytest.mark.parametrize(
    ("reason", "expected"), [("max_output_tokens", "length"), ("content_filter", "content_filter")]
)
def test_an_incomplete_response_says_why(reason: str, expected: str) -> None:
    told = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}}}
    assert read(told) == [Finish(expected), Done()]


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "no"}}}, "no"),
        ({"type": "response.failed", "response": {"error": None}}, ""),
        ({"type": "error", "code": "x", "message": "no", "param": None}, "no"),
        ({"type": "error", "error": {"message": "no"}}, "no"),
        ({"error": "no"}, "no"),
        ({"error": {"message": "no"}}, "no"),
    ],
)
def test_a_failure_is_read_in_every_form(payload: dict[str, Any], message: str) -> None:
    assert read(payload) == [UpstreamError(message)]


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "response.created", "response": {"error": None}},
        {"type": "keepalive", "sequence_number": 3},
        {"type": "response.output_text.delta", "delta": ""},
        {"type": "response.output_text.done", "text": "Blue"},
        {"type": "response.content_part.added", "part": {"type": "output_text", "text": ""}},
        {"type": "response.web_search_call.searching", "item_id": "w"},
        item("added", type="message"),
        {"type": "response.function_call_arguments.delta", "item_id": "unknown", "delta": "{}"},
        {},
    ],
)
def test_what_says_nothing_new_gives_no_event(payload: dict[str, Any]) -> None:
    assert read(payload) == []


TYPES = ["completed", "failed", "output_item.added", "output_item.done", "function_call_arguments.delta"]


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from([f"response.{name}" for name in TYPES]) | JSON},
            optional={
                "item_id": st.just("i") | JSON,
                "delta": JSON,
                "arguments": JSON,
                "message": JSON,
                "error": JSON,
                "item": JSON
                | st.fixed_dictionaries(
                    {"type": st.just("function_call")},
                    optional={"id": st.just("i") | JSON, "name": JSON, "arguments": JSON},
                ),
                "response": JSON
                | st.fixed_dictionaries(
                    {}, optional={"usage": JSON, "error": JSON, "max_output_tokens": JSON}
                ),
            },
        ),
        max_size=6,
    )
)
def test_nothing_of_nearly_the_right_shape_raises(given: list[dict[str, Any]]) -> None:
    read(*given)
