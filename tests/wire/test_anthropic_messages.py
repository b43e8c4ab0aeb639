"""Requests of /v1/messages: how they are read, and how the next attempt's body is made from them."""

import json
from copy import deepcopy
from typing import Any

import anthropic
import pytest

from ollama_guard.wire.anthropic_messages import AnthropicMessages
from ollama_guard.wire.dialect import Reissue, Request, Sampler
from ollama_guard.wire.frame import Framing
from tests.wire.judges import claude

DIALECT = AnthropicMessages()
USER = {"role": "user", "content": "Why is the sky blue?"}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "12 degrees"}]}


def body(**fields: Any) -> bytes:
    base = {"model": "demo:8b", "max_tokens": 100, "stream": True, "messages": [USER]}
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
    assert (DIALECT.path, DIALECT.framing, DIALECT.media_type) == (
        "/v1/messages",
        Framing.SSE,
        "text/event-stream",
    )


def test_a_request_is_read() -> None:
    read = request(tools=[{"name": "look"}], thinking={"type": "enabled", "budget_tokens": 2000})
    assert (read.model, read.stream, read.tools, read.format, read.thinking) == (
        "demo:8b",
        True,
        True,
        False,
        True,
    )
    assert read.prompt == "Why is the sky blue?"
    assert read.body == body(tools=[{"name": "look"}], thinking={"type": "enabled", "budget_tokens": 2000})


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"[]",
        b"{oops",
        body(model=""),
        body(model=3),
        body(messages=[]),
        body(messages="hi"),
        body(stream="yes"),
        body(_debug_render_only=True),
        json.dumps({"model": "demo:8b"}).encode(),
    ],
)
def test_what_is_no_generation_is_relayed(given: bytes) -> None:
    assert DIALECT.request(given) is None


@pytest.mark.parametrize(
    ("given", "stream"), [({}, True), ({"stream": False}, False), ({"stream": None}, False)]
)
def test_streaming_is_off_unless_asked_for(given: dict[str, Any], stream: bool) -> None:
    assert request(**given).stream is stream
    plain = DIALECT.request(json.dumps({"model": "m", "messages": [USER]}).encode())
    assert plain is not None
    assert not plain.stream


@pytest.mark.parametrize(
    ("fields", "thinking"),
    [
        ({}, None),
        ({"thinking": {"type": "enabled"}}, True),
        ({"thinking": {"type": "disabled"}}, False),
        ({"thinking": {"type": "adaptive"}}, None),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}, True),
        ({"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}}, False),
        ({"thinking": "yes", "output_config": 3}, None),
    ],
)
def test_thinking_is_read_as_ollama_reads_it(fields: dict[str, Any], thinking: bool | None) -> None:
    assert request(**fields).thinking is thinking


def test_the_prompt_is_what_the_users_said() -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "image", "source": {}}]},
        {"role": "assistant", "content": "not mine"},
        {"role": "user", "content": "two"},
    ]
    assert request(messages=messages).prompt == "one\ntwo"


@pytest.mark.parametrize(
    "plan", [Reissue(), Reissue(last=True), Reissue(sampler=Sampler(seed=3, repeat_penalty=1.2))]
)
def test_an_unchanged_request_keeps_its_bytes(plan: Reissue) -> None:
    given = b'{ "stream":true, "model":"demo:8b",  "messages":[{"role":"user","content":"\\u00e9"}] }'
    read = DIALECT.request(given)
    assert read is not None
    assert DIALECT.rebuild(read, plan) == given


def test_a_non_streaming_request_is_streamed_from_upstream() -> None:
    assert rebuilt(Reissue(), stream=False) == json.loads(body())


def test_fields_that_the_plan_does_not_name_survive() -> None:
    extra = {"system": "Be brief.", "tool_choice": {"type": "auto"}, "metadata": {"user_id": "u"}, "top_k": 5}
    result = rebuilt(Reissue(steer="Go on."), **extra)
    assert {name: result[name] for name in extra} == extra
    assert list(result)[:3] == ["model", "max_tokens", "stream"]


