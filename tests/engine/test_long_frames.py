"""A frame with so much text that judging it takes seconds: it is done by the piece, and changes nothing."""

import pytest

from ollama_guard.engine import stream
from ollama_guard.engine.messages import (
    Bytes,
    ClientGone,
    Closed,
    Drain,
    End,
    Forget,
    GoOn,
    Output,
    Send,
    Tick,
)
from ollama_guard.engine.policy import Policy
from tests.bench.prose import prose
from tests.playbook import FORMS, Play, loop

BOTH = pytest.mark.parametrize("name", sorted(FORMS))
LONG = prose(1, 60_000)


def begun(name: str) -> Play:
    play = Play(name).begin().headers()
    play.role()
    return play


def put(play: Play, data: bytes) -> list[Output]:
    """Bytes from upstream, and no more than the first step for them."""
    play.upstream_bytes += data
    outputs = play.exchange.step(Bytes(play.attempt, data, play.now))
    play.log += outputs
    return outputs


def go_on(play: Play) -> int:
    """All that is left to do; how many steps it took."""
    steps = 0
    while play.exchange.busy:
        play.log += play.exchange.step(GoOn(play.now))
        steps += 1
    return steps


@BOTH
def test_it_takes_many_steps_and_passes_byte_for_byte_with_what_follows_it(name: str) -> None:
    play, form = begun(name), FORMS[name]
    data = form.content("Now: ") + form.content(LONG) + form.content("That was ") + form.content(LONG[::-1])
    assert Send(form.content("Now: ")) in put(play, data + form.content("all."))
    assert play.exchange.busy
    assert go_on(play) > 2 * len(LONG) // 4096
    play.finish()
    assert play.sent == play.upstream_bytes
    assert (play.end, play.outcome) == (End, "done")


@BOTH
@pytest.mark.parametrize("kind", ["content", "reasoning"])
def test_the_verdict_is_the_same_at_the_same_character(
    monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    text = LONG + loop() + LONG

    def verdict() -> object:
        play = begun(name)
        play.data(getattr(FORMS[name], kind)(text))
        return next(row.fields for row in play.rows if row.event == "verdict"), play.cuts, play.sent

    by_the_piece = verdict()
    monkeypatch.setattr(stream, "LONG", 1 << 30)
    assert verdict() == by_the_piece


@BOTH
def test_bytes_that_come_before_it_is_done_wait_their_turn(name: str) -> None:
    play, form = begun(name), FORMS[name]
    put(play, form.content(LONG))
    put(play, form.content("Then more. "))
    assert not play.exchange.busy
    put(play, form.content(LONG))
    put(play, form.end("stop"))
    play.step(Closed(play.attempt, play.now))
    assert play.sent == play.upstream_bytes
    assert play.outcome == "done"


@BOTH
def test_a_verdict_in_it_is_found_too_when_the_upstream_closes_meanwhile(name: str) -> None:
    play = begun(name)
    put(play, FORMS[name].content(LONG + loop()))
    play.step(Closed(play.attempt, play.now))
    assert [row.event for row in play.rows][:1] == ["verdict"]


@BOTH
def test_the_client_may_leave_meanwhile(name: str) -> None:
    play = begun(name)
    put(play, FORMS[name].content(LONG))
    play.step(ClientGone(play.now))
    assert play.end is Forget
    assert not play.exchange.busy
    assert play.exchange.step(GoOn(play.now)) == []


@BOTH
def test_the_service_may_end_meanwhile(name: str) -> None:
    play = begun(name)
    put(play, FORMS[name].content(LONG))
    play.step(Drain(play.now))
    assert play.outcome == "drained"
    assert not play.exchange.busy


@BOTH
def test_the_client_hears_something_meanwhile(name: str) -> None:
    play = begun(name)
    put(play, FORMS[name].content(LONG))
    play.now += Policy().heartbeat_sec + 1
    beat = play.exchange.step(Tick(play.now))
    assert any(isinstance(output, Send) for output in beat)
    assert play.exchange.busy
    go_on(play)
    assert FORMS[name].content(LONG) in play.sent


@BOTH
def test_a_turn_without_a_long_frame_does_nothing(name: str) -> None:
    play = begun(name)
    assert play.exchange.step(GoOn(play.now)) == []
