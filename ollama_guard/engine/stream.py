"""One exchange: `step(input) -> list[output]`. States and moves are in `states.py`, with the theory.

This module says what each input does in each state; `attempt.py` judges what comes from upstream,
`client.py` writes what goes to the client, `verdicts.py` decides what follows from a finding, `ladder.py`
knows what is left to try, `timing.py` what is due.
"""
# ruff: noqa: SLF001  # the table at the end names what is private to its own class

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ollama_guard.engine import words
from ollama_guard.engine.attempt import Judged
from ollama_guard.engine.messages import (
    Begin,
    Bytes,
    ClientGone,
    Closed,
    Drain,
    Failed,
    GoOn,
    Header,
    Headers,
    Input,
    Output,
    Tick,
    Trouble,
)
from ollama_guard.engine.policy import Action
from ollama_guard.engine.refusal import Refusal
from ollama_guard.engine.states import EngineError, State
from ollama_guard.engine.timing import Timing
from ollama_guard.wire.frame import Frame

LONG = 1 << 15
"""Bytes of a frame that is judged by the piece, so that other exchanges get their turn meanwhile."""


class Exchange(Timing):
    """The state machine of one guarded request."""

    def step(self, happened: Input) -> list[Output]:
        """Take one input, give the outputs in order. After the terminal output, always []."""
        if self.state is State.ENDED or self._late(happened):
            return []
        handler = HANDLERS[self.state].get(type(happened))
        if handler is None:
            raise EngineError(f"{type(happened).__name__} cannot happen in {self.state.name}")
        handler(self, happened)
        self._set_wake(happened.now)
        return self._client.take()

    def _late(self, happened: Input) -> bool:
        """Whether this is news of an attempt that has been cut, or replaced."""
        number = getattr(happened, "attempt", None)
        return number is not None and not (number == self._number and self._is_open)

    def _begin(self, happened: Begin) -> None:
        self._began = happened.now
        self._open(happened.now)

    def _headers(self, happened: Headers) -> None:
        attempt, now = self._current(), happened.now
        attempt.frames(b"", now)
        if self._number == 1:
            self._first_byte_took = now - attempt.opened
        streaming = happened.status == 200 and self._is_stream(happened.headers)
        if streaming:
            self._move(State.GUARDING)
            self._client.begin(happened.status, happened.headers, self._extra, now)
        elif self._client.started or self._number > 1:
            self._move(State.REFUSED)
            self._refusal = Refusal(happened.status)
        else:
            self._move(State.PIPING)
            self._client.piped = True
            self._client.start(happened.status, happened.headers, now)

    def _is_stream(self, headers: Sequence[Header]) -> bool:
        found = {name.lower(): value.strip().lower() for name, value in headers}
        kind = found.get(b"content-type", b"").split(b";")[0].strip()
        plain = found.get(b"content-encoding", b"identity") in (b"", b"identity")  # else it cannot be read
        return plain and kind == self._dialect.media_type.encode()

    def _bytes(self, happened: Bytes) -> None:
        self._catch_up(happened.now)
        if self.state is State.GUARDING:
            self._read(iter(self._current().frames(happened.data, happened.now)), happened.now)

    def _read(self, frames: Iterator[Frame], now: float) -> None:
        attempt = self._current()
        for frame in frames:
            if len(frame.data) > LONG:
                self._long = attempt.judge_slowly(frame), frames
                return
            self._frame(attempt.judge(frame), now)
            if self.state is not State.GUARDING:
                return

    @property
    def busy(self) -> bool:
        """Whether a long frame is still being judged: `GoOn` is to come before more of the upstream's."""
        return self._long is not None and self.state is State.GUARDING

    def _go_on(self, happened: GoOn) -> None:
        if self._long is None or not self.busy:
            return
        self._current().alive(happened.now)
        judging, frames = self._long
        try:
            next(judging)
        except StopIteration as end:
            self._long = None
            self._frame(end.value, happened.now)
            if self.state is State.GUARDING:
                self._read(frames, happened.now)

    def _catch_up(self, now: float) -> None:
        while self.busy:
            self._go_on(GoOn(now))

    def _frame(self, judged: Judged, now: float) -> None:
        finding = self._finding_in(judged)
        if finding is not None:
            if not self._overlook(finding, now):
                self._verdict(finding, now)
                return
        elif (self._number > 1 or self._client.whole) and (said := self._current().failed_with):
            self._give_up(words.UPSTREAM, said, now, status=500)
            return
        if self._held.wants(judged, suspect=self._current().suspect):
            self._held.hold(judged)
            return
        self._release(now)
        self._show(judged, now)

    def _closed(self, happened: Closed) -> None:
        attempt, now = self._current(), happened.now
        self._catch_up(now)
        if self._late(happened):
            return
        self._is_open = False
        if self.state is State.WAITING:  # HTTP/0.9-like nonsense: an end without a status line
            self._broke(Failed(happened.attempt, Trouble.PROTOCOL, "no response came", now))
            return
        rest = attempt.rest()
        for frame in rest:
            if frame.data:
                self._frame(attempt.judge(frame), now)
                if self.state is not State.GUARDING:
                    return
        self._fragments = [Judged(frame, ()) for frame in rest if not frame.data]
        self._ended_upstream("the upstream closed the stream before the end of the answer", now)

    def _broke(self, happened: Failed) -> None:
        now, message = happened.now, happened.message
        self._catch_up(now)
        if self._late(happened):
            return
        self._is_open = False
        refused = self._number == 1 and happened.trouble is Trouble.CONNECT
        if self.state is State.WAITING and (refused or not self._policy.empty.retry):
            self._give_up(words.UPSTREAM, message, now)
        else:
            self._ended_upstream(message, now)

    def _ended_upstream(self, message: str, now: float) -> None:
        """The body is over. Good if an ending was seen; else a verdict, or a failure that is said aloud."""
        attempt = self._current()
        ended = attempt.finish is not None or (bool(attempt.failed_with) and self._number == 1)
        left_alone = not attempt.said and not self._policy.empty.retry and self.state is State.GUARDING
        if ended or left_alone:
            self._release(now)
            for judged in self._fragments:  # bytes that are no frame, behind the end of a good answer
                self._show(judged, now)
            self._finish(partial(self._client.end, now))
            return
        finding = attempt.unfinished()
        if finding is not None and self._policy.action_for(finding.kind) is not Action.OBSERVE:
            self._verdict(finding, now)
        else:
            self._held.drop()
            self._give_up(words.UPSTREAM, message, now)

    def _pipe(self, happened: Bytes) -> None:
        self._client.raw(happened.data, happened.now)

    def _piped(self, happened: Closed) -> None:
        self._is_open = False
        self._finish(partial(self._client.end, happened.now), outcome="passed")

    def _pipe_broke(self, happened: Failed) -> None:
        self._is_open = False
        self._finish(partial(self._client.abort, happened.now), outcome="broken")

    def _gone(self, _: ClientGone) -> None:
        # SDKs leave at the protocol's last word, before the upstream has hung up: the answer was whole.
        whole = self.state is State.GUARDING and self._current().finish is not None and not self._held
        self._cut()
        self._finish(self._client.forget, outcome="done" if whole else "client_gone")

    def _drain(self, happened: Drain) -> None:
        now = happened.now
        self._held.drop()
        self._cut()
        if self.state is State.PIPING:
            self._finish(partial(self._client.abort, now), outcome="drained")
            return
        message = "ollama-guard is being restarted; send the request again"
        self._finish(partial(self._client.error, 503, words.DRAINING, message, now), outcome="drained")

    def _nothing_of_it(self, _: Input) -> None:
        """A helper request's answer that is not looked at."""


