"""One upstream attempt: its frames, what they said, and whether that is degenerate.

An attempt only judges. What follows from a verdict is decided in `stream.py`.
"""

from collections.abc import Callable, Generator, Sequence

from msgspec import Struct

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.silence import Silence
from ollama_guard.engine.policy import Policy
from ollama_guard.engine.thinktags import Piece, ThinkTags
from ollama_guard.engine.watching import Watching
from ollama_guard.events import Channel, Done, Event, Finish, Text, ToolDelta, UpstreamError, Usage
from ollama_guard.history import Call
from ollama_guard.wire.dialect import Request, Session
from ollama_guard.wire.frame import Frame, Framing
from ollama_guard.wire.framing import Framer

BREAKER_RUN = 30
"""Equal deltas in a row after which an end without an ending is Ollama's own loop breaker (it ends the stream
at the 32nd without an error: ollama llm/llama_server.go; 30 leaves room for a first delta that differs)."""

BREAKER_ERROR = "repeat limit"
"""Part of the error that newer versions of Ollama give instead (ollama PR 18374)."""

JUDGED_ENDINGS = frozenset({"stop", "length", "tool_calls"})
"""Other reasons (`load`, `unload`) end something that is no generation."""


class Judged(Struct, frozen=True):
    """A frame that was read: its events, and the verdict that fell in it."""

    frame: Frame
    events: Sequence[Event]
    finding: Finding | None = None


