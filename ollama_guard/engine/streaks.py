"""What an exchange does about a tool call that its request's history shows over and over: warn, block, end.

Warn: the request goes out with a message that names the tool, the count and the unchanged result. Block: that
very call once more is not delivered; the model is told so in the form of the tool's result, and asked again.
Abort: after so many blocks in one turn of the user, the answer ends with a text that says what happened.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field, replace

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.streak import Streak, StreakRules, find
from ollama_guard.history import Call, Said
from ollama_guard.wire.dialect import Dialect, Refused, Reissue, Request

KEPT_TURNS = 1024


class BlockCounts:
    """How many calls were blocked in each of the user's turns; the oldest turns are forgotten."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, int] = OrderedDict()

    def add(self, turn: str) -> int:
        """One more block in this turn; how many there are now."""
        self._counts[turn] = self._counts.pop(turn, 0) + 1
        while len(self._counts) > KEPT_TURNS:
            self._counts.popitem(last=False)
        return self._counts[turn]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreakPolicy:
    """rules: what a streak is. warns, blocks: which of the two are done. error: abort with an error event."""

    rules: StreakRules = field(default_factory=StreakRules)
    warns: bool = True
    blocks: bool = True
    error: bool = False


class Streaks:
    """The streak of one request, if it has one, and what is done about it."""

    def __init__(self, dialect: Dialect, request: Request, policy: StreakPolicy, counts: BlockCounts) -> None:
        self._dialect = dialect
        self._request = request
        self._policy = policy
        self._counts = counts
        looks = request.tools and policy.rules.enabled
        self.streak = find(dialect.history(request), policy.rules) if looks else None

    @property
    def armed(self) -> bool:
        """Whether a certain call must not be delivered: calls are then held until the answer is whole."""
        return self.streak is not None and self.streak.blocks and self._policy.blocks

    def first_plan(self) -> Reissue:
        """The first request: as it is, or with a warning."""
        if self.streak is None or not self.streak.warns or not self._policy.warns:
            return Reissue()
        return Reissue(steer=_warning(self.streak))

    def judge(self, calls: list[Call]) -> Finding | None:
        """The calls of a whole answer; a batch is no step of a streak."""
        if self.streak is None or not self.armed or len(calls) != 1 or not self.streak.goes_on(calls[0]):
            return None
        count = self.streak.count + 1
        return Finding(Kind.CALL_STREAK, "tool:0", repeats=count, detail=_what(self.streak, count))

    def block(self, plan: Reissue, call: Call) -> Reissue | None:
        """The request that tells the model of the refusal; None when it has been told often enough."""
        if self._counts.add(self._turn()) >= self._policy.rules.abort:
            return None
        return replace(plan, steer=None, refused=(*plan.refused, Refused(call, _refusal(call))))

    def _turn(self) -> str:
        """What tells this turn of the user from others: the model, what was asked, its first calls' ids."""
        request, first = self._request, ""
        for item in self._dialect.history(request):
            if isinstance(item, Said):
                break
            first = ",".join(call.id for call in item.calls)
        return hashlib.sha256(f"{request.model}\0{request.prompt}\0{first}".encode()).hexdigest()

    @property
    def ends_in_error(self) -> bool:
        """Whether an abort is an error event, and not a text."""
        return self._policy.error

    def farewell(self) -> str:
        """What the client is told when the answer is ended."""
        if self.streak is None:
            return ""
        return (
            f"I stopped here: {_what(self.streak, self.streak.count)}, and I went on asking for it. "
            "Another try will give the same result. Please tell me how to go on. (ended by ollama-guard)"
        )


def _what(streak: Streak, count: int) -> str:
    names = ", ".join(f"`{call.name}`" for call in streak.calls)
    if len(streak.calls) == 1:
        return (
            f"the tool {names} was called {count} times in a row with the same arguments and the same result"
        )
    return f"the tools {names} were called in this order {count} times in a row with unchanged results"


def _warning(streak: Streak) -> str:
    what = _what(streak, streak.count).capitalize()
    return (
        f"[{what}. Its result will not change.] Do not make this call again: "
        "use the result that you have, try something else, or say what keeps you from going on."
    )


def _refusal(call: Call) -> str:
    return (
        f"Refused: `{call.name}` was not run. It was called with these very arguments before, several times, "
        "and its result did not change. Use the result that you have, do something else, or answer the user."
    )
