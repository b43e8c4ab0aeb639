"""Back-to-back repetition at the end of a growing text, for every period at once, in near-constant work.

A *run* of period d is a stretch in which every character equals the one d before it; its `start` is where the
second copy begins, its mass `length - start`. A run is found once its mass reaches anchor + stride of the
tier its period belongs to, however the text was split: positions drive the searches, never deltas. Bounded:
`window + SLACK` characters of text, `MAX_RUNS` runs, `CANDIDATES` places looked at in one search.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from ollama_guard.detect.run import Goal, Hit, Run
from ollama_guard.detect.stretch import common_prefix, common_suffix, telling

CANDIDATES = 6
"""Earlier places of the anchor that one search looks at, nearest first."""
MAX_RUNS = 6
"""Runs followed at once: nested loops have two or three, hostile text would have thousands."""
SLACK = 4096
"""How far the buffer outgrows the window before it is cut: one copy of the window per so many characters."""


class Tier(NamedTuple):
    """A search for periods up to `reach`: every `stride` characters, for the last `anchor` characters."""

    anchor: int
    stride: int
    reach: int


NEAR = Tier(24, 24, 96)
"""Short units. Prose repeats 24 characters seldom by chance."""
FAR = Tier(64, 48, 1 << 40)
"""All others. A long anchor, since lines of code and data have parts in common by nature."""


class Tracker:
    """Feed text; get the first run that has what it needs.

    judge: called when a run's mass reaches look(period), and again where its goal says so (`run.need` is the
           mass then); answers with its goal. The answer must rest on the run's own facts: period, start, and
           the text up to start + need. They never change while it lasts.
    look:  the least mass at which a run of this period is worth judging.
    short: one more search, for verdicts on fewer characters than `NEAR` would see in time.
    before_cut: told from which offset on the text is kept, just before the rest is dropped.
    """

    def __init__(  # noqa: PLR0913 (two functions and four bounds, all of them needed)
        self,
        judge: Callable[[Run], Goal],
        look: Callable[[int], int],
        *,
        window: int,
        max_period: int,
        short: Tier | None = None,
        before_cut: Callable[[int], None] | None = None,
    ) -> None:
        if max_period + 2 * FAR.anchor > window:
            raise ValueError(f"a window of {window} characters cannot hold a period of {max_period}")
        self._judge = judge
        self._look = lru_cache(maxsize=1024)(look)
        self._window = window
        self._most = window + SLACK
        self._tiers = [tier for tier in (short, NEAR, FAR._replace(reach=max_period)) if tier]
        self._before_cut = before_cut
        self._stride = self._tiers[0].stride
        self._next = self._stride
        self._buffer = ""
        self._rest = ""  # what is still to be added to the buffer: a growing string may be moved as it grows
        self.base = 0
        self.length = 0
        self.runs: list[Run] = []

    def feed(self, text: str) -> Hit | None:
        """Append; the earliest verdict that falls within this text, or None."""
        length = self.length + len(text)
        if length >= self._next:
            return self._feed_searching(text)
        if self.runs:
            return self._append(text)
        self._rest += text  # most deltas: nothing to compare, no search due
        self.length = length
        return None

    def _feed_searching(self, text: str) -> Hit | None:
        left = len(text)
        while left >= (due := self._next - self.length):
            begin = len(text) - left
            piece = text[begin : begin + due]
            left -= due
            self._next += self._stride
            if self.runs:
                hit = self._append(piece)
                if hit is not None:
                    return hit
            else:
                self._rest += piece
                self.length += due
            hit = self._search()
            if hit is not None:
                return hit
        return self.feed(text[-left:]) if left else None

    def text(self, begin: int, end: int) -> str:
        """The tracked text between two offsets, as far as it is still held."""
        if self._rest:
            self._grow("")
        return self._buffer[max(0, begin - self.base) : max(0, end - self.base)]

    def unit(self, run: Run) -> str:
        """One copy: the first one where it is still held, else a later one that starts at the same phase."""
        begin = run.start - run.period
        if begin < self.base:
            begin += -((begin - self.base) // run.period) * run.period
        return self.text(begin, begin + run.period)

    def alarming(self) -> bool:
        """Whether some run has gone far enough to be suspicious."""
        if not self.runs:
            return False
        length = self.length
        return any(run.ready and length - run.start >= run.alarm for run in self.runs)

    def _append(self, text: str) -> Hit | None:
        self._grow(text)
        before = self.length
        self.length = before + len(text)
        return self._extend(text, before) if self.runs else None

    def _grow(self, text: str) -> None:
        # A local name with the only reference lets CPython grow the string in place instead of copying it.
        buffer = self._buffer
        self._buffer = ""
        buffer += self._rest + text
        self._buffer = buffer
        self._rest = ""

    def _extend(self, text: str, before: int) -> Hit | None:
        """Carry each run over the text just appended; drop those that it breaks."""
        buffer, base = self._buffer, self.base
        hit: Hit | None = None
        broken: list[Run] = []
        for run in self.runs:
            compared = before - run.period - base
            if buffer.startswith(text, compared):
                reached = before + len(text)
            else:
                reached = before + common_prefix(buffer, compared, text)
                broken.append(run)
            if reached - run.start >= run.need:
                hit = _earlier(hit, self._consider(run, reached))
        for run in broken:
            self.runs.remove(run)
        return hit

    def _consider(self, run: Run, reached: int) -> Hit | None:
        """The run's mass has come to what it was waiting for: judge it if that is still to be done."""
        while reached - run.start >= run.need:
            if run.final:
                return Hit(run, run.start + run.need)
            run.alarm, verdict, again = self._judge(run)
            run.final = not run.need < again < verdict
            run.need = verdict if run.final else again
            run.ready = True
        return None

    def _search(self) -> Hit | None:
        if self._rest:
            self._grow("")
        buffer = self._buffer
        size = len(buffer)
        if size > self._most:
            self._trim()
            buffer = self._buffer
            size = len(buffer)
        hit: Hit | None = None
        for anchor, stride, reach in self._tiers:
            if self.length % stride or size <= anchor or (self.runs and self._settled(anchor)):
                continue
            tail = buffer[-anchor:]
            low = max(0, size - anchor - reach)
            if anchor > NEAR.anchor and tail.count(tail[0]) > anchor // 5:
                core = telling(tail)
                begin, end = core
                place = buffer.rfind(tail[begin:end], low + begin, size - 1 - anchor + end)
            else:
                core = 0, anchor
                place = buffer.rfind(tail, low, size - 1)
            if place >= 0:
                hit = _earlier(hit, self._scan(tail, core, low, place))
        return hit

    def _settled(self, anchor: int) -> bool:
        """Whether the end of the text is explained: a longer period shows itself when this one breaks."""
        for run in self.runs:
            mass = self.length - run.start
            if mass >= run.period and mass >= anchor:
                return True
        return False

    def _scan(self, tail: str, core: tuple[int, int], low: int, place: int) -> Hit | None:
        """Measure the runs back to where the end of the text stood before, nearest first.

        core: the part of the tail that is searched for; `place` is the nearest one of it.
        """
        hit: Hit | None = None
        buffer, anchor, (begin, end) = self._buffer, len(tail), core
        sought, latest = tail[begin:end], len(buffer) - anchor + begin
        left = CANDIDATES
        while place >= 0:
            if end - begin == anchor or buffer.startswith(tail, place - begin):
                period = latest - place
                if not self._explained(period, anchor):
                    hit = _earlier(hit, self._candidate(period, anchor))
                left -= 1
                if left == 0:
                    break
            place = buffer.rfind(sought, low + begin, place + end - begin - 1)
        return hit

    def _candidate(self, period: int, anchor: int) -> Hit | None:
        """The last `anchor` characters stood there before, so far back: the run that they end."""
        later = len(self._buffer) - anchor
        mass = anchor + common_suffix(self._buffer, later - period, later)
        look = self._look(period)
        room = self._room(mass / (look or 1))
        if not room and mass < look:
            return None
        run = Run(period, self.length - mass, look)
        if room:
            self.runs.append(run)
        return self._consider(run, self.length) if mass >= look else None

    def _explained(self, period: int, anchor: int) -> bool:
        """Whether this distance is followed already, or is but a multiple of one that is."""
        for run in self.runs:
            if run.period == period:
                return True
            covered = self.length - run.start + run.period
            if period % run.period == 0 and covered >= period + anchor:
                return True
        return False

    def _room(self, progress: float) -> bool:
        """Whether a run that has come so far is followed: there is room, or it displaces a weaker one."""
        runs = self.runs
        if len(runs) < MAX_RUNS:
            return True
        length = self.length
        others = [(length - run.start) / (run.need or 1) for run in runs]
        least = min(others)
        if least >= progress:
            return False
        del runs[others.index(least)]
        return True

    def _trim(self) -> None:
        cut = len(self._buffer) - self._window
        if self._before_cut is not None:
            self._before_cut(self.base + cut)
        self._buffer = self._buffer[cut:]
        self.base += cut


def _earlier(one: Hit | None, two: Hit | None) -> Hit | None:
    if two is None:
        return one
    if one is None:
        return two
    return min(one, two, key=lambda hit: (hit.at, hit.run.period))
