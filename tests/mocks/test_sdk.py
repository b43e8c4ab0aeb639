"""The real client libraries accept what the mock writes; else tests through the guard would prove nothing."""

from collections.abc import Iterator
from typing import Any

import anthropic
import ollama
import openai
import pytest

from mocks.server import MockOllama

ANSWER = "The sky is blue because air scatters"
ASK: list[Any] = [{"role": "user", "content": "Why is the sky blue?"}]
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}},
    }
]
ANTHROPIC_TOOLS: list[Any] = [{"name": "read_file", "input_schema": {"type": "object", "properties": {}}}]


@pytest.fixture
def by_openai(mock: MockOllama) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{mock.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def by_anthropic(mock: MockOllama) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=mock.url, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def by_ollama(mock: MockOllama) -> Iterator[ollama.Client]:
    client = ollama.Client(host=mock.url)
    yield client
    client._client.close()


class TestOpenai:
    def test_chat_streamed(self, by_openai: openai.OpenAI) -> None:
        content, reasoning, last = "", "", None
        stream = by_openai.chat.completions.create(
            model="mock:healthy", messages=ASK, stream=True, stream_options={"include_usage": True}
        )
        for chunk in stream:
            for choice in chunk.choices:
                content += choice.delta.content or ""
                reasoning += getattr(choice.delta, "reasoning", None) or ""
                last = choice.finish_reason
        assert content.startswith(ANSWER)
        assert reasoning.startswith("The user asks")
        assert last == "stop"
        assert chunk.usage
        assert chunk.usage.completion_tokens > 100

    def test_chat_by_the_stream_helper(self, by_openai: openai.OpenAI) -> None:
        with by_openai.chat.completions.stream(model="mock:tool-call", messages=ASK, tools=TOOLS) as stream:
            for _ in stream:
                pass
            final = stream.get_final_completion()
        (call,) = final.choices[0].message.tool_calls or []
        assert (call.function.name, call.function.arguments) == ("read_file", '{"path":"src/main.py"}')
        assert final.choices[0].finish_reason == "tool_calls"

    def test_chat_not_streamed(self, by_openai: openai.OpenAI) -> None:
        healthy = by_openai.chat.completions.create(model="mock:healthy", messages=ASK)
        assert (healthy.choices[0].message.content or "").startswith(ANSWER)
        tools = by_openai.chat.completions.create(model="mock:tool-call", messages=ASK, tools=TOOLS)
        assert tools.choices[0].finish_reason == "tool_calls"
        assert [call.type for call in tools.choices[0].message.tool_calls or []] == ["function"]

    def test_a_streamed_call_in_pieces(self, by_openai: openai.OpenAI) -> None:
        with by_openai.chat.completions.stream(model="mock:tool-call-streamed", messages=ASK) as stream:
            for _ in stream:
                pass
            final = stream.get_final_completion()
        (call,) = final.choices[0].message.tool_calls or []
        assert call.function.arguments == '{"path": "a.txt", "content": "Hello, world. This is the file."}'

    def test_completions(self, by_openai: openai.OpenAI) -> None:
        stream = by_openai.completions.create(model="mock:healthy", prompt="Why?", stream=True)
        assert "".join(chunk.choices[0].text for chunk in stream).startswith(ANSWER)
        single = by_openai.completions.create(model="mock:healthy", prompt="Why?")
        assert single.choices[0].text.startswith(ANSWER)

    def test_responses(self, by_openai: openai.OpenAI) -> None:
        events = list(by_openai.responses.create(model="mock:healthy", input="Why?", stream=True))
        said = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        assert said.startswith(ANSWER)
        assert events[-1].type == "response.completed"
        assert events[-1].response.output_text == said
        single = by_openai.responses.create(model="mock:healthy", input="Why?")
        assert single.output_text == said
        call = by_openai.responses.create(model="mock:tool-call", input="Why?").output[-1]
        assert (call.type, getattr(call, "name", "")) == ("function_call", "read_file")

    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (400, openai.BadRequestError),
            (401, openai.AuthenticationError),
            (404, openai.NotFoundError),
            (429, openai.RateLimitError),
            (503, openai.InternalServerError),
        ],
    )
    def test_errors(self, by_openai: openai.OpenAI, status: int, error: type[openai.APIStatusError]) -> None:
        with pytest.raises(error) as raised:
            by_openai.chat.completions.create(model=f"mock:status-{status}", messages=ASK, stream=True)
        assert raised.value.status_code == status

    def test_models(self, by_openai: openai.OpenAI) -> None:
        assert "mock:healthy" in {model.id for model in by_openai.models.list()}
        assert len(by_openai.embeddings.create(model="mock:healthy", input="a").data[0].embedding) == 8