def test_a_steer_joins_the_last_user_message() -> None:
    assert rebuilt(Reissue(steer="Answer now."))["messages"] == [
        {"role": "user", "content": "Why is the sky blue?\n\nAnswer now."}
    ]
    blocks = [{"type": "text", "text": "Why?"}]
    assert rebuilt(Reissue(steer="Answer now."), messages=[{"role": "user", "content": blocks}])[
        "messages"
    ] == [{"role": "user", "content": [*blocks, {"type": "text", "text": "\n\nAnswer now."}]}]


def test_a_steer_after_a_partial_answer_is_a_message_of_its_own() -> None:
    assert rebuilt(Reissue(steer="Go on.", partial="The sky "))["messages"] == [
        USER,
        {"role": "assistant", "content": "The sky"},
        {"role": "user", "content": "Go on."},
    ]


def test_a_steer_comes_after_tool_results() -> None:
    results = {"role": "user", "content": [RESULT]}
    assert rebuilt(Reissue(steer="Go on."), messages=[USER, results])["messages"] == [
        USER,
        results,
        {"role": "user", "content": "Go on."},
    ]


def test_a_prefill_comes_last_without_a_steer() -> None:
    plan = Reissue(prefill=True, partial="The sky is\n", steer="unused")
    assert rebuilt(plan)["messages"] == [USER, {"role": "assistant", "content": "The sky is"}]


def test_a_prefill_of_the_clients_own_is_gone_on_with() -> None:
    plan = Reissue(prefill=True, partial=" blue")
    mine = {"role": "assistant", "content": "The sky is"}
    assert rebuilt(plan, messages=[USER, mine])["messages"] == [USER, {**mine, "content": "The sky is blue"}]


def test_a_partial_of_white_space_is_no_turn() -> None:
    assert rebuilt(Reissue(partial=" \n", prefill=True))["messages"] == [USER]


@pytest.mark.parametrize("thinking", [None, {"type": "enabled", "budget_tokens": 2000}, {"type": "adaptive"}])
def test_thinking_is_switched_off(thinking: Any) -> None:
    fields = {} if thinking is None else {"thinking": thinking}
    assert rebuilt(Reissue(no_think=True), **fields)["thinking"] == {"type": "disabled"}


def test_a_model_that_always_thinks_is_asked_for_the_lowest_effort() -> None:
    plain = rebuilt(Reissue(no_think=True), model="gpt-oss:20b")
    assert plain["output_config"] == {"effort": "low"}
    assert "thinking" not in plain
    asked = {"thinking": {"type": "enabled"}, "output_config": {"effort": "high", "format": None}}
    changed = rebuilt(Reissue(no_think=True), model="gpt-oss:20b", **asked)
    assert changed["output_config"] == {"effort": "low", "format": None}
    assert changed["thinking"] == {"type": "adaptive"}


def test_a_fallback_model_decides_how_thinking_is_switched_off() -> None:
    result = rebuilt(Reissue(no_think=True, model="gpt-oss:20b"))
    assert (result["model"], result["output_config"]) == ("gpt-oss:20b", {"effort": "low"})


def test_only_sampler_values_of_this_route_are_set() -> None:
    sampler = Sampler(temperature=0.9, top_p=0.8, repeat_penalty=1.2, frequency_penalty=0.3, seed=7)
    result = rebuilt(Reissue(sampler=sampler))
    assert set(result) - set(json.loads(body())) == {"temperature", "top_p"}
    assert (result["temperature"], result["top_p"]) == (0.9, 0.8)


@pytest.mark.parametrize(
    ("limit", "factor", "cap", "expected"),
    [
        (100, 4, 1_000_000, 400),
        (100, 16, 1000, 1000),
        (2000, 4, 1000, 2000),
        (100, 1, 10, 100),
        ("x", 4, 9, "x"),
    ],
)
def test_the_token_limit_is_raised_and_clamped(limit: Any, factor: int, cap: int, expected: Any) -> None:
    assert rebuilt(Reissue(token_factor=factor, token_cap=cap), max_tokens=limit)["max_tokens"] == expected


def test_a_failure_is_raised_by_the_sdk_with_its_kind() -> None:
    given = DIALECT.failure(502, "ollama_loop_guard_deadloop", "It looped.")
    assert json.loads(given) == {
        "type": "error",
        "error": {"type": "ollama_loop_guard_deadloop", "message": "It looped."},
    }
    with (
        claude(given, status=502, media_type="application/json") as client,
        pytest.raises(anthropic.APIStatusError, match="It looped"),
    ):
        client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}])
