"""Agents with the real SDKs that ask for the same tool over and over: warned, refused, and ended.

The mock model makes the same call in every turn, whatever it is told, until the request shows it a refusal;
then it makes it again, or answers, as the test wants. The agent is the usual loop of ten lines.
"""

import json
from collections.abc import Callable
from typing import Any

import anthropic
import ollama
import openai
import pytest

from mocks.server import MockOllama
from tests.net import Guard

CALL = {"call": {"name": "read_file", "arguments": {"path": "a.txt", "lines": 10}}}
STUBBORN = {"steps": [CALL]}
SENSIBLE = {
    "answers": [{"match": "Refused", "script": {"steps": [{"say": "The file is not there."}]}}],
    "attempts": [STUBBORN],
}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}}
TURNS = 12

Agent = Callable[[str, str, Callable[[int], str]], tuple[int, str]]
"""An agent: guard's URL, model, tool -> how many calls were delivered, and the last answer."""


def openai_chat(url: str, model: str, tool: Callable[[int], str]) -> tuple[int, str]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        tools: Any = [{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}]
        messages: list[Any] = [{"role": "user", "content": "Read a.txt."}]
        for turn in range(TURNS):
            with client.chat.completions.stream(model=model, messages=messages, tools=tools) as stream:
                message = stream.get_final_completion().choices[0].message
            if not message.tool_calls:
                return turn, message.content or ""
            messages.append(message.model_dump(include={"role", "content", "tool_calls"}))
            for call in message.tool_calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": tool(turn)})
    return TURNS, ""


def openai_responses(url: str, model: str, tool: Callable[[int], str]) -> tuple[int, str]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        tools: Any = [{"type": "function", "name": "read_file", "parameters": SCHEMA}]
        items: list[Any] = [{"role": "user", "content": "Read a.txt."}]
        for turn in range(TURNS):
            response = client.responses.create(model=model, input=items, tools=tools)
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                return turn, response.output_text
            for call in calls:
                items.append(call.model_dump(exclude_none=True))
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": tool(turn)})
    return TURNS, ""


def anthropic_messages(url: str, model: str, tool: Callable[[int], str]) -> tuple[int, str]:
    with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        tools: Any = [{"name": "read_file", "input_schema": SCHEMA}]
        messages: list[Any] = [{"role": "user", "content": "Read a.txt."}]
        for turn in range(TURNS):
            with client.messages.stream(
                model=model, max_tokens=500, messages=messages, tools=tools
            ) as stream:
                message = stream.get_final_message()
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                return turn, "".join(block.text for block in message.content if block.type == "text")
            messages.append(
                {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in calls]}
            )
            results = [{"type": "tool_result", "tool_use_id": c.id, "content": tool(turn)} for c in calls]
            messages.append({"role": "user", "content": results})
    return TURNS, ""


def ollama_chat(url: str, model: str, tool: Callable[[int], str]) -> tuple[int, str]:
    tools: Any = [{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}]
    messages: list[Any] = [{"role": "user", "content": "Read a.txt."}]
    with ollama.Client(host=url) as client:
        for turn in range(TURNS):
            text, calls = "", []
            for chunk in client.chat(model=model, messages=messages, tools=tools, stream=True):
                text += chunk.message.content or ""
                calls += chunk.message.tool_calls or []
            if not calls:
                return turn, text
            asked = [call.model_dump() for call in calls]
            messages.append({"role": "assistant", "content": text, "tool_calls": asked})
            messages += [{"role": "tool", "content": tool(turn)} for _ in calls]
    return TURNS, ""


AGENTS = pytest.mark.parametrize("agent", [openai_chat, openai_responses, anthropic_messages, ollama_chat])


def requests(mock: MockOllama) -> list[str]:
    """Each generation request's body, as text."""
    return [json.dumps(entry.body) for entry in mock.requests if entry.method == "POST"]


@AGENTS
def test_the_third_is_warned_the_fifth_refused_the_third_refusal_ends_it(
    mock: MockOllama, guard: Guard, agent: Agent
) -> None:
    mock.script("stubborn", STUBBORN)
    delivered, answer = agent(guard.url, "stubborn", lambda _: "no such file")
    assert delivered == 4
    assert "`read_file`" in answer
    assert "same result" in answer
    bodies = requests(mock)
    # Four turns; the fifth turn's call was refused twice before the third refusal ended the answer.
    assert len(bodies) == 4 + 3
    warned = ["3 times in a row" in body for body in bodies]
    assert warned == [False, False, False, True, False, False, False]
    assert ["Refused" in body for body in bodies] == [False] * 5 + [True] * 2
    assert "4 times in a row" in bodies[4]


@AGENTS
def test_a_model_that_takes_the_refusal_answers_in_the_same_stream(
    mock: MockOllama, guard: Guard, agent: Agent
) -> None:
    mock.script("sensible", SENSIBLE)
    delivered, answer = agent(guard.url, "sensible", lambda _: "no such file")
    assert (delivered, answer) == (4, "The file is not there.")


@AGENTS
def test_polling_is_left_alone(mock: MockOllama, guard: Guard, agent: Agent) -> None:
    mock.script("polling", STUBBORN)
    delivered, _ = agent(guard.url, "polling", lambda turn: f"{turn * 8} % done")
    assert delivered == TURNS
    assert not any("in a row" in body for body in requests(mock))
