"""Reading requests: each dialect's own way of saying the same."""

from typing import Any

import pytest

from mocks.ask import read
from tests.mocks.asking import ALL_PATHS, NATIVE, request


@pytest.mark.parametrize("path", ALL_PATHS)
def test_the_conversation_is_read_and_hashed(path: str) -> None:
    ask = read(path, request(path, "m", text="Why?"))
    assert ask.turns == (("user", "Why?"),)
    assert ask.key == read(path, request(path, "m", text="Why?", temperature=1)).key
    assert ask.key != read(path, request(path, "m", text="Who?")).key


@pytest.mark.parametrize("path", ALL_PATHS)
def test_streaming_is_the_default_on_native_paths_only(path: str) -> None:
    body = request(path, "m")
    del body["stream"]
    assert read(path, body).stream == (path in NATIVE)


@pytest.mark.parametrize(
    ("path", "off"),
    [
        ("/api/chat", {"think": False}),
        ("/v1/chat/completions", {"reasoning_effort": "none"}),
        ("/v1/chat/completions", {"reasoning": {"effort": "none"}}),
        ("/v1/responses", {"reasoning": {"effort": "none"}}),
        ("/v1/messages", {"thinking": {"type": "disabled"}}),
    ],
)
def test_thinking_off_is_understood(path: str, off: dict[str, Any]) -> None:
    assert read(path, request(path, "m", **off)).thinking_off
    assert not read(path, request(path, "m")).thinking_off


@pytest.mark.parametrize(
    ("path", "limit", "value"),
    [
        ("/api/generate", {"options": {"num_predict": 7}}, 7),
        ("/api/chat", {"options": {"num_predict": -1}}, None),
        ("/v1/chat/completions", {"max_tokens": 7}, 7),
        ("/v1/chat/completions", {"max_completion_tokens": 7}, None),
        ("/v1/responses", {"max_output_tokens": 7}, 7),
        ("/v1/messages", {"max_tokens": 7}, 7),
    ],
)
def test_the_token_limit_is_read_where_ollama_reads_it(
    path: str, limit: dict[str, Any], value: int | None
) -> None:
    assert read(path, request(path, "m", **limit)).limit == value


@pytest.mark.parametrize(
    "content", ["partly", [{"type": "text", "text": "part"}, {"type": "text", "text": "ly"}]]
)
def test_the_partial_answer_is_found_before_a_last_user_turn_too(content: Any) -> None:
    turns = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": content}]
    assert read("/api/chat", {"messages": turns}).partial == "partly"
    assert (
        read("/v1/messages", {"messages": [*turns, {"role": "user", "content": "Go on"}]}).partial == "partly"
    )
    assert read("/api/chat", {"messages": turns[:1]}).partial == ""


def test_a_request_without_a_prompt_is_a_load() -> None:
    assert read("/api/generate", {"model": "m", "keep_alive": 0}).load
    assert read("/api/chat", {"model": "m", "messages": []}).load
    assert not read("/api/chat", request("/api/chat", "m")).load
