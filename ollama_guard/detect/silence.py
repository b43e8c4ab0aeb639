"""An attempt judged by the clock: silence, reasoning without an answer, total time.

Owns no clock: every method takes `now`, monotonic seconds. Reasoning counts from its first token and total
time from the first event, so neither holds model load or prompt evaluation against a model. With tools in the
request Ollama is silent while it writes a call: a limit that falls into such a gap waits for the next sign of
life.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from ollama_guard.detect.finding import Finding, Kind

ALIVE_SEC = 2.0
"""With tools, reasoning and total time are judged only so long after the last arrival: later it is a gap."""


@dataclass(frozen=True, slots=True)
class SilenceLimits:
    """Seconds, and characters of reasoning; None = off.

    reasoning_sec, reasoning_chars: reasoning with neither content nor a tool call.
    total_sec: the whole attempt, from its first event. first_byte_sec: until the first byte.
    gap_sec, tools_gap_sec: between bytes, without and with tools in the request.
    """

    reasoning_sec: float | None = None
    reasoning_chars: int | None = None
    total_sec: float | None = None
    first_byte_sec: float | None = None
    gap_sec: float | None = None
    tools_gap_sec: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and value <= 0:
                raise ValueError(f"{field.name} must be more than 0, or None for off; not {value}")


class Silence:
    """The clocks of one attempt. Call `check` at `deadline()`, and after every arrival."""

    def __init__(self, limits: SilenceLimits, *, tools: bool, now: float) -> None:
        self._limits = limits
        self._tools = tools
        self._sent = now
        self._last: float | None = None  # of any byte
        self._first_event: float | None = None
        self._first_reasoning: float | None = None
        self._reasoned = 0
        self._answered = False

    def byte(self, now: float) -> None:
        """Bytes arrived: the upstream lives."""
        self._last = now

    def event(self, now: float) -> None:
        """An event was read; the first one starts the total clock."""
        self.byte(now)
        if self._first_event is None:
            self._first_event = now

    def reasoning(self, chars: int, now: float) -> Finding | None:
        """Reasoning text of this length arrived."""
        self.event(now)
        if self._answered:
            return None
        if self._first_reasoning is None and chars > 0:
            self._first_reasoning = now
        self._reasoned += chars
        limit = self._limits.reasoning_chars
        if limit is not None and self._reasoned >= limit:
            return Finding(
                Kind.STALL,
                "reasoning",
                at=self._reasoned,
                detail=f"{self._reasoned} characters of reasoning with neither content nor a tool call "
                f"(the limit is {limit})",
            )
        return self.check(now)

    def answer(self, now: float) -> None:
        """Content or a tool call was seen: reasoning cannot stall any more."""
        self.event(now)
        self._answered = True

    def check(self, now: float) -> Finding | None:
        """The limit that has passed, the earliest one first; None while all hold."""
        due = [(at, kind) for at, kind in self._dues() if at <= now]
        if not due:
            return None
        _, kind = min(due)
        return Finding(
            kind,
            "reasoning" if kind is Kind.STALL else "",
            at=self._reasoned if kind is Kind.STALL else 0,
            detail=self._sentence(kind, now),
        )

    def deadline(self) -> float | None:
        """When `check` should be called next, if nothing arrives before."""
        return min((at for at, _ in self._dues()), default=None)

    def _dues(self) -> Iterator[tuple[float, Kind]]:
        """When each limit that counts now is passed, if nothing more arrives."""
        limits = self._limits
        if self._last is None:
            if limits.first_byte_sec is not None:
                yield self._sent + limits.first_byte_sec, Kind.SILENT
            return
        gap = limits.tools_gap_sec if self._tools else limits.gap_sec
        if gap is not None:
            yield self._last + gap, Kind.SILENT
        if self._first_reasoning is not None and not self._answered and limits.reasoning_sec is not None:
            yield from self._unless_in_gap(self._first_reasoning + limits.reasoning_sec, Kind.STALL)
        if self._first_event is not None and limits.total_sec is not None:
            yield from self._unless_in_gap(self._first_event + limits.total_sec, Kind.TOTAL)

    def _unless_in_gap(self, at: float, kind: Kind) -> Iterator[tuple[float, Kind]]:
        if not self._tools or self._last is None or at <= self._last + ALIVE_SEC:
            yield at, kind

    def _sentence(self, kind: Kind, now: float) -> str:
        limits = self._limits
        if kind is Kind.STALL:
            return (
                f"{now - (self._first_reasoning or now):.1f} s of reasoning ({self._reasoned} characters) "
                f"with neither content nor a tool call (the limit is {limits.reasoning_sec:g} s)"
            )
        if kind is Kind.TOTAL:
            return (
                f"{now - (self._first_event or now):.1f} s since the attempt's first event "
                f"(the limit is {limits.total_sec:g} s)"
            )
        if self._last is None:
            return (
                f"no byte for {now - self._sent:.1f} s after the request "
                f"(the limit before the first is {limits.first_byte_sec:g} s)"
            )
        gap = limits.tools_gap_sec if self._tools else limits.gap_sec
        return f"no byte for {now - self._last:.1f} s in the midst of an answer (the limit is {gap:g} s)"
