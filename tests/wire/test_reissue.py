"""How a plan changes a request: the whole table, for each dialect of Ollama's and OpenAI's."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.wire.dialect import Dialect, Reissue, Request, Sampler
from ollama_guard.wire.ollama_chat import OllamaChat
from ollama_guard.wire.ollama_generate import OllamaGenerate
from ollama_guard.wire.openai_chat import OpenAIChat
from ollama_guard.wire.openai_completions import OpenAICompletions
from ollama_guard.wire.reissue import is_zero, unsteered

CHAT, PLAIN, NATIVE, GENERATE = OpenAIChat(), OpenAICompletions(), OllamaChat(), OllamaGenerate()
ALL: tuple[Dialect, ...] = (CHAT, PLAIN, NATIVE, GENERATE)
BOTH: tuple[Dialect, ...] = (CHAT, NATIVE)
ASK = {"role": "user", "content": "Why?"}
SAMPLER = Sampler(temperature=0.5, top_p=0.9, repeat_penalty=1.2, frequency_penalty=0.3, seed=7)

every = pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)
chats = pytest.mark.parametrize("dialect", BOTH, ids=lambda dialect: dialect.name)


def request(dialect: Dialect, **fields: Any) -> Request:
    base = {"messages": [ASK]} if "chat" in dialect.name else {"prompt": "Why?"}
    # Spaces and a key that nobody knows: the body is told from one that was written anew.
    made = dialect.request(
        json.dumps({"model": "demo:8b", "stream": True, "x": 1, **base, **fields}).encode()
    )
    assert made is not None
    return made


def rebuilt(dialect: Dialect, plan: Reissue, **fields: Any) -> Any:
    made = request(dialect, **fields)
    before = copy.deepcopy(dict(made.fields))
    value = json.loads(dialect.rebuild(made, plan))
    assert made.fields == before
    assert list(value)[: len(before)] == list(before)
    return value


@every
def test_a_plan_that_changes_nothing_gives_the_clients_very_bytes(dialect: Dialect) -> None:
    made = request(dialect, keep_alive="5m", max_tokens=5, options={"num_predict": -1}, temperature=1)
    assert dialect.rebuild(made, Reissue()) == made.body


@every
def test_what_the_plan_does_not_name_stays(dialect: Dialect) -> None:
    kept = {
        "tools": [{"type": "function"}],
        "format": "json",
        "logprobs": True,
        "options": {"num_ctx": 5},
        "n": 2,
    }
    kept |= {"stop": ["a"], "tool_choice": "auto", "images": ["aGk="], "context": [1, 2], "think": "high"}
    value = rebuilt(dialect, Reissue(steer="Stop.", model="other:1b"), **kept)
    assert kept.items() <= value.items()
    assert value["model"] == "other:1b"
    assert value["x"] == 1


@chats
def test_a_steer_is_the_last_message(dialect: Dialect) -> None:
    assert rebuilt(dialect, Reissue(steer="Stop."))["messages"] == [ASK, {"role": "user", "content": "Stop."}]


@chats
def test_a_partial_answer_stands_before_the_steer(dialect: Dialect) -> None:
    messages = rebuilt(dialect, Reissue(steer="Go on.", partial="Blue"))["messages"]
    assert messages == [ASK, {"role": "assistant", "content": "Blue"}, {"role": "user", "content": "Go on."}]


@chats
def test_a_prefill_is_the_last_message_and_there_is_no_steer(dialect: Dialect) -> None:
    messages = rebuilt(dialect, Reissue(steer="Go on.", partial="Blue", prefill=True))["messages"]
    assert messages == [ASK, {"role": "assistant", "content": "Blue"}]


@chats
def test_a_partial_answer_joins_the_turn_that_the_client_left_open(dialect: Dialect) -> None:
    open_turn = {"role": "assistant", "content": "The sky", "x": 1}
    messages = rebuilt(dialect, Reissue(steer="Go on.", partial=" is"), messages=[ASK, open_turn])["messages"]
    assert messages[1:] == [
        {"role": "assistant", "content": "The sky is", "x": 1},
        {"role": "user", "content": "Go on."},
    ]


@chats
def test_a_steer_comes_after_tool_results(dialect: Dialect) -> None:
    talk = [
        ASK,
        {"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]},
        {"role": "tool", "content": "1"},
    ]
    assert rebuilt(dialect, Reissue(steer="Stop."), messages=talk)["messages"] == [
        *talk,
        {"role": "user", "content": "Stop."},
    ]
    calling = talk[:2]
    after = rebuilt(dialect, Reissue(partial="x"), messages=calling)["messages"]
    assert after == [*calling, {"role": "assistant", "content": "x"}]


@pytest.mark.parametrize("dialect", [PLAIN, GENERATE], ids=lambda dialect: dialect.name)
def test_a_prompt_grows_by_paragraphs(dialect: Dialect) -> None:
    assert rebuilt(dialect, Reissue(steer="Stop."))["prompt"] == "Why?\n\nStop."
    assert rebuilt(dialect, Reissue(steer="Go on.", partial="Blue"))["prompt"] == "Why?\n\nBlue\n\nGo on."
    assert rebuilt(dialect, Reissue(steer="Go on.", partial="Blue", prefill=True))["prompt"] == "Why?Blue"


def test_a_prompt_without_a_template_is_gone_on_with_in_place() -> None:
    plan = Reissue(steer="Go on.", partial="Blue")
    assert rebuilt(GENERATE, plan, raw=True)["prompt"] == "Why?Blue"
    assert rebuilt(GENERATE, plan, suffix="!")["prompt"] == "Why?Blue"
    assert rebuilt(PLAIN, plan, suffix="!")["prompt"] == "Why?Blue"


@pytest.mark.parametrize("dialect", [NATIVE, GENERATE], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("asked", [{}, {"think": True}, {"think": "high"}, {"think": False}])
def test_thinking_is_turned_off_natively(dialect: Dialect, asked: dict[str, Any]) -> None:
    assert rebuilt(dialect, Reissue(no_think=True), **asked)["think"] is False


def test_thinking_is_turned_off_by_effort() -> None:
    assert rebuilt(CHAT, Reissue(no_think=True))["reasoning_effort"] == "none"
    both = rebuilt(
        CHAT, Reissue(no_think=True), reasoning_effort="high", reasoning={"effort": "high", "y": 2}
    )
    assert (both["reasoning_effort"], both["reasoning"]) == ("none", {"effort": "none", "y": 2})


def test_a_model_that_always_thinks_is_asked_for_little() -> None:
    assert rebuilt(CHAT, Reissue(no_think=True), model="GPT-OSS:20b")["reasoning_effort"] == "low"
    assert rebuilt(NATIVE, Reissue(no_think=True), model="gpt-oss:120b-cloud")["think"] == "low"
    assert rebuilt(NATIVE, Reissue(no_think=True, model="demo:8b"), model="gpt-oss:20b")["think"] is False
    assert rebuilt(CHAT, Reissue(no_think=True, model="gpt-oss:20b"))["reasoning_effort"] == "low"


def test_completions_have_no_way_to_turn_thinking_off() -> None:
    made = request(PLAIN)
    assert PLAIN.rebuild(made, Reissue(no_think=True)) == made.body


@pytest.mark.parametrize("dialect", [NATIVE, GENERATE], ids=lambda dialect: dialect.name)
def test_the_sampler_moves_in_the_options(dialect: Dialect) -> None:
    options = rebuilt(dialect, Reissue(sampler=SAMPLER), options={"num_ctx": 9, "temperature": 0})["options"]
    assert options == {
        "num_ctx": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "repeat_penalty": 1.2,
        "frequency_penalty": 0.3,
        "seed": 7,
    }
    assert rebuilt(dialect, Reissue(sampler=Sampler(seed=1)))["options"] == {"seed": 1}
    for own, expected in ((1.3, 1.3), (1.0, 1.2), ("high", 1.2), (True, 1.2)):
        options = rebuilt(dialect, Reissue(sampler=SAMPLER), options={"repeat_penalty": own})["options"]
        assert options["repeat_penalty"] == expected
    assert "options" not in rebuilt(dialect, Reissue(sampler=Sampler()))


@pytest.mark.parametrize("dialect", [CHAT, PLAIN], ids=lambda dialect: dialect.name)
def test_the_sampler_moves_at_the_top_as_far_as_it_is_read_there(dialect: Dialect) -> None:
    value = rebuilt(dialect, Reissue(sampler=SAMPLER), temperature=0)
    assert (value["temperature"], value["top_p"], value["frequency_penalty"], value["seed"]) == (
        0.5,
        0.9,
        0.3,
        7,
    )
    assert "repeat_penalty" not in value
    assert rebuilt(dialect, Reissue(sampler=Sampler(seed=1)), temperature=0)["temperature"] == 0


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (100, 400),
        (400_000, 1_000_000),
        (2_000_000, 2_000_000),
        (-1, -1),
        (-2, -2),
        (0, 0),
        (None, None),
        (True, True),
    ],
)
def test_a_token_limit_grows_to_the_cap(limit: Any, expected: Any) -> None:
    plan = Reissue(token_factor=4)
    assert rebuilt(NATIVE, plan, options={"num_predict": limit})["options"]["num_predict"] == expected
    value = rebuilt(CHAT, plan, max_tokens=limit, max_completion_tokens=limit)
    assert (value["max_tokens"], value["max_completion_tokens"]) == (expected, expected)


@every
def test_no_token_limit_is_invented(dialect: Dialect) -> None:
    made = request(dialect)
    assert dialect.rebuild(made, Reissue(token_factor=4)) == made.body


@pytest.mark.parametrize("dialect", [NATIVE, GENERATE], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("keep", [0, 0.0, "0", "0s", "0m", "0h0m0s", "-0s"])
def test_a_model_is_kept_until_the_last_attempt(dialect: Dialect, keep: Any) -> None:
    assert rebuilt(dialect, Reissue(), keep_alive=keep)["keep_alive"] == "10s"
    made = request(dialect, keep_alive=keep)
    assert dialect.rebuild(made, Reissue(last=True)) == made.body


@pytest.mark.parametrize(
    "keep",
    [5, -1, "5m", "10s", "-1", "", "s", None, False, True, [], "0x", "00000000000000000000000000000000x"],
)
def test_other_times_to_keep_a_model_stay(keep: Any) -> None:
    assert not is_zero(keep)
    made = request(NATIVE, keep_alive=keep)
    assert NATIVE.rebuild(made, Reissue()) == made.body


@every
def test_a_request_for_one_body_is_streamed_from_upstream(dialect: Dialect) -> None:
    value = rebuilt(dialect, Reissue(), stream=False, stream_options={"y": 2})
    assert value["stream"] is True
    if dialect.path.startswith("/v1/"):
        assert value["stream_options"] == {"y": 2, "include_usage": True}
    absent = json.loads(dialect.rebuild(request(dialect, stream=None), Reissue()))
    assert absent["stream"] is (True if dialect.path.startswith("/v1/") else None)


def test_a_streamed_request_gets_no_usage_that_was_not_asked_for() -> None:
    assert "stream_options" not in rebuilt(CHAT, Reissue(steer="x"))


plans = st.builds(
    Reissue,
    steer=st.none() | st.text(),
    partial=st.text(),
    prefill=st.booleans(),
    no_think=st.booleans(),
    sampler=st.none() | st.just(SAMPLER),
    token_factor=st.integers(1, 8),
    model=st.none() | st.just("m"),
    last=st.booleans(),
)


@every
@given(
    plan=plans,
    stream=st.booleans(),
    more=st.dictionaries(
        st.sampled_from(["options", "reasoning", "stream_options", "keep_alive", "max_tokens", "think"]),
        st.none() | st.integers() | st.text() | st.just({}),
    ),
)
def test_a_rebuilt_request_is_one_again(
    dialect: Dialect, plan: Reissue, stream: bool, more: dict[str, Any]
) -> None:
    base = {"messages": [ASK, "odd", None]} if "chat" in dialect.name else {"prompt": "Why?"}
    made = dialect.request(json.dumps({"model": "demo:8b", "stream": stream, **base, **more}).encode())
    if made is None:
        assert not isinstance(more.get("options"), dict | None)
        return
    before = copy.deepcopy(dict(made.fields))
    again = dialect.request(dialect.rebuild(made, plan))
    assert made.fields == before
    assert again is not None
    assert again.stream
    assert again.model == (plan.model or "demo:8b")


def test_where_no_words_can_steer_the_sampler_moves() -> None:
    plan = unsteered(Reissue(steer="Stop that."))
    assert plan.sampler is not None
    assert plan.sampler.temperature == 0.9
    assert unsteered(Reissue()) == Reissue()
    own = Reissue(steer="Stop that.", sampler=Sampler(temperature=0.2))
    assert unsteered(own) == own
    some = unsteered(Reissue(steer="Stop that.", sampler=Sampler(repeat_penalty=1.1, seed=3))).sampler
    assert some == Sampler(temperature=0.9, top_p=0.95, repeat_penalty=1.1, seed=3)
