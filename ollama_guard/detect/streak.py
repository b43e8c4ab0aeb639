"""The same tool call over and over, across turns: what the tail of a request's own history shows.

A step is one assistant turn with its results; calls made in parallel are one step, which its last call stands
for. Steps are equal when tool, arguments and result are: a changed result (polling) or another argument
(paging) is progress. A message of the user begins anew. The walk goes back from the end, as far as needed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import msgspec

from ollama_guard.history import Call, Result, Round, Said

FARTHEST = 200
"""Steps looked at in any case; a streak that long is a streak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreakRules:
    """warn, block: how many equal steps warn, and which equal call is not delivered.
    abort: blocks in one turn of the user after which the answer ends.
    cycle_warn, cycle_block: the same for cycles of 2 to `max_cycle` calls, in rounds.
    volatile: names of fields whose values do not make a result another one.
    """

    enabled: bool = True
    warn: int = 3
    block: int = 5
    abort: int = 3
    ignored_tools: frozenset[str] = frozenset()
    ignore_errors: bool = False
    cycles: bool = True
    cycle_warn: int = 3
    cycle_block: int = 5
    max_cycle: int = 4
    volatile: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Streak:
    """`calls`: what repeats, in order (one call, or a cycle); `count`: how often it stands at the tail."""

    calls: tuple[Call, ...]
    count: int
    rules: StreakRules = field(repr=False)

    @property
    def warns(self) -> bool:
        """Whether the model is to be told."""
        return self.count >= (self.rules.warn if len(self.calls) == 1 else self.rules.cycle_warn)

    @property
    def blocks(self) -> bool:
        """Whether the same call once more is not to be delivered."""
        return self.count + 1 >= (self.rules.block if len(self.calls) == 1 else self.rules.cycle_block)

    def goes_on(self, call: Call) -> bool:
        """Whether this call would be the next step of the streak."""
        return canonical(call) == canonical(self.calls[0])


def find(history: Iterator[Round | Said], rules: StreakRules) -> Streak | None:
    """The streak at the end of a history (newest first), the shortest cycle that has one; None for none."""
    if not rules.enabled:
        return None
    longest = rules.max_cycle if rules.cycles else 1
    alive = dict.fromkeys(range(1, longest + 1), True)
    steps: list[_Step] = []
    for item in islice(history, FARTHEST):
        step = _step(item, rules) if isinstance(item, Round) else None
        if step is None:
            break
        steps.append(step)
        for size in alive:
            if alive[size] and len(steps) > size:
                alive[size] = steps[-1] == steps[-1 - size]
        # A length that can still become a cycle keeps the walk going.
        if not any(still or len(steps) <= size for size, still in alive.items()):
            break
    return _longest(steps, longest, rules)


def _longest(steps: list["_Step"], longest: int, rules: StreakRules) -> Streak | None:
    for size in range(1, longest + 1):
        same = size
        while same < len(steps) and steps[same] == steps[same - size]:
            same += 1
        count = same // size
        calls = tuple(step.call for step in reversed(steps[:size]))
        found = Streak(calls, count, rules)
        if count > 1 and (found.warns or found.blocks):
            return found
    return None


class _Step:
    """One round, compared by its call and its result; what is costly is made when it is needed."""

    def __init__(self, call: Call, result: Result, volatile: frozenset[str]) -> None:
        self.call = call
        self.result = result
        self._volatile = volatile
        self._key: str | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Step) or self.call.name != other.call.name:
            return NotImplemented if not isinstance(other, _Step) else False
        if self.result.images != other.result.images or self.result.error != other.result.error:
            return False
        return self._same_text(other) and self._arguments() == other._arguments()

    __hash__ = None  # type: ignore[assignment]  # compared, never looked up

    def _arguments(self) -> str:
        if self._key is None:
            self._key = canonical(self.call)
        return self._key

    def _same_text(self, other: "_Step") -> bool:
        mine, its = self.result.text, other.result.text
        if mine == its:
            return True
        return bool(self._volatile) and settled(mine, self._volatile) == settled(its, self._volatile)


def _step(turn: Round, rules: StreakRules) -> _Step | None:
    if not turn.calls or not turn.results:
        return None
    call = turn.calls[-1]
    named = [result for result in turn.results if result.id and result.id == call.id]
    result = named[-1] if named else turn.results[-1]
    if call.name in rules.ignored_tools or (result.error and rules.ignore_errors):
        return None
    return _Step(call, result, rules.volatile)


def canonical(call: Call) -> str:
    """Tool and arguments in one spelling: keys sorted at every depth, numbers and white space canonical.

    Arguments that are no JSON stand as their text.
    """
    arguments = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments) if arguments.strip() else {}
        except (msgspec.DecodeError, RecursionError):
            return f"{call.name}({arguments})"
    try:
        return f"{call.name}({_spelled(arguments)})"
    except RecursionError:
        return f"{call.name}({call.arguments!r})"


def _spelled(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_spelled(value[key])}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_spelled, value)) + "]"
    if isinstance(value, float) and value.is_integer():
        return repr(int(value))
    return repr(value)


def settled(text: str, volatile: frozenset[str]) -> str:
    """A result without the values of its volatile fields: JSON members, and `name: value` or `name=value`."""
    try:
        return _spelled(_without(msgspec.json.decode(text), volatile))
    except (msgspec.DecodeError, RecursionError):
        names = "|".join(map(re.escape, sorted(volatile)))
        return re.sub(rf"(?i)\b({names})\b(\s*[:=]\s*)\S+", r"\1\2", text)


def _without(value: object, names: frozenset[str]) -> object:
    if isinstance(value, dict):
        return {key: _without(member, names) for key, member in value.items() if key not in names}
    if isinstance(value, list):
        return [_without(member, names) for member in value]
    return value
