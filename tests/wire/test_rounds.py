"""Tool calls of a chat's history, and refused calls written into it."""

import json
from typing import Any

import pytest

from ollama_guard.history import Call, Result, Round, Said
from ollama_guard.wire.dialect import Dialect, Refused, Reissue
from ollama_guard.wire.ollama_chat import OllamaChat
from ollama_guard.wire.ollama_generate import OllamaGenerate
from ollama_guard.wire.openai_chat import OpenAIChat
from ollama_guard.wire.openai_completions import OpenAICompletions
from ollama_guard.wire.rounds import rounds

ASK = {"role": "user", "content": "Why?"}


def call(name: str, arguments: Any, ident: str = "") -> dict[str, Any]:
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_rounds_come_newest_first_with_their_results_in_order() -> None:
    talk = [
        {"role": "system", "content": "s"},
        ASK,
        {"role": "assistant", "content": "", "tool_calls": [call("a", '{"x":1}', "1"), call("b", "{}", "2")]},
        {"role": "tool", "tool_call_id": "1", "content": "one"},
        {
            "role": "tool",
            "tool_call_id": "2",
            "content": [{"type": "text", "text": "two"}, {"image_url": {"url": "u"}}],
        },
        {"role": "assistant", "content": "hm"},
        {"role": "user", "content": [{"type": "text", "text": "go"}, {"type": "text", "text": "on"}]},
        {"role": "assistant", "tool_calls": [call("a", {"x": 2}, "3")]},
    ]
    assert list(rounds(talk)) == [
        Round((Call("a", {"x": 2}, "3"),), ()),
        Said("go\non"),
        Round(
            (Call("a", '{"x":1}', "1"), Call("b", "{}", "2")),
            (Result("one", id="1"), Result("two", ("u",), id="2")),
        ),
        Said("Why?"),
    ]


def test_results_of_nobody_are_passed_over_and_odd_messages_too() -> None:
    odd: list[Any] = [
        {"role": "tool", "content": "x"},
        {"role": "assistant", "content": "y"},
        None,
        3,
        {},
        {"role": "tool"},
    ]
    odd += [
        {"role": "assistant", "tool_calls": [None, {}, {"function": {}}, {"function": 3}]},
        {"role": "user"},
    ]
    assert list(rounds(odd)) == [Said("")]


def test_native_results_have_images_and_no_ids() -> None:
    talk = [{"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": {}}}]}]
    talk += [{"role": "tool", "tool_name": "a", "content": "one", "images": ["aGk="]}]
    assert list(rounds(talk)) == [Round((Call("a", {}),), (Result("one", ("aGk=",)),))]


@pytest.mark.parametrize("dialect", [OpenAICompletions(), OllamaGenerate()], ids=lambda dialect: dialect.name)
def test_a_prompt_is_all_the_history_there_is(dialect: Dialect) -> None:
    made = dialect.request(b'{"model":"m","prompt":"Why?"}')
    assert made is not None
    assert list(dialect.history(made)) == [Said("Why?")]


def rebuilt(dialect: Dialect, plan: Reissue) -> Any:
    made = dialect.request(json.dumps({"model": "m", "stream": True, "messages": [ASK]}).encode())
    assert made is not None
    assert list(dialect.history(made)) == [Said("Why?")]
    body = dialect.rebuild(made, plan)
    again = dialect.request(body)
    assert again is not None
    assert [each for each in dialect.history(again) if isinstance(each, Round)] == [
        Round(
            (Call(each.call.name, arguments(dialect, each), each.call.id or "call_refused0"),),
            (Result(each.message, id=each.call.id or "call_refused0"),),
        )
        for each in reversed(plan.refused)
        if each.call.id or dialect.name == "openai-chat"
    ]
    return json.loads(body)["messages"][1:]


def arguments(dialect: Dialect, refused: Refused) -> object:
    value = refused.call.arguments
    if dialect.name == "openai-chat":
        return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return json.loads(value) if isinstance(value, str) else value


PLAN = Reissue(
    steer="Do something else.",
    partial="So",
    refused=(Refused(Call("a", '{"x":1}', "1"), "Again?"), Refused(Call("b", {"y": 2}, "2"), "No.")),
)
LAST = [{"role": "assistant", "content": "So"}, {"role": "user", "content": "Do something else."}]


def test_refused_calls_are_turns_of_openais_form() -> None:
    assert rebuilt(OpenAIChat(), PLAN) == [
        {"role": "assistant", "content": "", "tool_calls": [call("a", '{"x":1}', "1")]},
        {"role": "tool", "tool_call_id": "1", "content": "Again?"},
        {"role": "assistant", "content": "", "tool_calls": [call("b", '{"y":2}', "2")]},
        {"role": "tool", "tool_call_id": "2", "content": "No."},
        *LAST,
    ]


def test_refused_calls_are_turns_of_ollamas_form() -> None:
    assert rebuilt(OllamaChat(), PLAN) == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": {"x": 1}}}],
        },
        {"role": "tool", "tool_name": "a", "tool_call_id": "1", "content": "Again?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "2", "function": {"name": "b", "arguments": {"y": 2}}}],
        },
        {"role": "tool", "tool_name": "b", "tool_call_id": "2", "content": "No."},
        *LAST,
    ]


def test_a_call_without_an_id_gets_one_where_it_must_have_one() -> None:
    plan = Reissue(refused=(Refused(Call("a", "{}"), "No."),))
    turn, result = rebuilt(OpenAIChat(), plan)
    assert turn["tool_calls"][0]["id"] == result["tool_call_id"] == "call_refused0"
    made = OllamaChat().request(json.dumps({"model": "m", "messages": [ASK]}).encode())
    assert made is not None
    _, turn, result = json.loads(OllamaChat().rebuild(made, plan))["messages"]
    assert "id" not in turn["tool_calls"][0]
    assert "tool_call_id" not in result


def test_arguments_that_are_no_object_do_not_make_ollama_refuse_the_request() -> None:
    plan = Reissue(refused=(Refused(Call("a", '{"x":', "1"), "No."),))
    for dialect, empty in ((OpenAIChat(), "{}"), (OllamaChat(), {})):
        made = dialect.request(json.dumps({"model": "m", "messages": [ASK]}).encode())
        assert made is not None
        turn = json.loads(dialect.rebuild(made, plan))["messages"][1]
        assert turn["tool_calls"][0]["function"]["arguments"] == empty
