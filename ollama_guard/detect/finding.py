"""What a detector says when it is certain."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Why a generation is degenerate. The first three are loops."""

    PERIODIC = "periodic"  # the tail repeats back to back
    VARIANT = "variant"  # the same unit, with different punctuation or white space between
    DRIFT = "drift"  # the tail repeats but for numbers, counters or small edits
    NOVELTY = "novelty"  # the last stretch says almost nothing new
    TOKEN_RUN = "token_run"  # noqa: S105  the upstream's own breaker ended a run of equal deltas
    CALL_STREAK = "call_streak"  # the same tool call again, with the same result, over and over
    STALL = "stall"  # reasoning goes on past its time or size with no answer
    TOTAL = "total"  # the attempt goes on past its time
    SILENT = "silent"  # no byte for longer than is plausible
    EMPTY = "empty"  # an ending with neither text nor tool call
    TRUNCATED = "truncated"  # an ending by length, with reasoning only

    @property
    def loop(self) -> bool:
        """Whether this is text that repeats (as against a stall, an empty or a truncated answer)."""
        return self in _LOOPS


_LOOPS = frozenset({Kind.PERIODIC, Kind.VARIANT, Kind.DRIFT, Kind.NOVELTY, Kind.TOKEN_RUN})


@dataclass(frozen=True, slots=True)
class Finding:
    """The evidence of a verdict. Offsets and lengths are in code points of the channel's raw text.

    channel: "reasoning", "content", or "tool:<index>"; "" for findings about the attempt as a whole.
    onset:   offset of the first character that is repetition (the start of the second copy).
    at:      offset at which the verdict fell (length of the channel's text then).
    unit:    one copy of what repeats (shortened to 400 characters); period its full length.
    repeats: how many copies, the first one included; mass: repeated characters beyond the first copy.
    detail:  one sentence for people.
    """

    kind: Kind
    channel: str = ""
    onset: int = 0
    at: int = 0
    unit: str = ""
    period: int = 0
    repeats: float = 0.0
    mass: int = 0
    detail: str = ""
