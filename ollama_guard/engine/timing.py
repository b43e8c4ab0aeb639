"""Everything that happens because time passes: pauses, limits, recovery, the commit, heartbeats."""

from functools import partial

from ollama_guard.engine.messages import Tick, Wake
from ollama_guard.engine.recovery import Recovery
from ollama_guard.engine.states import State

LOOK_SEC = 0.25
"""How long a wake that was asked for stands while frames stream in."""


class Timing(Recovery):
    """One timer for the whole exchange: `Wake` asks for it, `Tick` is its answer."""

    def _tick(self, happened: Tick) -> None:
        now = happened.now
        self._wake = None
        if self.state in (State.PAUSING, State.WAITING) and _due(self._ladder.keepalive_until, now):
            self._cut()
            self._finish(partial(self._client.abort, now), outcome="aborted")
        elif self.state is State.PAUSING and _due(self._next_at, now):
            self._open(now)
        elif self.state is State.RECOVERING and _due(self._next_at, now):
            self._cut()
            self._pause(self._plan, now, now)
        elif self.state is State.PROBING and _due(self._next_at, now):
            self._cut()
            self._continue_probed(now)
        elif self.state in (State.WAITING, State.GUARDING):
            self._look_at_the_clock(now)
        if self.state is not State.ENDED:
            self._speak_up(now)

    def _look_at_the_clock(self, now: float) -> None:
        attempt = self._current()
        finding = attempt.overdue(now)
        if finding is None:
            if _due(self._recovery_at(), now):
                self._recover(now)
        elif attempt.finish is not None:
            self._cut()  # the answer is whole; only the upstream has not hung up
            self._finish(partial(self._client.end, now))
        elif not self._overlook(finding, now):
            self._verdict(finding, now)

    def _speak_up(self, now: float) -> None:
        if not self._client.started:
            if _due(self._commit_at(), now):
                self._client.start_stream(self._extra, now)
                self._client.heartbeat(self._policy.data_sec, now)
        elif _due(self._heartbeat_at(), now):
            self._client.heartbeat(self._policy.data_sec, now)

    def _commit_at(self) -> float | None:
        return None if self._client.started else self._began + self._commit_after()

    def _commit_after(self) -> float:
        return self._policy.whole_commit_sec if self._client.whole else self._policy.commit_sec

    def _heartbeat_at(self) -> float | None:
        over = self._attempt is not None and self._attempt.finish is not None
        silent = self.state is State.PIPING or self._client.inside_frame or not self._client.started
        if silent or (over and self.state is State.GUARDING):
            return None
        return self._client.last_sent + self._policy.heartbeat_sec

    def _looked_lately(self, now: float) -> bool:
        """Frames only put deadlines off, or bring one nearer that is far away: now and then is enough."""
        lately = self._wake is not None and self._looked[0] is self.state and now - self._looked[1] < LOOK_SEC
        if not lately:
            self._looked = (self.state, now)
        return lately

    def _set_wake(self, now: float) -> None:
        if self.state is State.ENDED or self._looked_lately(now):
            return
        times = [self._heartbeat_at(), self._commit_at() if self.state is not State.PIPING else None]
        if self.state in (State.PAUSING, State.PROBING, State.RECOVERING):
            times.append(self._next_at)
        if self.state in (State.PAUSING, State.WAITING):
            times.append(self._ladder.keepalive_until)
        if self.state in (State.WAITING, State.GUARDING):
            times += [self._current().deadline(), self._recovery_at()]
        at = min((time for time in times if time is not None), default=None)
        # An earlier wake than is needed does no harm; asking anew for each frame would.
        if at is not None and (self._wake is None or at < self._wake):
            self._wake = max(at, now)
            self._client.put(Wake(self._wake))


def _due(at: float | None, now: float) -> bool:
    return at is not None and now >= at
