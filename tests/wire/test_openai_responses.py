"""Requests of /v1/responses: how they are read, and how the next attempt's body is made from them."""

import json
from copy import deepcopy
from typing import Any

import openai
import pytest

from ollama_guard.wire.dialect import Reissue, Request, Sampler
from ollama_guard.wire.frame import Framing
from ollama_guard.wire.openai_responses import OpenAIResponses
from tests.wire.judges import gpt

DIALECT = OpenAIResponses()
USER = {"role": "user", "content": "Why is the sky blue?"}
STEER = {"role": "user", "content": "Go on."}


def body(**fields: Any) -> bytes:
    base = {"model": "demo:8b", "stream": True, "input": "Why is the sky blue?"}
    return json.dumps({**base, **fields}).encode()


def request(**fields: Any) -> Request:
    read = DIALECT.request(body(**fields))
    assert read is not None
    return read


def rebuilt(plan: Reissue, **fields: Any) -> dict[str, Any]:
    """The re-issued fields, with the original checked to be untouched."""
    given = request(**fields)
    before = deepcopy(dict(given.fields))
    result: dict[str, Any] = json.loads(DIALECT.rebuild(given, plan))
    assert dict(given.fields) == before
    return result


def test_the_dialect_names_its_route_and_framing() -> None:
    assert (DIALECT.path, DIALECT.framing, DIALECT.media_type, DIALECT.single_type) == (
        "/v1/responses",
        Framing.SSE,
        "text/event-stream",
        "application/json",
    )


def test_a_request_is_read() -> None:
    read = request(tools=[{"type": "function", "name": "look"}], reasoning={"effort": "high"})
    assert (read.model, read.stream, read.tools, read.format, read.thinking) == (
        "demo:8b",
        True,
        True,
        False,
        True,
    )
    assert read.prompt == "Why is the sky blue?"


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"[]",
        b"{oops",
        body(model=""),
        body(input=""),
        body(input=[]),
        body(input=3),
        body(stream="yes"),
        body(previous_response_id="resp_1"),
        body(conversation="conv_1"),
        body(_debug_render_only=True),
        json.dumps({"model": "demo:8b"}).encode(),
    ],
)
def test_what_is_no_generation_of_ollamas_is_relayed(given: bytes) -> None:
    assert DIALECT.request(given) is None


def test_null_for_what_ollama_has_not_is_as_good_as_nothing() -> None:
    assert request(previous_response_id=None, conversation=None).model == "demo:8b"


@pytest.mark.parametrize(("given", "stream"), [(True, True), (False, False), (None, False)])
def test_streaming_is_off_unless_asked_for(given: Any, stream: bool) -> None:
    assert request(stream=given).stream is stream


@pytest.mark.parametrize(
    ("kind", "asked"), [("json_schema", True), ("json_object", True), ("text", False), (3, False)]
)
def test_an_answer_in_json_by_request_is_noticed(kind: Any, asked: bool) -> None:
    assert request(text={"format": {"type": kind}}).format is asked


@pytest.mark.parametrize(
    ("reasoning", "thinking"),
    [({"effort": "none"}, False), ({"effort": "low"}, True), ({"summary": "auto"}, None), (None, None)],
)
def test_thinking_is_read_from_the_effort(reasoning: Any, thinking: bool | None) -> None:
    assert request(reasoning=reasoning).thinking is thinking


def test_the_prompt_is_what_the_users_said() -> None:
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "not mine"}]},
        {"type": "function_call_output", "call_id": "c", "output": "nor this"},
        {"role": "user", "content": "two"},
    ]
    assert request(input=items).prompt == "one\ntwo"


@pytest.mark.parametrize("plan", [Reissue(), Reissue(last=True), Reissue(sampler=Sampler(seed=3))])
def test_an_unchanged_request_keeps_its_bytes(plan: Reissue) -> None:
    given = b'{ "stream":true, "model":"demo:8b",  "input":"\\u00e9" }'
    read = DIALECT.request(given)
    assert read is not None
    assert DIALECT.rebuild(read, plan) == given


def test_a_non_streaming_request_is_streamed_from_upstream() -> None:
    assert rebuilt(Reissue(), stream=False) == json.loads(body())


def test_fields_that_the_plan_does_not_name_survive() -> None:
    extra = {"instructions": "Be brief.", "tool_choice": "auto", "store": False, "include": ["x"]}
    result = rebuilt(Reissue(steer="Go on."), **extra)
    assert {name: result[name] for name in extra} == extra
    assert list(result)[:3] == ["model", "stream", "input"]


def test_an_input_of_text_becomes_a_list_when_turns_are_added() -> None:
    assert rebuilt(Reissue(steer="Go on."))["input"] == [USER, STEER]
    assert rebuilt(Reissue(no_think=True))["input"] == "Why is the sky blue?"


def test_a_partial_answer_comes_before_the_steer() -> None:
    plan = Reissue(steer="Go on.", partial="The sky ")
    assert rebuilt(plan)["input"] == [USER, {"role": "assistant", "content": "The sky "}, STEER]


def test_a_prefill_comes_last_without_a_steer() -> None:
    plan = Reissue(prefill=True, partial="The sky ", steer="unused")
    assert rebuilt(plan)["input"] == [USER, {"role": "assistant", "content": "The sky "}]


def test_a_steer_comes_after_the_results_of_tools() -> None:
    items = [USER, {"type": "function_call_output", "call_id": "c", "output": "12"}]
    assert rebuilt(Reissue(steer="Go on."), input=items)["input"] == [*items, STEER]


def test_thinking_is_switched_off_and_the_rest_of_its_settings_kept() -> None:
    given = {"effort": "high", "summary": "auto"}
    assert rebuilt(Reissue(no_think=True), reasoning=given)["reasoning"] == {
        "effort": "none",
        "summary": "auto",
    }
    assert rebuilt(Reissue(no_think=True))["reasoning"] == {"effort": "none"}


def test_a_model_that_always_thinks_is_asked_for_a_low_effort() -> None:
    assert rebuilt(Reissue(no_think=True), model="gpt-oss:20b")["reasoning"] == {"effort": "low"}
    assert rebuilt(Reissue(no_think=True, model="gpt-oss:20b"))["reasoning"] == {"effort": "low"}


def test_only_sampler_values_of_this_route_are_set() -> None:
    sampler = Sampler(temperature=0.9, top_p=0.8, repeat_penalty=1.2, frequency_penalty=0.3, seed=7)
    result = rebuilt(Reissue(sampler=sampler))
    assert set(result) - set(json.loads(body())) == {"temperature", "top_p"}


@pytest.mark.parametrize(("limit", "expected"), [(100, 400), (400_000, 1_000_000), (None, None)])
def test_the_token_limit_is_raised_and_clamped(limit: Any, expected: Any) -> None:
    assert rebuilt(Reissue(token_factor=4), max_output_tokens=limit)["max_output_tokens"] == expected


def test_no_token_limit_is_made_up() -> None:
    assert "max_output_tokens" not in rebuilt(Reissue(token_factor=4))


def test_a_failure_is_raised_by_the_sdk_with_its_kind() -> None:
    given = DIALECT.failure(502, "ollama_loop_guard_deadloop", "It looped.")
    with (
        gpt(given, status=502, media_type="application/json") as client,
        pytest.raises(openai.APIStatusError, match="It looped") as raised,
    ):
        client.responses.create(model="m", input="x")
    assert raised.value.type == "ollama_loop_guard_deadloop"
