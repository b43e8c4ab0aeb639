"""A frame that is healthy goes to the client; a verdict is followed by what the policy and the ladder say."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.engine import words
from ollama_guard.engine.attempt import Attempt, Judged
from ollama_guard.engine.joint import Joint, clean_end
from ollama_guard.engine.ladder import Exhausted, Rung
from ollama_guard.engine.policy import Action
from ollama_guard.engine.probe import Probing
from ollama_guard.events import Channel, Event, Finish, Usage

NEVER_STOPPED = frozenset({Kind.EMPTY, Kind.TRUNCATED})
"""Ending an answer that has nothing in it would make it one."""


class Verdicts(Probing):
    """Showing, and not showing."""

    def _finding_in(self, judged: Judged) -> Finding | None:
        """The verdict in a frame; also on what was to go on from an answer that was cut, and adds nothing.

        Where no step is left it may: the client has an answer, and the model nothing to say.
        """
        finding = judged.finding
        if not self._partial or (finding is not None and finding.kind is not Kind.EMPTY):
            return finding
        ends = any(isinstance(event, Finish) and not event.choice for event in judged.events)
        if not ends or not self._half_said or self._current().called:
            return finding
        last = [event for held in (*self._held, judged) for event in held.events]
        if not self._policy.empty.retry or not self._ladder.has_step or self._joint.adds(last):
            return None
        return Finding(Kind.EMPTY, "content", detail="the continuation adds nothing to the answer")

    @property
    def _half_said(self) -> bool:
        """Whether there is an answer to go on from."""
        return bool(self._partial.strip())

    def _overlook(self, finding: Finding, now: float) -> bool:
        """Action `observe`: write it down and touch nothing."""
        if self._policy.action_for(finding.kind) is not Action.OBSERVE:
            return False
        self._record(finding, "observe", now)
        self._current().stop_watching()
        return True

    def _verdict(self, finding: Finding, now: float) -> None:
        if finding.kind.loop or finding.kind is Kind.CALL_STREAK or self._held.calling:
            self._held.drop()  # half a call must never reach a client: it might be executed
        else:
            self._release(now)
        self._count_cost(self._current())
        self._cut()
        if finding.kind is Kind.CALL_STREAK:
            self._block(finding, now)
            return
        stop = self._policy.action_for(finding.kind) is Action.STOP and finding.kind not in NEVER_STOPPED
        whole = self._current().first_ended and "#" in finding.channel  # only another choice is at fault
        if stop or self._client.called or whole:
            # A call that was delivered cannot be taken back or gone on from: the client acts on it.
            reason = "tool_calls" if self._client.called else "length" if whole and not stop else "stop"
            self._record(finding, "stop", now)
            self._settle(finding)
            self._finish(partial(self._client.ending, reason, self._policy.note, now), outcome="stopped")
            return
        self._keep_clean(finding, now)
        rung = self._next_rung(finding, now)
        self._record(finding, rung.name if isinstance(rung, Rung) else "give_up", now)
        if isinstance(rung, Rung):
            self._go_on_with(rung, now)
        elif rung.abort:
            self._finish(partial(self._client.abort, now), outcome="aborted")
        else:
            self._give_up(words.error_kind(finding.kind), words.gave_up(finding, self._tries), now)

    def _block(self, finding: Finding, now: float) -> None:
        """The very call that was refused before: tell the model, or end."""
        plan = self._streaks.block(self._plan, self._current().calls[0])
        self._record(finding, "block" if plan is not None else "abort", now)
        if plan is not None:
            self._client.settle()
            self._joint = Joint(self._client.shown.text(0), broken=True)
            self._client.next_attempt()
            self._pause(plan, now, now)
        elif self._streaks.ends_in_error:
            self._give_up(words.DEADLOOP, finding.detail, now)
        else:
            tell = partial(self._client.ending, "stop", self._streaks.farewell(), now)
            self._finish(tell, outcome="stopped")

    def _next_rung(self, finding: Finding, now: float) -> Rung | Exhausted:
        if self._request.format and self._partial:
            return Exhausted()  # a grammar starts at its root: half a JSON text cannot be gone on from
        plan = replace(self._plan, partial=self._partial)
        if finding.kind is Kind.EMPTY and self._half_said and self._current().finish is not None:
            return self._ladder.climb(finding, plan)  # asked the same, it would say nothing again
        return self._ladder.next(finding, plan, now)

    def _keep_clean(self, finding: Finding, now: float) -> None:
        """What the client has of the answer up to the loop is what the next attempt goes on from."""
        broken = False
        if self._client.whole and self._request.format:
            self._client.restart(self._dialect.session(self._request, at=self._at))
        else:
            # Thinking between tags is no part of the answer: it does not go back to the model.
            tags = self._current().tags
            answer = self._client.shown.text(tags.answer_at)
            end = self._clean_end(finding, answer)
            self._partial += answer[:end]
            broken = end is not None and bool(answer[end:].strip()) and not self._client.whole
            broken |= self._joint.owes_paragraph
            self._settle(finding)
            if tags.inside:
                self._client.text(f"{tags.inside}\n\n", now)
        self._client.next_attempt()
        self._joint = Joint(self._partial, broken=broken, thought=self._client.thought)

    @staticmethod
    def _clean_end(finding: Finding, answer: str) -> int | None:
        content_loop = finding.kind.loop and finding.channel == "content"
        return clean_end(answer, finding.onset, finding.period) if content_loop else None

    def _settle(self, finding: Finding) -> None:
        """A client that waits for a whole has nothing yet: of what looped, it gets the first copy alone."""
        tags = self._current().tags
        end = self._clean_end(finding, self._client.shown.text(tags.answer_at))
        said = None if end is None else tags.answer_at + end
        looped = finding.kind.loop and finding.channel == "reasoning" and not tags.inside
        self._client.settle({Channel.CONTENT: said, Channel.REASONING: finding.onset if looped else None})

    def _count_cost(self, attempt: Attempt) -> None:
        usage = attempt.usage or Usage(0, attempt.deltas)  # a cut attempt reports none: a delta is a token
        self._spent = Usage(self._spent.prompt + usage.prompt, self._spent.completion + usage.completion)

    def _release(self, now: float) -> None:
        for judged in self._held.release():
            self._show(judged, now)

    def _show(self, judged: Judged, now: float) -> None:
        # A fallback model's name is not the client's business, even where nothing was shown before.
        told = self._client.told or self._client.inside_frame or self._client.whole
        untouched = not told and self._plan.model is None
        if (self._number == 1 and not self._client.spoke_first) or untouched:
            self._client.passed(judged.frame, judged.events, now)
        elif judged.frame.data:
            self._client.spliced(judged.frame, self._joint.mend(self._with_usage(judged.events)), now)

    def _with_usage(self, events: Sequence[Event]) -> Sequence[Event]:
        """Usage over all attempts: the client pays for what was cut, and is told so."""
        spent = self._spent.completion
        return [Usage(e.prompt, e.completion + spent) if isinstance(e, Usage) else e for e in events]