class Attempt:
    """The upstream's side of one attempt.

    `said` is true once text or a tool call came; `thought` and `answered` tell which of them.
    """

    def __init__(
        self, number: int, policy: Policy, request: Request, session: Session, framing: Framing, now: float
    ) -> None:
        self.number = number
        self.opened = now
        self.first_byte: float | None = None
        self.thought = False
        self.answered = False
        self.called = False
        self.finish: str | None = None
        self.failed_with: str | None = None
        self.usage: Usage | None = None
        self.deltas = 0
        self.watching = Watching(policy.rules, request.prompt, request.talk)
        self._silence = Silence(policy.limits, tools=request.tools, now=now)
        self._framer = Framer(framing)
        self._session = session
        self._now = now
        self._retry_empty = policy.empty.retry
        self._retry_truncated = policy.truncated.retry
        self.tags = ThinkTags()
        self.judge_calls: Callable[[list[Call]], Finding | None] = lambda _: None
        self._calls: dict[int, tuple[str, str]] = {}
        self.first_ended = False  # of the alternative answers (`n` > 1) the one that is gone on from
        self._choices = 1
        self._last = 0
        self._judging = True
        self._speaking = ""  # the channel of the latest text
        session.begin_attempt()

    @property
    def said(self) -> bool:
        """Whether anything came that a person could see."""
        return self.thought or self.answered or self.called

    def frames(self, data: bytes, now: float) -> list[Frame]:
        """Cut received bytes into frames."""
        self._now = now
        if self.first_byte is None:
            self.first_byte = now
        self._silence.byte(now)
        return self._framer.feed(data)

    def alive(self, now: float) -> None:
        """What was received is being read; nothing is waited for."""
        self._now = now
        self._silence.byte(now)

    def rest(self) -> list[Frame]:
        """What the framer still has at the end of the body."""
        return self._framer.close()

    def stop_watching(self) -> None:
        """Judge no more (action `observe`, after the first finding)."""
        self._judging = False

    def judge(self, frame: Frame) -> Judged:
        """Read one frame whole, also when a verdict falls in the middle of it; the first finding counts."""
        if not frame.data:
            return Judged(frame, ())
        events = self._session.read(frame)
        self._silence.event(self._now)  # also one that says nothing: /v1/completions hides reasoning so
        first: Finding | None = None
        for event in events:
            finding = self._event(event)
            first = first or finding
        return Judged(frame, events, first if self._judging else None)

    def judge_slowly(self, frame: Frame) -> Generator[None, None, Judged]:
        """As `judge`, with a pause behind each piece: the text of a long frame takes seconds."""
        self.watching.put_off()
        judged = self.judge(frame)
        found: Finding | None = None
        for found in self.watching.catch_up():
            if found is not None:
                break
            yield
        return Judged(frame, judged.events, (found or judged.finding) if self._judging else None)

    def _event(self, event: Event) -> Finding | None:
        match event:
            case Text():
                return self._text(event)
            case ToolDelta():
                self.called = True
                self._silence.answer(self._now)
                self._call(event)
                if event.arguments:
                    return self.watching.feed(f"tool:{event.index}", event.arguments)
            case Finish():
                self.finish = event.reason
                self.first_ended |= not event.choice
                return (
                    self._pieces(self.tags.rest())
                    or self.judge_calls(self.calls)
                    or self._ending(event.reason)
                )
            case UpstreamError():
                self.failed_with = event.message
                if BREAKER_ERROR in event.message:
                    return self._breaker("the upstream ended a run of equal tokens with an error")
            case Usage():
                self.usage = event
            case Done():
                pass
        return None

    def _call(self, event: ToolDelta) -> None:
        self.deltas += 1
        before = self._calls.get(event.index, ("", ""))
        self._calls[event.index] = (event.name or before[0], before[1] + event.arguments)

    @property
    def calls(self) -> list[Call]:
        """The tool calls so far, in their order."""
        return [Call(name, arguments) for _, (name, arguments) in sorted(self._calls.items())]

    def _text(self, event: Text) -> Finding | None:
        self.deltas += 1
        self._last = len(event.text)
        self._choices = max(self._choices, event.choice + 1)
        if event.choice:
            return self.watching.feed(f"{event.channel}#{event.choice}", event.text)
        if event.channel is Channel.REASONING:
            return self._piece(event.channel, event.text)
        return self._pieces(self.tags.split(event.text))

    def _pieces(self, pieces: list[Piece]) -> Finding | None:
        first: Finding | None = None
        for channel, text in pieces:
            finding = self._piece(channel, text)
            first = first or finding
        return first

    def _piece(self, channel: Channel, text: str) -> Finding | None:
        if channel is Channel.REASONING:
            self.thought = True
            stalled = self._silence.reasoning(len(text), self._now)
            if stalled is not None:
                return stalled
        elif not self.answered:
            self.answered = True
            self._silence.answer(self._now)
        self._speaking = channel
        return self.watching.feed(channel, text)

    def _ending(self, reason: str) -> Finding | None:
        if self._choices > 1 or reason not in JUDGED_ENDINGS:
            return None
        if not self.said:
            return self._empty("the generation ended with nothing in it") if self._retry_empty else None
        if reason == "length" and not self.answered and not self.called and self._retry_truncated:
            return Finding(
                Kind.TRUNCATED, "reasoning", detail="the token limit was reached while the model was thinking"
            )
        return None

    def unfinished(self) -> Finding | None:
        """The body ended, and no ending came: the verdict, if it is one (else it is a plain failure)."""
        run, where = max((self.watching.equal_deltas(c), c) for c in ("reasoning", "content"))
        if run >= BREAKER_RUN:
            return self._breaker(
                f"the upstream ended a run of {run} equal deltas in its {where} without an ending"
            )
        if not self.said and self._retry_empty:
            return self._empty("the upstream closed before it had said anything")
        return None

    @staticmethod
    def _empty(detail: str) -> Finding:
        return Finding(Kind.EMPTY, detail=detail)

    def _breaker(self, detail: str) -> Finding:
        run, where = max((self.watching.equal_deltas(c), c) for c in ("reasoning", "content"))
        length = self.watching.length(where)
        onset = max(0, length - (run - 1) * self._last)  # equal deltas are equally long, but for white space
        return Finding(Kind.TOKEN_RUN, where, onset, length, repeats=run, mass=length - onset, detail=detail)

    @property
    def suspect(self) -> bool:
        """Whether the latest text is part of the way to a verdict: it is better held back."""
        return self._judging and self.watching.suspect(self._speaking)

    def overdue(self, now: float) -> Finding | None:
        """A verdict by the clock."""
        return self._silence.check(now) if self._judging else None

    def deadline(self) -> float | None:
        """When the clock should be looked at next."""
        return self._silence.deadline() if self._judging else None
