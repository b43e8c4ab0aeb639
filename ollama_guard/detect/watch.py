"""The text of one attempt, channel by channel: feed it as it comes, and get the first finding.

The result does not depend on how the text was split. Verbatim repetition is looked for at every character;
what needs the text folded or counted is looked for at every `BLOCK` characters of a channel, at the same
places whatever the deltas were. State is bounded: a few windows of text a channel, and a number of channels.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter

from ollama_guard.detect.apart import LinesOfProse, ProseOnly, Seamed
from ollama_guard.detect.asked import Asked
from ollama_guard.detect.blank import BlankRun, Endless
from ollama_guard.detect.cells import Cells
from ollama_guard.detect.chains import Chains
from ollama_guard.detect.definitions import Definitions
from ollama_guard.detect.drift import Drift
from ollama_guard.detect.edited import Edited
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.ignored import NOTHING, Sieve
from ollama_guard.detect.lines import Lines, OfLines
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.novelty import Novelty
from ollama_guard.detect.page import Page
from ollama_guard.detect.periodic import Periodic
from ollama_guard.detect.recurring import Recurring
from ollama_guard.detect.rows import Rows
from ollama_guard.detect.rules import WatchRules
from ollama_guard.detect.sieved import SeamedSieve, SievedPage, in_whole
from ollama_guard.detect.variant import Variant
from ollama_guard.history import Talk

BLOCK = 64
"""Characters between two looks of the families on folded text. Sixteen deltas share their cost."""
MAX_CHANNELS = 64
"""More tool calls than this in one answer are counted, not watched."""


class Watch:
    """All channels of an attempt. After the first finding it is done, and says nothing more."""

    def __init__(
        self, rules: WatchRules, *, prompt: str = "", talk: Callable[[], Talk] | None = None
    ) -> None:
        """prompt: what the user said. talk: gives the whole conversation, read when a verdict is near."""
        self._rules = rules
        self._asked = Asked(prompt, talk)
        self._channels: dict[str, _Channel] = {}
        self._done = False

    def feed(self, channel: str, text: str) -> Finding | None:
        """Text of "reasoning", "content" or "tool:<index>"; the first finding, once."""
        if self._done or not text:
            return None
        state = self._channels.get(channel)
        if state is None:
            state = self._open(channel)
        finding = state.feed(text)
        self._done = finding is not None
        return finding

    def suspect(self, channel: str) -> bool:
        """Whether the channel is part of the way to a verdict."""
        state = self._channels.get(channel)
        return state is not None and state.alarming()

    def equal_deltas(self, channel: str) -> int:
        """How many of the last deltas in a row were equal after trimming white space (blanks are equal)."""
        state = self._channels.get(channel)
        return state.equal if state is not None else 0

    def length(self, channel: str) -> int:
        """Characters fed so far."""
        state = self._channels.get(channel)
        return state.length if state is not None else 0

    def _open(self, channel: str) -> "_Channel":
        own = self._rules.channel(channel)
        state = _Channel()
        if own.enabled and len(self._channels) < MAX_CHANNELS:
            kind = _Watched if own.ignored == NOTHING else _Sieved
            state = kind(channel, self._rules, self._asked)
        self._channels[channel] = state
        return state


class _Channel:
    """What is counted of a channel that is not watched."""

    def __init__(self) -> None:
        self.length = 0
        self.equal = 0
        self._last: str | None = None

    def feed(self, text: str) -> Finding | None:
        self.length += len(text)
        trimmed = text.strip()
        self.equal = self.equal + 1 if trimmed == self._last else 1
        self._last = trimmed
        return None

    def alarming(self) -> bool:
        return False


class _Watched(_Channel):
    """A channel and its detectors."""

    def __init__(self, name: str, rules: WatchRules, asked: Asked, page: Page | None = None) -> None:
        """page: where the text comes from a sieve, which looks for white space without end itself."""
        super().__init__()
        own = rules.channel(name)
        self._name = name
        self._seen = 0
        self._block_end = BLOCK
        self._blank = BlankRun(own.blank_run if page is None and own.unit_min <= 1 else 0, own.padding_run)
        measure = Measure(own, asked)
        self._periodic = Periodic(measure, window=rules.window, max_period=rules.max_period, page=page)
        page = self._periodic.page
        families: list[Variant] = []
        if rules.variant:
            families.append(Variant(measure, rules, page))
        if rules.drift and (own.drift > 0 or own.drift_data > 0):
            families.append(Drift(measure, rules, page))
        of_lines = _of_lines(measure, rules)
        lines: list[Lines | Chains] = [Lines(of_lines, escaped=own.escaped)] if of_lines else []
        if rules.drift and not own.escaped:
            lines.append(Chains(measure))
        novelty = Novelty(own.novelty, page, measure) if rules.novelty and own.novelty else None
        self._edited = Edited(measure, page) if rules.drift and not own.escaped else None
        self._apart = measure.apart
        self._families: Sequence[Variant | Lines | Chains | Seamed | LinesOfProse] = [*families, *lines]
        self._novelty: Novelty | ProseOnly[int] | None = novelty
        if measure.apart:
            seamed = [Seamed(family, page) for family in families]
            self._families = [*seamed, *(LinesOfProse(family, page) for family in lines)]
            self._novelty = ProseOnly(novelty, page) if novelty else None
        self._alarmed = False  # whether a family that looks at whole blocks is suspicious

    def feed(self, text: str) -> Finding | None:
        trimmed = text.strip()  # what `_Channel.feed` does, without the call: this is the hot path
        self.equal = self.equal + 1 if trimmed == self._last else 1
        self._last = trimmed
        self.length += len(text)
        if self._seen + len(text) < self._block_end:
            self._seen += len(text)
            hit = self._periodic.feed(text)
            return None if hit is None else self._periodic.finding(hit, self._name)
        return self._feed_blocks(text)

    def _feed_blocks(self, text: str) -> Finding | None:
        """Text that reaches the end of a block at least."""
        begin = 0
        while begin < len(text):
            piece = text[begin : begin + self._block_end - self._seen]
            self._seen += len(piece)
            hit = self._periodic.feed(piece)
            if hit is not None:
                return self._periodic.finding(hit, self._name)
            if self._seen == self._block_end:
                self._block_end += BLOCK
                finding = self._block(self._periodic.page.text(self._seen - BLOCK, self._seen))
                if finding is not None:
                    return finding
            begin += len(piece)
        return None

    def alarming(self) -> bool:
        return self._alarmed or self._periodic.alarming()

    def _block(self, text: str) -> Finding | None:
        """A whole block, in which nothing was found so far: the earliest verdict of the other families."""
        blank = self._blank.feed(text)
        if blank is not None and not (self._apart and self._periodic.page.in_code(blank.at - 1)):
            return _endless_blank(self._name, blank)
        hits = [(family, family.feed(text)) for family in self._families]
        self._alarmed = self._blank.alarming() or any(family.alarming() for family in self._families)
        found = [(family.place(hit), family, hit) for family, hit in hits if hit is not None]
        if found:
            _, family, hit = min(found, key=itemgetter(0))
            return family.finding(hit, self._name)
        stale = self._novelty.feed(text) if self._novelty is not None else None
        if self._novelty is not None and stale:
            return self._novelty.finding(stale, self._name)
        edited = self._edited.look(self._seen) if self._edited is not None else None
        return self._edited.finding(edited, self._name) if self._edited is not None and edited else None


def _of_lines(measure: Measure, rules: WatchRules) -> list[OfLines]:
    """What looks at one line after the other."""
    families: list[OfLines] = []
    if rules.drift:
        families.append(Rows(measure))
        if not measure.escaped:  # data
            families.append(Recurring(measure))
        if not measure.apart:  # functions are code
            families.append(Definitions(measure))
    if rules.novelty:
        families.append(Cells(measure))
    return families


class _Sieved(_Channel):
    """A channel of which the detectors see a part. White space without end is looked for in the whole."""

    def __init__(self, name: str, rules: WatchRules, asked: Asked) -> None:
        super().__init__()
        own = rules.channel(name)
        self._name = name
        self._apart = own.code <= 0
        self._sieve = Sieve(own.ignored, held=rules.window, escaped=own.escaped)
        self._page = SievedPage(self._sieve, escaped=own.escaped, apart=self._apart)
        self._seen_of = SeamedSieve(self._sieve, self._page) if self._apart else self._sieve
        self._visible = _Watched(name, rules, asked, self._page)
        self._blank = BlankRun(own.blank_run if own.unit_min <= 1 else 0, own.padding_run)

    def feed(self, text: str) -> Finding | None:
        done, begin = self.length, 0
        super().feed(text)
        while begin < len(text):
            piece = text[begin : begin + BLOCK - (done + begin) % BLOCK]
            begin += len(piece)
            finding = self._feed_piece(piece)
            if finding is None and (done + begin) % BLOCK == 0:
                finding = self._block(done + begin)
            if finding is not None:
                return finding
        return None

    def alarming(self) -> bool:
        return self._visible.alarming() or self._blank.alarming()

    def _feed_piece(self, piece: str) -> Finding | None:
        """A part of a block."""
        self._page.read(piece)
        visible = self._seen_of.feed(piece)
        finding = self._visible.feed(visible) if visible else None
        return in_whole(finding, self._sieve) if finding is not None else None

    def _block(self, end: int) -> Finding | None:
        """A whole block, in which nothing was found so far."""
        blank = self._blank.feed(self._sieve.text(end - BLOCK, end))
        if blank is None or (self._apart and self._page.code_at(blank.at - 1)):
            return None
        return _endless_blank(self._name, blank)


def _endless_blank(channel: str, blank: Endless) -> Finding:
    at, size = blank
    return Finding(
        Kind.VARIANT,
        channel,
        onset=at - size + 1,
        at=at,
        unit=" ",
        period=1,
        repeats=float(size),
        mass=size - 1,
        detail=f"{size} characters of white space without a visible one, from character {at - size}",
    )
