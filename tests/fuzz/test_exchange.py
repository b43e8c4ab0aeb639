"""Any sequence of inputs: at most one open attempt, whole valid frames, one terminal, one row."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ollama_guard.detect.silence import SilenceLimits
from ollama_guard.engine.messages import Abort, Cut, End, Forget, Open, Record, Send, Start, Trouble
from ollama_guard.engine.policy import Action, EmptyPolicy, Policy
from ollama_guard.engine.states import State
from tests.playbook import FORMS, Play, loop

LIMITS = SilenceLimits(reasoning_sec=30, reasoning_chars=4000, total_sec=90, first_byte_sec=100, gap_sec=40)
POLICIES = st.builds(
    Policy,
    limits=st.just(LIMITS),
    action=st.sampled_from(Action),
    max_retries=st.integers(0, 3),
    recovery_sec=st.sampled_from([0.0, 20.0]),
    empty=st.builds(
        EmptyPolicy, retry=st.booleans(), max_retries=st.integers(0, 3), keepalive_sec=st.just(30.0)
    ),
    commit_sec=st.sampled_from([1.0, 30.0]),
)


class ExchangeMachine(RuleBasedStateMachine):
    """The engine under any driver."""

    name: str
    play: Play
    guarded_only = True  # nothing came that is not the dialect's

    @initialize(
        name=st.sampled_from(sorted(FORMS)), policy=POLICIES, tools=st.booleans(), known=st.booleans()
    )
    def start(self, name: str, policy: Policy, tools: bool, known: bool) -> None:
        ask = {"tools": [{"type": "function", "function": {"name": "f"}}]} if tools else {}
        self.play = Play(name, policy, ask=ask, memory={"demo:8b": True} if known else {}).begin()

    def running(self) -> bool:
        return self.play.exchange.state is not State.ENDED

    def state(self) -> State:
        return self.play.exchange.state

    @precondition(lambda self: self.state() is State.WAITING)
    @rule(status=st.sampled_from([200, 200, 200, 400, 429, 500]), stream=st.booleans())
    def headers(self, status: int, stream: bool) -> None:
        self.guarded_only &= stream and status == 200
        self.play.headers(status, None if stream else b"application/json")

    @precondition(lambda self: self.state() in (State.PROBING, State.RECOVERING))
    @rule(body=st.sampled_from([b"{}", b'{"renderer":"qwen3.5"}', b"not json"]))
    def helper_answers(self, body: bytes) -> None:
        self.play.headers(200, b"application/json")
        self.play.data(body)
        self.play.close()

    @precondition(lambda self: self.state() is State.GUARDING)
    @rule(
        what=st.sampled_from(
            ["role", "content", "reasoning", "loop", "think loop", "tool", "dead", "half", "tag"]
        ),
        text=st.text(min_size=1, max_size=20),
    )
    def stream(self, what: str, text: str) -> None:
        play, form = self.play, FORMS[self.play.name]
        match what:
            case "role":
                play.role()
            case "content":
                play.say(text)
            case "reasoning":
                play.think(text)
            case "loop":
                play.say(loop(), size=20)
            case "think loop":
                play.think(loop(), size=20)
            case "tool":
                play.call("f")
            case "dead":
                play.data(form.dead())
            case "tag":
                play.say("<think>")
            case _:
                whole = form.content(text)
                play.data(whole[:20])
                if self.state() is State.GUARDING:
                    play.data(whole[20:])

    @precondition(lambda self: self.state() is State.GUARDING)
    @rule(reason=st.sampled_from(["stop", "length", "tool_calls"]))
    def finish(self, reason: str) -> None:
        self.play.data(FORMS[self.play.name].end(reason))

    @precondition(lambda self: self.state() in (State.GUARDING, State.PIPING, State.REFUSED))
    @rule(data=st.binary(min_size=1, max_size=40))
    def junk(self, data: bytes) -> None:
        self.guarded_only = False
        self.play.data(data)

    @precondition(lambda self: self.state() not in (State.NEW, State.PAUSING, State.ENDED))
    @rule(clean=st.booleans(), trouble=st.sampled_from(Trouble))
    def upstream_ends(self, clean: bool, trouble: Trouble) -> None:
        if clean:
            self.play.close()
        else:
            self.play.fail(trouble)

    @rule(seconds=st.sampled_from([0.3, 2.0, 11.0, 35.0, 120.0]))
    def time_passes(self, seconds: float) -> None:
        self.play.wait(seconds)

    @rule(drain=st.booleans(), really=st.integers(0, 9))
    def somebody_ends_it(self, drain: bool, really: int) -> None:
        if really == 0:
            self.play.drain() if drain else self.play.gone()

    def teardown(self) -> None:
        if not hasattr(self, "play"):
            return
        play = self.play
        if self.running():
            play.gone()
        check(play)
        if self.guarded_only and play.status == 200:
            play.frames()


def check(play: Play) -> None:
    """The invariants, over everything that came out."""
    log = play.log
    terminals = [o for o in log if isinstance(o, End | Abort | Forget)]
    assert len(terminals) == 1
    assert log[-1] is terminals[0]
    rows = [o for o in log if isinstance(o, Record) and o.event == "exchange"]
    assert len(rows) == 1
    starts = [o for o in log if isinstance(o, Start)]
    assert len(starts) <= 1
    sends = [at for at, o in enumerate(log) if isinstance(o, Send)]
    assert not sends or log.index(starts[0]) < sends[0]
    open_now: set[int] = set()
    ended = {o.attempt for o in log if isinstance(o, Cut)}
    for output in log:
        if isinstance(output, Open):
            # An attempt ends by a cut or by its own end; either way the next opens after it.
            assert len(open_now & ended) == 0, "an attempt was opened beside one that is cut later"
            open_now = {output.attempt}
        elif isinstance(output, Cut):
            assert output.attempt in open_now
            open_now.discard(output.attempt)
    attempts = [o.attempt for o in log if isinstance(o, Open)]
    assert attempts == sorted(set(attempts))


def test_the_engine_keeps_its_promises_under_any_driver() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        ExchangeMachine, settings=settings(max_examples=150, stateful_step_count=25, deadline=None)
    )


@pytest.mark.parametrize("name", sorted(FORMS))
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_without_a_verdict_bytes_out_are_bytes_in(name: str, data: st.DataObject) -> None:
    """Random events in random chunks: byte for byte."""
    form = FORMS[name]
    words = st.text(min_size=1, max_size=12)
    kinds = st.sampled_from(["role", "content", "reasoning", "tool"])
    stream = b""
    for kind, text in data.draw(st.lists(st.tuples(kinds, words), min_size=1, max_size=25)):
        if kind == "tool":
            stream += form.tool("f", '{"a":1}')
        elif kind == "role":
            stream += form.role()
        else:
            stream += getattr(form, kind)(text)
    stream += form.content("x") + form.end("stop")
    play = Play(name).begin().headers()
    at = 0
    while at < len(stream):
        size = data.draw(st.integers(1, 400))
        play.data(stream[at : at + size])
        at += size
    play.close()
    assert play.rungs == []
    assert play.sent == stream
