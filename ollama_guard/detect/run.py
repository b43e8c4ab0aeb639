"""A run: a stretch of text in which every character equals the one a period before it, and what it needs."""

from typing import NamedTuple


class Goal(NamedTuple):
    """What a run needs: `alarm` repeated characters to be suspicious, `verdict` to be certain.

    again: the mass at which the run is to be judged once more, since more of it tells more; 0 for never.
    """

    alarm: int
    verdict: int
    again: int = 0

    def times(self, factor: float) -> "Goal":
        """The same, further away."""
        return Goal(int(self.alarm * factor), int(self.verdict * factor))


class Run:
    """A stretch that repeats with `period`; offsets are in characters of the tracked text."""

    __slots__ = ("alarm", "final", "need", "period", "ready", "start")

    def __init__(self, period: int, start: int, look: int) -> None:
        self.period = period
        self.start = start
        self.need = look  # the mass at which something is due: judging, or the verdict
        self.alarm = look
        self.ready = False  # whether it was judged
        self.final = False  # whether `need` is that of the verdict

    def __repr__(self) -> str:
        return f"Run(period={self.period}, start={self.start}, need={self.need}, ready={self.ready})"


class Hit(NamedTuple):
    """A run that reached its goal, and the length of the text at the very character where it did."""

    run: Run
    at: int
