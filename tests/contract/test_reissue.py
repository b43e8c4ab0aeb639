"""What the client asked for is still asked for after an intervention (issue 3, item 9).

Each field is in the re-issued request as it was, or has the outcome that the table here documents.
"""

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from mocks.clients import COMPLETE, ask
from mocks.judges import judge
from mocks.server import MockOllama
from tests.contract.asking import (
    CHAT,
    COMPLETIONS,
    MESSAGES,
    NATIVE_CHAT,
    NATIVE_GENERATE,
    PATHS,
    RESPONSES,
    Question,
    fields,
)
from tests.contract.conftest import Guards
from tests.contract.scripts import HEALTHY_ANSWER, PREFIX

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
TOOL = {"name": "read_file", "parameters": {"type": "object", "properties": {}}}
RELOADING = {"num_ctx": 8192, "num_gpu": 12, "num_thread": 2, "use_mmap": True, "stop": ["END"], "top_k": 7}
"""Options with which Ollama would load the model anew, were they to change; and two for the sampler."""

KEPT: Mapping[str, Mapping[str, Any]] = {
    CHAT: {
        "n": 2, "logprobs": True, "top_logprobs": 3, "stop": ["END"], "user": "u", "logit_bias": {"5": 1},
        "tools": [{"type": "function", "function": TOOL}], "tool_choice": "auto",
        "parallel_tool_calls": False, "response_format": {"type": "text"},
        "stream_options": {"include_usage": True}, "keep_alive": "5m",
        "metadata": {"a": "b"}, "presence_penalty": 0.25, "max_completion_tokens": 4000,
    },
    COMPLETIONS: {
        "n": 2, "logprobs": 3, "suffix": None, "stop": ["END"], "echo": False,
        "stream_options": {"include_usage": True}, "best_of": 2,
    },
    RESPONSES: {
        "instructions": "Be brief.", "tools": [{"type": "function", **TOOL}], "tool_choice": "required",
        "text": {"format": {"type": "text"}}, "metadata": {"a": "b"}, "parallel_tool_calls": False,
        "include": ["reasoning.encrypted_content"], "max_output_tokens": 4000, "truncation": "auto",
    },
    MESSAGES: {
        "system": "Be brief.", "tools": [{"name": "read_file", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "auto"}, "metadata": {"user_id": "u"}, "stop_sequences": ["END"], "top_k": 7,
        "max_tokens": 4000,
    },
    NATIVE_CHAT: {
        "keep_alive": "5m", "options": RELOADING, "logprobs": True, "top_logprobs": 3, "truncate": True,
        "shift": True, "tools": [{"type": "function", "function": TOOL}],
    },
    NATIVE_GENERATE: {
        "keep_alive": "5m", "options": RELOADING, "system": "Be brief.", "template": "{{ .Prompt }}",
        "context": [1, 2, 3], "logprobs": True, "images": [PIXEL], "truncate": True, "shift": True,
    },
}  # fmt: skip
UNSEEN = (COMPLETIONS,)
"""Where what is thought is not seen, a loop in the answer is the one to test with."""


def _ask(guards: Guards, path: str, model: str, **more: Any) -> Any:
    body = {**fields(path, Question(model)), "stream": True, **more}
    seen = asyncio.run(ask(guards({}).url, path, body))
    assert seen.ended == COMPLETE
    return judge(path, seen.body)


def _asked(mock: MockOllama) -> list[dict[str, Any]]:
    return [entry.body for entry in mock.journal.generations()]


def _looping(path: str) -> str:
    return f"mock:{PREFIX}" + ("loop-content" if path in UNSEEN else "loop-reasoning")


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, names in KEPT.items() for name in names])
def test_a_field_of_the_request_is_in_the_next_attempt(
    mock: MockOllama, guards: Guards, path: str, name: str
) -> None:
    _ask(guards, path, _looping(path), **{name: KEPT[path][name]})
    first, second = _asked(mock)
    assert first[name] == KEPT[path][name]
    assert second[name] == first[name]


