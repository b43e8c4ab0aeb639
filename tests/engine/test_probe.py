"""Going on in place where the model is known to, by an instruction where it is not."""

import pytest

from ollama_guard.engine.messages import Open
from tests.playbook import FORMS, Play, loop

BOTH = pytest.mark.parametrize("name", sorted(FORMS))


def looping(name: str, memory: dict[str, bool]) -> Play:
    play = Play(name, memory=memory).begin().headers()
    play.say("Short waves scatter more. ")
    play.say(loop("And so it is blue, is it not. "))
    return play


@BOTH
def test_a_model_that_is_not_known_is_asked_for_first(name: str) -> None:
    play = looping(name, {})
    helper = play.of(Open)[-1]
    assert (helper.path, play.bodies[-1]) == ("/api/show", {"model": "demo:8b"})


@BOTH
def test_a_continuing_model_goes_on_in_place_with_another_sampler(name: str) -> None:
    play = looping(name, {})
    play.headers(200, b"application/json")
    play.data(b'{"renderer":"qwen3.5"}')
    play.close()
    last = play.bodies[-1]["messages"][-1]
    assert last["role"] == "assistant"
    assert "steer" not in str(play.bodies[-1])
    assert "seed" in str(play.bodies[-1])
    play.answer("At night it is black.")
    assert play.text().endswith("At night it is black.")
    assert play.memory == {"demo:8b": True}


@BOTH
@pytest.mark.parametrize("answer", [b'{"renderer":"gemma4"}', b"{}", b"404 page not found", b"[]"])
def test_any_other_model_is_told_to_go_on(name: str, answer: bytes) -> None:
    play = looping(name, {})
    play.headers(404, b"text/plain")
    play.data(answer)
    play.close()
    assert [m["role"] for m in play.bodies[-1]["messages"]] == ["user", "assistant", "user"]
    assert play.memory == {"demo:8b": False}


@BOTH
def test_a_probe_without_an_answer_holds_nothing_up(name: str) -> None:
    play = looping(name, {})
    play.wait(4)
    assert play.bodies[-1]["messages"][-1]["role"] == "user"
    assert play.memory == {}


@BOTH
def test_what_is_known_is_not_asked_again(name: str) -> None:
    play = looping(name, {"demo:8b": True})
    assert [output.path for output in play.of(Open)] == [None, None]


@BOTH
def test_a_loop_in_reasoning_asks_nothing(name: str) -> None:
    play = Play(name, memory={}).begin().headers()
    play.think(loop())
    assert [output.path for output in play.of(Open)] == [None, None]


@BOTH
def test_a_client_that_leaves_during_the_probe_ends_it(name: str) -> None:
    play = looping(name, {})
    play.gone()
    assert play.cuts == [1, 2]
