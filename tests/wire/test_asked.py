"""What a request asks for."""

import json
from typing import Any

import pytest

from ollama_guard.wire.asked import PROMPT_LIMIT, user_text
from ollama_guard.wire.dialect import Request
from ollama_guard.wire.ollama_chat import OllamaChat
from ollama_guard.wire.ollama_generate import OllamaGenerate
from ollama_guard.wire.openai_chat import OpenAIChat

ASK = {"role": "user", "content": "Why?"}


def chat(**fields: Any) -> Request:
    made = OpenAIChat().request(json.dumps({"model": "m", "messages": [ASK], **fields}).encode())
    assert made is not None
    return made


def native(**fields: Any) -> Request:
    made = OllamaChat().request(json.dumps({"model": "m", "messages": [ASK], **fields}).encode())
    assert made is not None
    return made


def test_a_stream_is_the_default_natively_and_not_at_openais() -> None:
    assert native().stream
    assert native(stream=None).stream
    assert not native(stream=False).stream
    assert not chat().stream
    assert not chat(stream=None).stream
    assert chat(stream=True).stream


def test_tools_are_offered_by_a_list_with_something_in_it() -> None:
    for read in (chat, native):
        assert read(tools=[{"type": "function"}]).tools
        assert not read(tools=[]).tools
        assert not read(tools=None).tools
        assert not read().tools


def test_json_is_asked_for_by_a_format() -> None:
    assert native(format="json").format
    assert native(format={"type": "object"}).format
    assert not native(format="").format
    assert not native().format
    assert chat(response_format={"type": "json_object"}).format
    assert chat(response_format={"type": "json_schema", "json_schema": {}}).format
    assert not chat(response_format={"type": "text"}).format
    assert not chat(response_format=None).format


@pytest.mark.parametrize(
    ("think", "expected"), [(True, True), (False, False), ("high", True), ("", None), (None, None), (3, None)]
)
def test_thinking_is_asked_for_natively(think: Any, expected: bool | None) -> None:
    assert native(think=think).thinking is expected
    made = OllamaGenerate().request(json.dumps({"model": "m", "prompt": "x", "think": think}).encode())
    assert made is not None
    assert made.thinking is expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"reasoning_effort": "high"}, True),
        ({"reasoning_effort": "none"}, False),
        ({"reasoning": {"effort": "none"}, "reasoning_effort": "high"}, False),
        ({"reasoning": {"effort": "low"}}, True),
        ({"reasoning": {}, "reasoning_effort": "none"}, False),
        ({"reasoning": "high"}, None),
        ({"reasoning_effort": 3}, None),
        ({"think": True}, None),
    ],
)
def test_thinking_is_asked_for_by_effort(fields: dict[str, Any], expected: bool | None) -> None:
    assert chat(**fields).thinking is expected


def test_the_prompt_is_what_the_user_said() -> None:
    parts = [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": "b"}},
        {"type": "text", "text": "c"},
    ]
    talk = [
        {"role": "system", "content": "no"},
        ASK,
        {"role": "assistant", "content": "no"},
        {"role": "user", "content": parts},
    ]
    assert user_text(talk) == "Why?\na\nc"
    assert chat(messages=talk).prompt == native(messages=talk).prompt == "Why?\na\nc"
    assert user_text([None, 3, "x", {"role": "user"}, {"role": "user", "content": 3}]).strip() == ""


def test_the_prompt_is_bounded_at_its_start() -> None:
    long = [{"role": "user", "content": "old"}, {"role": "user", "content": "x" * PROMPT_LIMIT}, ASK]
    text = user_text(long)
    assert len(text) == PROMPT_LIMIT
    assert text.endswith("x\nWhy?")
    made = OllamaGenerate().request(json.dumps({"model": "m", "prompt": "y" * 40_000 + "z"}).encode())
    assert made is not None
    assert (len(made.prompt), made.prompt[-1]) == (PROMPT_LIMIT, "z")


def test_options_of_a_wrong_type_are_left_to_ollama_to_refuse() -> None:
    assert (
        OllamaChat().request(json.dumps({"model": "m", "messages": [ASK], "options": "x"}).encode()) is None
    )
    assert native(options=None).model == "m"
