"""Frames that are held back: when, for how long, and what becomes of them."""

import json
from dataclasses import replace

import pytest

from ollama_guard.engine.messages import End, Forget, Send, Trouble
from ollama_guard.engine.policy import Action, Policy
from tests.playbook import FORMS, Play

BOTH = pytest.mark.parametrize("name", sorted(FORMS))
SAID = "Short waves scatter more. "
AGAIN = "And so the sky is blue, is it not. "
OTHER = "But at night it is black, as anybody can see who looks up."


def suspicious(name: str, policy: Policy | None = None) -> Play:
    """An answer in the midst of a repetition that is no verdict yet."""
    play = Play(name, policy or Policy()).begin().headers()
    play.role()
    play.say(SAID + AGAIN * 3)
    assert play.rungs == []
    return play


@BOTH
class TestSuspicion:
    def test_the_third_copy_is_not_shown_at_once(self, name: str) -> None:
        play = suspicious(name)
        assert play.text().startswith(SAID + AGAIN)
        assert play.text() in (SAID + AGAIN * 3)[: len(SAID + AGAIN * 2) + 14]

    def test_what_was_held_goes_out_unchanged_when_it_falls_away(self, name: str) -> None:
        play = suspicious(name)
        play.say(OTHER)
        assert play.sent == play.upstream_bytes
        play.finish()
        assert (play.sent, play.rungs, play.outcome) == (play.upstream_bytes, [], "done")

    def test_what_was_held_goes_out_unchanged_with_the_ending(self, name: str) -> None:
        play = suspicious(name)
        assert play.sent != play.upstream_bytes
        play.finish()
        assert (play.sent, play.end, play.outcome) == (play.upstream_bytes, End, "done")

    def test_what_was_held_is_dropped_by_the_verdict(self, name: str) -> None:
        play = suspicious(name)
        shown = play.text()
        play.say(AGAIN * 20)
        assert play.rungs == ["steer"]
        play.answer("It is blue.")
        assert play.text().startswith(shown)
        assert play.text().count(AGAIN) <= 2

    def test_what_was_held_is_shown_if_the_verdict_is_only_observed(self, name: str) -> None:
        play = suspicious(name, replace(Policy(), action=Action.OBSERVE))
        play.say(AGAIN * 20)
        play.finish()
        assert play.sent == play.upstream_bytes

    def test_a_call_after_held_text_keeps_its_place(self, name: str) -> None:
        play = suspicious(name)
        play.call("read_file")
        play.finish("tool_calls" if name == "openai-chat" else "stop")
        assert play.sent == play.upstream_bytes

    def test_a_client_that_leaves_has_not_had_its_answer(self, name: str) -> None:
        play = suspicious(name)
        play.data(FORMS[name].content(AGAIN))
        play.gone()
        assert (play.end, play.outcome, play.cuts) == (Forget, "client_gone", [1])

    def test_a_drain_drops_what_is_held_and_says_so(self, name: str) -> None:
        play = suspicious(name)
        shown = play.text()
        play.drain()
        assert play.text() == shown
        assert (play.error_type(), play.end) == ("ollama_loop_guard_draining", End)

    def test_an_upstream_that_breaks_leaves_whole_frames_and_an_error(self, name: str) -> None:
        play = suspicious(name)
        play.fail(Trouble.RESET)
        assert (SAID + AGAIN * 3).startswith(play.text())
        assert (play.error_type(), play.end) == ("ollama_loop_guard_upstream", End)

    def test_heartbeats_pass_what_is_held(self, name: str) -> None:
        play = suspicious(name)
        before = play.sent
        play.wait(25)
        assert len(play.sent) > len(before)
        assert play.sent.startswith(before)
        play.frames()
        play.say(OTHER)
        assert play.text() == SAID + AGAIN * 3 + OTHER

    def test_more_than_may_be_held_is_let_go(self, name: str) -> None:
        play = suspicious(name, replace(Policy(), held_bytes=100))
        play.say(AGAIN)
        assert len(play.text()) > len(SAID + AGAIN * 3)

    def test_released_frames_are_sent_together_with_the_one_that_releases_them(self, name: str) -> None:
        play = suspicious(name)
        outputs = play.data(FORMS[name].content(OTHER))
        (sent,) = [output.data for output in outputs if isinstance(output, Send)]
        assert json.dumps(OTHER).encode() in sent
        assert AGAIN[-7:].encode() in sent or sent.count(b"demo:8b") > 1
