"""What one exchange is judged and treated by: a frozen snapshot, made once when the exchange begins.

Settings that change later do not touch an exchange that runs. All times are seconds, all sizes are
characters unless a name says bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ollama_guard.detect.finding import Kind
from ollama_guard.detect.rules import BALANCED, WatchRules
from ollama_guard.detect.silence import SilenceLimits
from ollama_guard.engine.streaks import StreakPolicy
from ollama_guard.wire.dialect import MOVED, Sampler


class Action(StrEnum):
    """What a verdict leads to."""

    INTERVENE = "intervene"  # cut, and have it answered by a further attempt
    STOP = "stop"  # cut, keep what was sent, end as the model's own stop would
    OBSERVE = "observe"  # record it, touch nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyPolicy:
    """An ending with nothing in it: the same request again, with pauses that double; then keepalive."""

    retry: bool = True
    max_retries: int = 10
    pause_sec: float = 0.5
    pause_max_sec: float = 10.0
    keepalive_sec: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedPolicy:
    """Thinking cut off by the token limit: the limit is raised and the model told to go on."""

    retry: bool = True
    max_retries: int = 2
    factor: int = 4
    token_cap: int = 1_000_000


class Wording(StrEnum):
    """How the steering message of a step speaks."""

    GENTLE = "gentle"
    FIRM = "firm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One rung of the ladder after a loop or a stall.

    name:     what the log calls it. wording: which built-in message, in the conversation's language.
    text:     own message instead; `{what}` stands for the fault. "" = the built-in one.
    no_think: thinking off. sampler: values to set (a seed of its own is added to any). model: another to ask.
    """

    name: str
    wording: Wording = Wording.GENTLE
    text: str = ""
    no_think: bool = False
    sampler: Sampler | None = None
    model: str | None = None


LADDER = (Step(name="steer"), Step(name="steer_firm", wording=Wording.FIRM, no_think=True, sampler=MOVED))


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Every threshold and budget of one exchange.

    action, actions: what a verdict leads to; `actions` by its kind, `action` for the other kinds.
    ladder, max_retries: the steps after loops and stalls; with more retries than steps, the last repeats.
    language: of what is said to the model: "en", "zh", or "auto" for the conversation's.
    note: what is appended to an answer that action `stop` ended; "" = nothing.
    prefill: continue a shown answer in place where the model is known to take that (asked of /api/show).
    recovery_sec: a re-issue with no byte for so long (or three times what the first attempt took to its
    first byte, if that is longer) is recovered from by unloading the model; 0 switches this off.
    commit_sec: silence before the first upstream byte after which the response begins with 200.
    whole_commit_sec: the same for a client that waits for one JSON body: from then on blanks precede it.
    held_bytes: how much may be held back before it is let go in any case.
    """

    rules: WatchRules = BALANCED
    limits: SilenceLimits = field(default_factory=SilenceLimits)
    action: Action = Action.INTERVENE
    actions: Mapping[Kind, Action] = field(default_factory=dict)
    cloud: bool = False
    max_retries: int = 2
    recovery_sec: float = 60.0
    ladder: tuple[Step, ...] = LADDER
    language: str = "auto"
    note: str = ""
    prefill: bool = True
    streak: StreakPolicy = field(default_factory=StreakPolicy)
    empty: EmptyPolicy = field(default_factory=EmptyPolicy)
    truncated: TruncatedPolicy = field(default_factory=TruncatedPolicy)
    heartbeat_sec: float = 10.0
    data_sec: float = 45.0
    commit_sec: float = 30.0
    whole_commit_sec: float = 120.0
    held_bytes: int = 1 << 20

    def action_for(self, kind: Kind) -> Action:
        """What a verdict of this kind leads to."""
        return self.actions.get(kind, self.action)
