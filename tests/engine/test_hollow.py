"""A further attempt that adds nothing to the answer that was cut."""

from dataclasses import replace

import pytest

from ollama_guard.detect.finding import Kind
from ollama_guard.engine.messages import End
from ollama_guard.engine.policy import Action, EmptyPolicy, Policy
from tests.playbook import Play, loop

PLAIN = Policy(prefill=False)
BOTH = pytest.mark.parametrize("name", ["openai-chat", "ollama-chat"])
CLEAN = "Short waves scatter more."
UNIT = " So the sky is blue, and it stays so."


def cut(name: str, policy: Policy = PLAIN) -> Play:
    """An answer that looped; the next attempt has begun."""
    play = Play(name, policy).begin().headers()
    play.say(CLEAN + loop(UNIT))
    assert play.rungs == ["steer"]
    return play.headers()


def partial(play: Play) -> str:
    """The answer that the latest attempt goes on from."""
    return str(play.bodies[-1]["messages"][1]["content"])


@BOTH
@pytest.mark.parametrize("restated", [False, True])
def test_the_next_step_is_taken_when_nothing_is_added(name: str, restated: bool) -> None:
    play = cut(name)
    before, shown = partial(play), play.text()
    play.role()
    if restated:
        play.say(before)
    play.finish("stop")
    assert play.rungs == ["steer", "steer_firm"]
    assert play.text() == shown
    assert play.endings() == 0
    assert partial(play) == before
    play.answer("At dusk it is red.")
    assert play.text() == shown + "\n\nAt dusk it is red."
    assert (play.endings(), play.end, play.outcome) == (1, End, "recovered")


@BOTH
@pytest.mark.parametrize("restated", [False, True])
def test_with_no_step_left_the_answer_is_what_the_client_has(name: str, restated: bool) -> None:
    play = cut(name, replace(PLAIN, max_retries=1))
    before, shown = partial(play), play.text()
    play.role()
    if restated:
        play.say(before)
    play.finish("stop")
    assert play.rungs == ["steer"]
    assert play.text() == shown
    assert (play.endings(), play.end, play.outcome, play.error_type()) == (1, End, "recovered", None)


@BOTH
def test_more_than_a_restatement_is_an_answer(name: str) -> None:
    play = cut(name)
    shown = play.text()
    play.say(partial(play) + " That is all.")
    play.finish("stop")
    assert play.rungs == ["steer"]
    assert play.text() == shown + "\n\nThat is all."


@BOTH
def test_a_call_behind_a_restatement_is_an_answer(name: str) -> None:
    play = cut(name)
    play.say(partial(play))
    play.call("read_file")
    play.finish("tool_calls")
    assert play.rungs == ["steer"]
    assert play.endings() == 1


@BOTH
def test_a_connection_that_closes_at_once_is_tried_again_as_it_was(name: str) -> None:
    play = cut(name)
    play.role()
    play.close()
    assert play.rungs == ["steer", "same_again"]
    shown = play.text()
    play.wait(1)
    play.answer("At dusk it is red.")
    assert play.text() == shown + "\n\nAt dusk it is red."


@BOTH
@pytest.mark.parametrize(
    ("policy", "recorded"),
    [
        (replace(PLAIN, empty=EmptyPolicy(retry=False)), []),
        (replace(PLAIN, actions={Kind.EMPTY: Action.OBSERVE}), ["observe"]),
    ],
)
def test_where_empty_answers_are_left_alone_so_are_these(
    name: str, policy: Policy, recorded: list[str]
) -> None:
    play = cut(name, policy)
    play.say(partial(play))
    play.finish("stop")
    assert play.rungs == ["steer", *recorded]
    assert (play.endings(), play.end) == (1, End)
