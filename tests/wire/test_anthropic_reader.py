"""What the frames of /v1/messages say."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.events import Channel, Done, Event, Finish, Text, ToolDelta, UpstreamError, Usage
from ollama_guard.wire.anthropic_reader import MessagesReader
from tests.wire.ollama_messages import payloads, stream

JSON = st.sampled_from(
    [None, True, 3, -1, 0.5, "", "x", "\ud800", "{}", [], [1], {}, {"a": 1}, {"message": 3}]
)
TYPES = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "error",
]


def read(*given: dict[str, Any]) -> list[Event]:
    reader = MessagesReader()
    return [event for payload in given for event in reader.events(payload)]


def block(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": fields}


def delta(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": fields}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def test_ollamas_stream_is_read_in_order() -> None:
    said = [("thinking", "Hm"), ("text", "Blue"), ("text", " sky"), ("tool_use", ("look", {"at": "sky"}))]
    assert read(*payloads(b"".join(stream(said, stop="tool_use")))) == [
        Text(Channel.REASONING, "Hm"),
        Text(Channel.CONTENT, "Blue"),
        Text(Channel.CONTENT, " sky"),
        ToolDelta(2, "look", ""),
        ToolDelta(2, None, '{"at": "sky"}', whole=True),
        Finish("tool_calls"),
        Usage(31, 9),
        Done(),
    ]


def test_a_call_in_pieces_is_whole_at_the_end_of_its_block() -> None:
    start = block(1, type="tool_use", id="t", name="look", input={})
    pieces = [delta(1, type="input_json_delta", partial_json=text) for text in ("", '{"at"', ':"sky"}')]
    assert read(start, *pieces, stop(1)) == [
        ToolDelta(1, "look", ""),
        ToolDelta(1, None, '{"at"'),
        ToolDelta(1, None, ':"sky"}'),
        ToolDelta(1, None, "", whole=True),
    ]


def test_a_call_without_arguments_is_whole_at_the_end_of_its_block() -> None:
    start = block(0, type="tool_use", id="t", name="now", input={})
    assert read(start, stop(0)) == [ToolDelta(0, "now", ""), ToolDelta(0, None, "", whole=True)]


def test_a_call_that_is_whole_in_its_start_is_read_at_once() -> None:
    start = block(0, type="tool_use", id="t", name="now", input={"zone": "UTC"})
    assert read(start, stop(0)) == [ToolDelta(0, "now", '{"zone":"UTC"}', whole=True)]


def test_a_number_is_no_complete_call() -> None:
    start = block(0, type="tool_use", id="t", name="now", input={})
    assert read(start, delta(0, type="input_json_delta", partial_json="1"))[-1] == ToolDelta(0, None, "1")


def test_a_tool_that_the_server_runs_is_no_call_of_the_client() -> None:
    server = block(0, type="server_tool_use", id="s", name="web_search", input={})
    assert read(server, delta(0, type="input_json_delta", partial_json="{}"), stop(0)) == []


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "ping"},
        delta(0, type="signature_delta", signature="c2ln"),
        delta(0, type="citations_delta", citation={"url": "https://example.org"}),
        delta(0, type="text_delta", text=""),
        {"type": "something_new"},
        {},
    ],
)
def test_what_says_nothing_gives_no_event(payload: dict[str, Any]) -> None:
    assert read(payload) == []


def test_words_in_a_blocks_start_count() -> None:
    assert read(block(0, type="text", text="Blue"), block(1, type="thinking", thinking="Hm")) == [
        Text(Channel.CONTENT, "Blue"),
        Text(Channel.REASONING, "Hm"),
    ]


@pytest.mark.parametrize(
    ("stop_reason", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "refusal"),
    ],
)
def test_the_stop_reason_is_normalised(stop_reason: str, reason: str) -> None:
    assert read({"type": "message_delta", "delta": {"stop_reason": stop_reason}}) == [Finish(reason)]


def test_usage_takes_the_prompt_from_the_start_when_the_end_has_none() -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 7}}}
    assert read(start, {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 3}}) == [Usage(7, 3)]


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, "busy"),
        ({"error": "out of memory"}, "out of memory"),
        ({"error": {"message": "bad"}}, "bad"),
    ],
)
def test_an_error_is_read_in_every_form(payload: dict[str, Any], message: str) -> None:
    assert read(payload) == [UpstreamError(message)]


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(TYPES) | JSON},
            optional={
                "index": st.integers(0, 1) | JSON,
                "error": JSON,
                "message": JSON,
                "delta": JSON
                | st.fixed_dictionaries(
                    {"type": st.sampled_from(["input_json_delta", "text_delta", "thinking_delta"])},
                    optional={"partial_json": JSON, "text": JSON, "thinking": JSON, "stop_reason": JSON},
                ),
                "content_block": JSON
                | st.fixed_dictionaries(
                    {"type": st.sampled_from(["tool_use", "text", "thinking"])},
                    optional={"name": JSON, "input": JSON, "text": JSON},
                ),
                "usage": JSON | st.fixed_dictionaries({"output_tokens": JSON, "input_tokens": JSON}),
            },
        ),
        max_size=6,
    )
)
def test_nothing_of_nearly_the_right_shape_raises(given: list[dict[str, Any]]) -> None:
    assert all(event.text for event in read(*given) if isinstance(event, Text))