@pytest.mark.parametrize("path", PATHS)
def test_all_fields_together_change_only_the_conversation_at_the_first_step(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    report = _ask(guards, path, _looping(path), **KEPT[path])
    assert report.errors == []
    first, second = _asked(mock)
    said = {CHAT: "messages", MESSAGES: "messages", NATIVE_CHAT: "messages", RESPONSES: "input"}.get(
        path, "prompt"
    )
    assert {name: value for name, value in second.items() if name != said} == {
        name: value for name, value in first.items() if name != said
    }


@pytest.mark.parametrize("path", [NATIVE_CHAT, NATIVE_GENERATE])
def test_options_that_would_reload_the_model_stay_when_the_sampler_moves(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    _ask(guards, path, f"mock:{PREFIX}loop-twice", options={**RELOADING, "seed": 1, "temperature": 0})
    options = [body["options"] for body in _asked(mock)]
    assert len(options) == 3
    assert all({name: each[name] for name in RELOADING} == RELOADING for each in options)
    assert options[2]["temperature"] > 0
    assert options[2]["seed"] != 1


@pytest.mark.parametrize("path", [NATIVE_CHAT, NATIVE_GENERATE])
def test_a_model_that_is_to_unload_at_once_is_kept_until_the_last_attempt(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    _ask(guards, path, f"mock:{PREFIX}loop-twice", keep_alive=0)
    kept = [body["keep_alive"] for body in _asked(mock)]
    assert kept[-1] == 0
    assert 0 not in kept[:-1]


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES, NATIVE_CHAT])
def test_images_go_along_in_their_place(mock: MockOllama, guards: Guards, path: str) -> None:
    question = Question(_looping(path))
    url = f"data:image/png;base64,{PIXEL}"
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    parts: dict[str, Any] = {
        CHAT: [{"type": "text", "text": question.text}, {"type": "image_url", "image_url": {"url": url}}],
        RESPONSES: [{"type": "input_text", "text": question.text}, {"type": "input_image", "image_url": url}],
        MESSAGES: [{"type": "text", "text": question.text}, {"type": "image", "source": source}],
    }
    message = {"role": "user", "content": parts.get(path, question.text)}
    if path == NATIVE_CHAT:
        message["images"] = [PIXEL]
    body = {**fields(path, question), "input" if path == RESPONSES else "messages": [message], "stream": True}
    seen = asyncio.run(ask(guards({}).url, path, body))
    assert judge(path, seen.body).content == HEALTHY_ANSWER
    first, second = (json.dumps(each) for each in _asked(mock))
    assert first.count(PIXEL) == second.count(PIXEL) == 1


def _looping_prompt(mock: MockOllama) -> str:
    """Loops; and answers to a prompt that has the beginning of the answer in it."""
    answered = {"steps": [{"say": HEALTHY_ANSWER[252:]}]}
    loop = [
        {"say": HEALTHY_ANSWER[:252]},
        {"say": " and the same is true for the other side,", "times": None},
    ]
    script = {"answers": [{"match": "The sky is blue because", "script": answered}], "steps": loop}
    return mock.script("looping-prompt", script)


def test_a_raw_prompt_is_gone_on_with_in_place(mock: MockOllama, guards: Guards) -> None:
    """No template and no turns: what was said so far is appended to the prompt, and no message is put in."""
    report = _ask(guards, NATIVE_GENERATE, _looping_prompt(mock), raw=True)
    assert report.errors == []
    assert report.content.endswith(HEALTHY_ANSWER[300:])
    first, second = _asked(mock)
    assert second["raw"] is True
    assert second["prompt"].startswith(first["prompt"] + HEALTHY_ANSWER[:200])
    assert "was stopped" not in second["prompt"]


@pytest.mark.parametrize("path", [NATIVE_GENERATE, COMPLETIONS])
def test_a_suffix_stays_behind_the_text_that_is_gone_on_with(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    report = _ask(guards, path, _looping_prompt(mock), suffix="\n    return result\n")
    assert report.errors == []
    assert report.content.endswith(HEALTHY_ANSWER[300:])
    first, second = _asked(mock)
    assert second["suffix"] == first["suffix"]
    assert "was stopped" not in second["prompt"]


@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
def test_of_several_alternatives_each_is_watched(mock: MockOllama, guards: Guards, path: str) -> None:
    """`n` is ignored by Ollama; of a server that heeds it, a loop in the second choice is seen too."""
    frames = []
    for number in range(400):
        said = [f"Word{number} ", "and the same again, "][number % 2]
        box = {"text": said} if path == COMPLETIONS else {"delta": {"content": said}}
        choice = {"index": number % 2, "finish_reason": None, **box}
        frames.append({"raw": {"sse": _event(path, [choice]), "ndjson": ""}})
    model = mock.script("two-choices", {"attempts": [{"steps": frames}, "healthy"]})
    _ask(guards, path, model, n=2)
    assert [body["n"] for body in _asked(mock)] == [2, 2]


def _event(path: str, choices: list[dict[str, Any]]) -> str:
    kind = "text_completion" if path == COMPLETIONS else "chat.completion.chunk"
    chunk = {
        "id": "c-1",
        "object": kind,
        "created": 1790000000,
        "model": "mock:two-choices",
        "choices": choices,
    }
    return f"data: {json.dumps(chunk)}\n\n"


@pytest.mark.parametrize("path", [CHAT, NATIVE_CHAT])
def test_log_probabilities_pass_unchanged_and_come_only_with_text_that_is_shown(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    """Those of a later attempt are its own; text that is trimmed at the joint loses them with its tokens."""
    said = {"token": "Blue", "logprob": -0.25, "bytes": [66, 108, 117, 101], "top_logprobs": []}
    line = {
        "model": "mock:probable", "created_at": "2026-08-22T10:00:00Z",
        "message": {"role": "assistant", "content": "Blue"}, "logprobs": [said], "done": False,
    }  # fmt: skip
    choice = {"index": 0, "delta": {"role": "assistant", "content": "Blue"}, "logprobs": {"content": [said]},
              "finish_reason": None}  # fmt: skip
    raw = {
        "sse": _event(path, [choice]).replace("two-choices", "probable"),
        "ndjson": json.dumps(line) + "\n",
    }
    loop = {"steps": [{"think": "Wait, but I need to check the second condition again. ", "times": None}]}
    model = mock.script("probable", {"attempts": [loop, {"steps": [{"raw": raw}, {"end": "stop"}]}]})
    report = _ask(guards, path, model, logprobs=True)
    assert report.content == "Blue"
    assert json.dumps(said) in json.dumps(report.frames)
    assert len(_asked(mock)) == 2


@pytest.mark.parametrize("path", PATHS)
def test_the_token_limit_is_raised_after_truncated_thinking_and_only_then(
    mock: MockOllama, guards: Guards, path: str
) -> None:
    body = {**fields(path, Question(f"mock:{PREFIX}truncated", limit=50)), "stream": True}
    asyncio.run(ask(guards({"empty.pause_sec": 0.01}).url, path, body))
    first, second = (json.dumps(each) for each in _asked(mock))
    if path in UNSEEN:  # there it is an empty answer, and the same is asked again
        assert first == second
    else:
        assert ": 50" in first
        assert ": 200" in second
        assert "has been raised" in second