Handler = Callable[[Exchange, Any], None]

_ALWAYS: dict[type, Handler] = {
    Tick: Exchange._tick,
    GoOn: Exchange._go_on,
    ClientGone: Exchange._gone,
    Drain: Exchange._drain,
}

HANDLERS: dict[State, dict[type, Handler]] = {
    State.NEW: {**_ALWAYS, Begin: Exchange._begin},
    State.WAITING: {
        **_ALWAYS,
        Headers: Exchange._headers,
        Closed: Exchange._closed,
        Failed: Exchange._broke,
    },
    State.GUARDING: {**_ALWAYS, Bytes: Exchange._bytes, Closed: Exchange._closed, Failed: Exchange._broke},
    State.PIPING: {**_ALWAYS, Bytes: Exchange._pipe, Closed: Exchange._piped, Failed: Exchange._pipe_broke},
    State.REFUSED: {
        **_ALWAYS,
        Bytes: Exchange._refusal_bytes,
        Closed: Exchange._refused,
        Failed: Exchange._refused,
    },
    State.PAUSING: _ALWAYS,
    State.PROBING: {
        **_ALWAYS,
        Headers: Exchange._nothing_of_it,
        Bytes: Exchange._show_bytes,
        Closed: Exchange._shown_all,
        Failed: Exchange._shown_all,
    },
    State.RECOVERING: {
        **_ALWAYS,
        Headers: Exchange._nothing_of_it,
        Bytes: Exchange._nothing_of_it,
        Closed: Exchange._unloaded,
        Failed: Exchange._unloaded,
    },
}
"""What each state does with each input. A pair that is not here cannot happen, and raises."""
