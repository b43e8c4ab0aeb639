"""All that a request says, in every dialect."""

import json
from typing import Any

import pytest

from ollama_guard.wire.talk import LIMIT, talk

SAYS = 'x = "1"\n'
CASES: dict[str, dict[str, Any]] = {
    "system": {"messages": [{"role": "system", "content": SAYS}]},
    "assistant": {"messages": [{"role": "assistant", "content": SAYS}]},
    "tool": {"messages": [{"role": "tool", "content": SAYS}]},
    "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": SAYS}]}]},
    "arguments as text": {
        "messages": [{"tool_calls": [{"function": {"name": "f", "arguments": json.dumps({"a": SAYS})}}]}]
    },
    "arguments": {"messages": [{"tool_calls": [{"function": {"name": "f", "arguments": {"a": SAYS}}}]}]},
    "Anthropic's system": {"system": [{"type": "text", "text": SAYS}]},
    "Anthropic's result": {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "tool_result", "content": [{"type": "text", "text": SAYS}]}],
            }
        ]
    },
    "Anthropic's call": {
        "messages": [{"content": [{"type": "tool_use", "name": "f", "input": {"a": SAYS}}]}]
    },
    "Responses' input": {"input": SAYS},
    "Responses' message": {"input": [{"role": "user", "content": [{"type": "input_text", "text": SAYS}]}]},
    "Responses' call": {"input": [{"type": "function_call", "arguments": json.dumps({"a": SAYS})}]},
    "Responses' result": {"input": [{"type": "function_call_output", "output": SAYS}]},
    "instructions": {"instructions": SAYS},
    "prompt": {"prompt": SAYS},
    "suffix": {"prompt": "a", "suffix": SAYS},
}


@pytest.mark.parametrize("name", CASES)
def test_text_is_found_wherever_a_dialect_has_it(name: str) -> None:
    assert SAYS in talk(CASES[name]).text


def test_what_ollama_escapes_beyond_need_is_read_as_written() -> None:
    written = {"function": {"arguments": '{"a": "\\u003cp\\u003e \\\\n"}'}}
    assert "<p> \\n" in talk({"messages": [{"tool_calls": [written]}]}).text


def test_the_order_is_that_of_the_conversation() -> None:
    messages = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": ["two", {"text": "three"}]},
    ]
    assert talk({"system": "zero", "messages": messages}).text == "zero\none\ntwo\nthree"


def test_pictures_are_no_text() -> None:
    parts = [
        {"type": "image", "source": {"data": "AAAA"}},
        {"type": "image_url", "image_url": {"url": "AAAA"}},
    ]
    assert talk({"messages": [{"role": "user", "content": parts, "images": ["AAAA"]}]}).text == ""


def test_the_text_is_bounded_at_its_start() -> None:
    text = talk({"messages": [{"content": "a" * LIMIT}, {"content": "b" * LIMIT + "c"}]}).text
    assert (len(text), text[0], text[-1]) == (LIMIT, "b", "c")


def test_the_turn_is_what_the_user_said_last() -> None:
    result = {"role": "user", "content": [{"type": "tool_result", "content": "no"}]}
    messages = [
        {"role": "user", "content": "old"},
        {"role": "user", "content": "new"},
        {"role": "assistant"},
        result,
    ]
    assert talk({"messages": messages}).turn == "new"
    assert talk({"input": "new"}).turn == talk({"prompt": "new"}).turn == "new"
    assert talk({"messages": [{"role": "system", "content": "no"}]}).turn == ""


@pytest.mark.parametrize(
    "odd", [None, 3, "x", [None, 3, [[]]], {"content": 3}, [{"content": {"text": None}}]]
)
def test_odd_values_are_read_as_nothing_more(odd: Any) -> None:
    for name in ("messages", "input", "system", "prompt"):
        assert talk({name: odd}).text in ("", "x")


def test_depth_is_bounded() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert talk({"messages": deep}).text == ""
