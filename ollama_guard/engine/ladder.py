"""Which attempt comes next after a verdict, and when there is none left.

Three budgets, each on its own and only ever falling: loops and stalls (steer, then steer firmly with
thinking off and the sampler moved), empty endings (the same request again, pauses doubling, then keepalive
for a bounded time), truncated thinking (go on, with a higher token limit).
"""

from dataclasses import dataclass, replace

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.engine.policy import Policy
from ollama_guard.engine.words import words_for
from ollama_guard.wire.dialect import Reissue

SHORTEST_PAUSE = 0.05
"""Seconds. Keepalive never turns into a busy loop, whatever the settings say."""

SEED = 7919
"""Any number that a client is unlikely to have used; each step adds one."""


@dataclass(frozen=True, slots=True)
class Rung:
    """The next attempt: what to ask, after which pause, and its name in the log."""

    name: str
    plan: Reissue
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Exhausted:
    """No further attempt. `abort`: end without an ending, so that the client's own retry starts."""

    abort: bool = False


class Ladder:
    """The budgets of one exchange."""

    def __init__(self, policy: Policy, *, tools: bool, prompt: str) -> None:
        self._policy = policy
        self._tools = tools
        self._words = words_for(policy.language, prompt)
        self.loops_left = policy.max_retries
        self.empty_left = policy.empty.max_retries
        self.truncated_left = policy.truncated.max_retries
        self.keepalive_until: float | None = None

    def next(self, finding: Finding, plan: Reissue, now: float) -> Rung | Exhausted:
        """The rung for this verdict. `plan`: what was asked last, with the clean answer text shown so far."""
        if finding.kind is Kind.EMPTY:
            return self._empty(plan, now)
        if finding.kind is Kind.TRUNCATED:
            return self._truncated(plan)
        return self.climb(finding, plan)

    @property
    def has_step(self) -> bool:
        """Whether a step is left after loops and stalls."""
        return self.loops_left > 0 and bool(self._policy.ladder)

    def climb(self, finding: Finding, plan: Reissue) -> Rung | Exhausted:
        """The next step after loops and stalls, whatever the finding."""
        policy = self._policy
        if not self.has_step:
            return Exhausted()
        used = policy.max_retries - self.loops_left
        self.loops_left -= 1
        step = policy.ladder[min(used, len(policy.ladder) - 1)]
        fault = self._words.what(finding)
        own = step.text.replace("{what}", fault)
        text = own or self._words.steer(step.wording, fault, partial=bool(plan.partial), tools=self._tools)
        plan = replace(plan, steer=text, prefill=False, last=self.loops_left == 0)
        if step.no_think:
            plan = replace(plan, no_think=True)
        if step.sampler is not None:
            # The same seed, or temperature 0, would only find the loop again.
            plan = replace(plan, sampler=replace(step.sampler, seed=step.sampler.seed or SEED + used))
        if step.model:
            plan = replace(plan, model=step.model)
        return Rung(step.name, plan)

    def _truncated(self, plan: Reissue) -> Rung | Exhausted:
        policy = self._policy.truncated
        if self.truncated_left <= 0:
            return Exhausted()
        self.truncated_left -= 1
        factor = plan.token_factor * policy.factor
        on = replace(
            plan, steer=self._words.go_on, token_factor=factor, token_cap=policy.token_cap, prefill=False
        )
        return Rung("raise_limit", on)

    def _empty(self, plan: Reissue, now: float) -> Rung | Exhausted:
        policy = self._policy.empty
        if self.empty_left > 0:
            done = policy.max_retries - self.empty_left
            self.empty_left -= 1
            pause = min(policy.pause_sec * 2 ** min(done, 30), policy.pause_max_sec)
            return Rung("same_again", plan, pause)
        if self.keepalive_until is None:
            self.keepalive_until = now + policy.keepalive_sec
        left = self.keepalive_until - now
        if left <= 0:
            return Exhausted(abort=True)
        return Rung("keepalive", plan, min(max(policy.pause_max_sec, SHORTEST_PAUSE), left))