class TestOllama:
    def test_chat(self, by_ollama: ollama.Client) -> None:
        parts = list(by_ollama.chat("mock:healthy", messages=ASK, stream=True))
        assert "".join(part.message.content or "" for part in parts).startswith(ANSWER)
        assert "".join(part.message.thinking or "" for part in parts).startswith("The user asks")
        assert (parts[-1].done, parts[-1].done_reason) == (True, "stop")
        single = by_ollama.chat("mock:healthy", messages=ASK)
        assert (single.message.content or "").startswith(ANSWER)
        assert (single.eval_count or 0) > 100

    def test_chat_with_a_tool_call(self, by_ollama: ollama.Client) -> None:
        for stream in (True, False):
            answer: Any = by_ollama.chat("mock:tool-call", messages=ASK, tools=TOOLS, stream=stream)
            parts = list(answer) if stream else [answer]
            (call,) = [call for part in parts for call in part.message.tool_calls or []]
            assert (call.function.name, call.function.arguments) == ("read_file", {"path": "src/main.py"})

    def test_generate(self, by_ollama: ollama.Client) -> None:
        parts = list(by_ollama.generate("mock:healthy", "Why?", stream=True))
        said = "".join(part.response or "" for part in parts)
        assert said.startswith(ANSWER)
        assert by_ollama.generate("mock:healthy", "Why?").response == said

    def test_an_error_line_is_raised(self, by_ollama: ollama.Client) -> None:
        with pytest.raises(ollama.ResponseError, match="CUDA"):
            list(by_ollama.chat("mock:error-line", messages=ASK, stream=True))

    def test_errors(self, by_ollama: ollama.Client) -> None:
        with pytest.raises(ollama.ResponseError, match="session usage limit") as raised:
            list(by_ollama.chat("mock:status-429", messages=ASK, stream=True))
        assert raised.value.status_code == 429

    def test_the_catalogue(self, by_ollama: ollama.Client) -> None:
        assert "mock:healthy" in {model.model for model in by_ollama.list().models}
        assert "tools" in (by_ollama.show("mock:healthy").capabilities or [])
        assert list(by_ollama.pull("demo:8b", stream=True))[-1].status == "success"
        assert by_ollama.embed("mock:healthy", "a").embeddings
        assert by_ollama.ps().models == []


class TestAnthropic:
    def test_messages_by_the_stream_helper(self, by_anthropic: anthropic.Anthropic) -> None:
        with by_anthropic.messages.stream(model="mock:healthy", messages=ASK, max_tokens=1000) as stream:
            final = stream.get_final_message()
        kinds = [block.type for block in final.content]
        assert kinds == ["thinking", "text"]
        assert getattr(final.content[1], "text", "").startswith(ANSWER)
        assert (final.stop_reason, final.usage.output_tokens > 100) == ("end_turn", True)

    @pytest.mark.parametrize("model", ["mock:tool-call-text", "mock:tool-call-streamed"])
    def test_tool_use(self, by_anthropic: anthropic.Anthropic, model: str) -> None:
        with by_anthropic.messages.stream(
            model=model, messages=ASK, max_tokens=1000, tools=ANTHROPIC_TOOLS
        ) as stream:
            final = stream.get_final_message()
        assert [block.type for block in final.content] == ["text", "tool_use"]
        assert getattr(final.content[1], "input", {})["path"] in ("src/main.py", "a.txt")
        assert final.stop_reason == "tool_use"

    def test_messages_not_streamed(self, by_anthropic: anthropic.Anthropic) -> None:
        final = by_anthropic.messages.create(model="mock:tool-call", messages=ASK, max_tokens=1000)
        assert [block.type for block in final.content] == ["thinking", "tool_use"]
        assert final.stop_reason == "tool_use"

    def test_errors(self, by_anthropic: anthropic.Anthropic) -> None:
        with pytest.raises(anthropic.RateLimitError):
            by_anthropic.messages.create(model="mock:status-429", messages=ASK, max_tokens=10)
        with pytest.raises(anthropic.BadRequestError):
            by_anthropic.messages.create(model="mock:healthy", messages=ASK, max_tokens=0)
