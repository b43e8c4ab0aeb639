"""Scripts as data: reading them, choosing among them, cutting their texts."""

from typing import Any

import pytest

from mocks import ask as asks
from mocks.ask import Ask
from mocks.script import Script, ScriptError, Step, choose, load_folder, parse
from mocks.text import pieces
from tests.mocks.asking import request


def asked(text: str = "Why?", **more: Any) -> Ask:
    return asks.read("/api/chat", request("/api/chat", "mock:x", text=text, **more))


def nothing(name: str) -> Script:
    raise KeyError(name)


def made(data: dict[str, object]) -> Script:
    script = parse("made", data)
    assert isinstance(script, Script)
    return script


def test_the_shipped_scripts_read_and_say_what_they_do() -> None:
    scripts = load_folder()
    assert all(script.about for script in scripts.values())
    assert set(scripts) > {
        "healthy", "loop-reasoning", "loop-content", "loop-variant", "loop-long", "loop-tool-args",
        "think-forever", "think-then-silent", "empty", "empty-then-healthy", "truncated", "dies", "eof",
        "error-line", "dead-chunk", "silent", "silent-after-first", "status-400", "status-429", "status-503",
        "tool-call", "tool-call-slow", "breaker", "wedge", "think-tags", "unicode", "redirect", "gzip",
    }  # fmt: skip


def test_every_name_that_a_script_gives_is_there() -> None:
    scripts = load_folder()
    for script in scripts.values():
        for attempt in range(1, 5):
            assert choose(script, asked(), attempt, scripts.__getitem__)


def test_the_long_loop_has_a_unit_of_1500_characters() -> None:
    (step,) = load_folder()["loop-long-always"].steps
    assert len(step.value) == 1500


@pytest.mark.parametrize(
    "data",
    [
        {"stepz": []},
        {"steps": [{"sya": "x"}]},
        {"steps": [{"say": "x", "think": "y"}]},
        {"steps": [{"fault": "explode"}]},
        {"steps": [{"say": "x", "tims": 3}]},
        7,
    ],
)
def test_a_script_with_a_mistake_is_refused(data: object) -> None:
    with pytest.raises(ScriptError):
        parse("bad", data)  # type: ignore[arg-type]


def test_attempts_are_taken_in_order_and_the_last_repeats() -> None:
    script = made({"attempts": [{"about": "a"}, {"about": "b"}]})
    assert [choose(script, asked(), number, nothing).about for number in (1, 2, 3)] == ["a", "b", "b"]


def test_an_answer_is_taken_when_the_last_turn_matches() -> None:
    script = made({"about": "first", "answers": [{"match": "(?i)stop", "script": {"about": "second"}}]})
    assert choose(script, asked("go on"), 1, nothing).about == "first"
    assert choose(script, asked("please STOP"), 1, nothing).about == "second"


def test_scripts_that_name_each_other_in_a_circle_are_refused() -> None:
    a, b = made({"attempts": ["b"]}), made({"attempts": ["a"]})
    with pytest.raises(ScriptError):
        choose(a, asked(), 1, {"a": a, "b": b}.__getitem__)


def test_texts_are_cut_into_deltas() -> None:
    assert list(pieces(Step("say", "abcdefghij", {"chunk": 4}), asked())) == ["abcd", "efgh", "ij"]
    assert list(pieces(Step("say", "abcdef", {"chunks": [1, 2, 3]}), asked())) == ["a", "bc", "def"]
    assert list(pieces(Step("say", "ab", {"times": 3}), asked())) == ["ab"] * 3


def test_a_ramble_never_repeats_and_is_the_same_for_the_same_conversation() -> None:
    step = Step("think", {"ramble": 3000})
    text = "".join(pieces(step, asked()))
    words = text.split()
    windows = {tuple(words[at : at + 4]) for at in range(len(words) - 3)}
    assert len(words) >= 3000
    assert len(windows) == len(words) - 3
    assert text == "".join(pieces(step, asked()))
    assert text != "".join(pieces(step, asked("another question")))


@pytest.mark.parametrize(
    ("partial", "overlap", "said"),
    [
        ("", 0, "one two three"),
        ("one two", 0, " three"),
        ("one two", 3, "two three"),
        ("one tea tea", 0, "wo three"),
    ],
)
def test_resumed_text_goes_on_after_what_the_partial_answer_has(
    partial: str, overlap: int, said: str
) -> None:
    messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": partial}]
    step = Step("say", "one two three", {"resume": True, "overlap": overlap, "chunk": 0})
    assert "".join(pieces(step, asked(messages=messages))) == said


def test_text_is_resumed_from_a_bare_prompt_too() -> None:
    step = Step("say", "One after the other, two, three, four.", {"resume": True, "chunk": 0})
    prompt = "Count.\n\nOne after the other, two, two, two\n\nGo on."
    ask = asks.read("/api/generate", request("/api/generate", "mock:x", text=prompt))
    assert "".join(pieces(step, ask)) == "hree, four."
