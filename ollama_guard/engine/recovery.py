"""An upstream that refuses a later attempt, or that a cut has wedged."""

import msgspec

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.engine import words
from ollama_guard.engine.messages import Bytes, Closed, Failed, Record
from ollama_guard.engine.refusal import Refusal
from ollama_guard.engine.states import EngineError, State
from ollama_guard.engine.verdicts import Verdicts

UNLOAD_SEC = 30.0
"""How long an unload may take before the re-issue goes out all the same."""

RECOVERIES = 1
"""Unloading a second time has nothing new to offer: what is left then is the limit for the first byte."""

REFUSALS = 3
"""How often an error status is asked again in one exchange: what persists is told in the upstream's words."""

UNLOAD_PATH = "/api/generate"


class Recovery(Verdicts):
    """Asking again where that helps."""

    def _recovery_at(self) -> float | None:
        policy, attempt = self._policy, self._current()
        wanted = policy.recovery_sec > 0 and not policy.cloud and self._recoveries < RECOVERIES
        if not wanted or self._tries == 1 or self.state is not State.WAITING:
            return None
        return attempt.opened + max(policy.recovery_sec, 3 * self._first_byte_took)

    def _recover(self, now: float) -> None:
        """No byte since the re-issue: a slot may be leaked (ollama#17131). A new runner has new slots."""
        self._cut()
        self._recoveries += 1
        self._move(State.RECOVERING)
        waited = round(now - self._current().opened, 3)
        self._client.put(Record("recovery", {"model": self._request.model, "waited_sec": waited}))
        self._next_at = now + UNLOAD_SEC
        self._helper(UNLOAD_PATH, msgspec.json.encode({"model": self._request.model, "keep_alive": 0}))

    def _unloaded(self, happened: Closed | Failed) -> None:
        self._is_open = False
        self._pause(self._plan, happened.now, happened.now)

    def _refusal_bytes(self, happened: Bytes) -> None:
        self._refused_with().add(happened.data)

    def _refused(self, happened: Closed | Failed) -> None:
        self._is_open = False
        refusal, now = self._refused_with(), happened.now
        status = f"the upstream answered {refusal.status}"
        self._refusals += 1
        if refusal.retryable() and self._policy.empty.retry and self._refusals <= REFUSALS:
            self._verdict(
                Finding(Kind.EMPTY, detail=status), now
            )  # its text may quote the model: not for the log
        else:
            code = refusal.status if refusal.status >= 400 else 502
            self._give_up(words.UPSTREAM, f"{status}: {refusal.message()}", now, status=code)

    def _refused_with(self) -> Refusal:
        if self._refusal is None:
            raise EngineError("a refusal was to be read that had not begun")
        return self._refusal
