"""What every part of an exchange stands on: its state, its attempt, and the few moves that change them."""

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import partial

from ollama_guard.detect.finding import Finding
from ollama_guard.engine import report
from ollama_guard.engine.attempt import Attempt, Judged
from ollama_guard.engine.client import ClientSide
from ollama_guard.engine.holdback import HoldBack
from ollama_guard.engine.joint import Joint
from ollama_guard.engine.ladder import Ladder, Rung
from ollama_guard.engine.messages import Cut, Header, Open, Record
from ollama_guard.engine.policy import Policy
from ollama_guard.engine.refusal import Refusal
from ollama_guard.engine.states import MOVES, EngineError, State
from ollama_guard.engine.streaks import BlockCounts, Streaks
from ollama_guard.events import Usage
from ollama_guard.wire.dialect import Dialect, Reissue, Request
from ollama_guard.wire.frame import Frame


class Core:
    """State and moves of one exchange; see `states.py` for the theory."""

    def __init__(
        self,
        dialect: Dialect,
        request: Request,
        policy: Policy,
        *,
        at: float = 0.0,
        extra_headers: Sequence[Header] = (),
        own_headers: Sequence[Header] = (),
        memory: MutableMapping[str, bool] | None = None,
        blocks: BlockCounts | None = None,
    ) -> None:
        """`at` is wall clock seconds, for stamps that the dialect must write itself.

        `extra_headers` go with every guarded answer, `own_headers` with those that the guard begins itself.
        `memory`: which models continue an answer in place; `blocks`: tool calls blocked in a user's turn.
        Both are kept by the caller for all its exchanges.
        """
        self.state = State.NEW
        self._dialect = dialect
        self._request = request
        self._policy = policy
        self._extra = extra_headers
        self._at = at
        self._client = ClientSide(dialect, request, dialect.session(request, at=at), own_headers)
        self._ladder = Ladder(policy, tools=request.tools, prompt=request.prompt)
        self._streaks = Streaks(dialect, request, policy.streak, blocks or BlockCounts())
        self._held = HoldBack(policy.held_bytes, whole_answers=self._streaks.armed)
        self._attempt: Attempt | None = None
        self._long: tuple[Iterator[None], Iterator[Frame]] | None = None  # a frame, and those behind it
        self._refusal: Refusal | None = None
        self._fragments: list[Judged] = []
        self._memory = memory if memory is not None else {}
        self._rung: Rung | None = None  # waits for an answer about its model
        self._answer = bytearray()
        self._plan = self._streaks.first_plan()
        self._number = 0
        self._next_at = 0.0
        self._began = 0.0
        self._first_byte_took = 0.0
        self._joint = Joint("")
        self._partial = ""  # clean answer text of attempts that were cut
        self._spent = Usage(0, 0)  # by attempts that were cut
        self._findings: list[str] = []
        self._recoveries = 0
        self._refusals = 0
        self._wake: float | None = None
        self._looked = (State.NEW, 0.0)
        self._is_open = False
        self._tries = 0

    def _move(self, to: State) -> None:
        if to not in MOVES[self.state]:
            raise EngineError(f"no move from {self.state.name} to {to.name}")
        self.state = to

    def _open(self, now: float) -> None:
        self._move(State.WAITING)
        self._number += 1
        self._tries += 1
        self._is_open = True
        self._long = None
        self._attempt = Attempt(
            self._number, self._policy, self._request, self._client.session, self._dialect.framing, now
        )
        self._attempt.judge_calls = self._streaks.judge
        self._attempt.watching.on_fault = self._fault
        self._client.put(Open(self._number, self._dialect.rebuild(self._request, self._plan)))

    def _pause(self, plan: Reissue, until: float, now: float) -> None:
        self._move(State.PAUSING)
        self._plan, self._next_at = plan, until
        if until <= now:
            self._open(now)

    def _helper(self, path: str, body: bytes) -> None:
        """Open a request of the guard's own, which is no attempt."""
        self._number += 1
        self._is_open = True
        self._client.put(Open(self._number, body, path=path))

    def _cut(self) -> None:
        if self._is_open:
            self._is_open = False
            self._client.put(Cut(self._number))

    def _give_up(self, kind: str, message: str, now: float, status: int = 502) -> None:
        self._cut()
        self._finish(partial(self._client.error, status, kind, message, now), outcome="gave_up", error=kind)

    def _finish(self, tell: Callable[[], None], *, outcome: str = "done", error: str = "") -> None:
        """The one way to end: the row, then the terminal output."""
        self._move(State.ENDED)
        tell()
        fields = {
            "dialect": self._dialect.name,
            "model": self._request.model,
            "outcome": outcome if self._findings == [] or outcome != "done" else "recovered",
            "attempts": self._tries,
            "findings": self._findings,
            "bytes": self._client.sent_bytes,
            "heartbeats": self._client.heartbeats,
            "cost_tokens": self._spent.completion,
        }
        if error:
            fields["error"] = error
        self._client.before_the_end(Record("exchange", fields))

    def _fault(self, told: str) -> None:
        """A detector failed: the attempt goes on without."""
        self._client.put(
            Record("fault", {"model": self._request.model, "attempt": self._tries, "error": told})
        )

    def _record(self, finding: Finding, rung: str, now: float) -> None:
        self._findings.append(str(finding.kind))
        self._client.put(report.verdict(finding, rung, self._tries, now - self._current().opened))

    def _current(self) -> Attempt:
        if self._attempt is None:
            raise EngineError("no attempt has been opened")
        return self._attempt
