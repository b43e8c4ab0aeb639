"""Every threshold of the detectors, in one place, each with its reason.

Lengths and masses are in characters (code points). *Mass* is what repeats beyond the first copy. Verdicts
rest on mass and on copies together: a bare count of repeats stops dotted leaders, a bare mass stops long
quotations. The numbers come from recorded loops and from 55,568 files of code, text and data (587 million
characters), of which five go beyond the tables; what came near is kept in `tests/bench/near.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from ollama_guard.detect.ignored import NOTHING, Ignored
from ollama_guard.detect.shape import Shape


class Band(NamedTuple):
    """For primitive units of at most `upto` characters: `copies` beyond the first, and `mass` characters."""

    upto: int
    copies: float
    mass: int


class Bar(NamedTuple):
    """The share of the latest phrases that stood there `times` before, and for how many windows of them."""

    share: float
    times: int
    windows: float


Table = tuple[Band, ...]


class OwnTable(tuple[Band, ...]):  # noqa: SLOT001 (a tuple can have none with a name)
    """A table that may have thousands of rows. Its hash is made once: rules are looked up by theirs."""

    def __init__(self, _: Iterable[Band] = ()) -> None:
        self._hash = hash(tuple(self))

    def __hash__(self) -> int:
        return self._hash


ANY = 1 << 40

# A short word may be chanted on purpose (refrains, "ha ha ha"); a paragraph is hardly ever said four times.
TEXT: Table = (
    Band(8, 11, 240),
    Band(40, 3, 240),
    Band(200, 4, 0),
    Band(1000, 3, 0),
    Band(4000, 2, 0),
    Band(ANY, 1.6, 0),
)
EMOJI: Table = (Band(ANY, 5, 120),)  # one row of a request for "40 emoji" passes
FLAT: Table = (Band(8, 6, 600), Band(ANY, 6, 1200))  # a matrix of 20 x 20 zeros, runs of 0 in a dump
RULE: Table = (  # separators of up to 500; boxes of some twenty lines, rules with a title between them
    Band(8, 6, 600),
    Band(40, 30, 360),
    Band(100, 30, 900),
    Band(ANY, 12, 3000),
)
BLANK: Table = (Band(ANY, 3, 240),)  # no file has a hundred empty lines
PADDING: Table = (Band(ANY, 3, 3200),)  # blanks cost a model next to nothing; headers are padded to 2,880

# What files of data were seen to repeat (and one in ten thousand goes beyond it).
MARKUP: Table = (Band(1000, 8, 1920), Band(4000, 3, 0), Band(ANY, 2, 0))  # cells, links, cards, stars
FIGURES: Table = (Band(ANY, 12, 6500),)  # a column of the same result, blocks of a matrix
BLOB: Table = (Band(ANY, 3, 8000),)  # zeros in base64, what a source map says of generated code

COUNTER: Table = (  # a list of equal items, a step said again: status lists and forms of some forty rows
    Band(40, 40, 1500),
    Band(100, 16, 1500),
    Band(400, 12, 1500),
    Band(1000, 5, 0),
    Band(4000, 3, 0),
    Band(ANY, 2, 0),
)

STALE_CONTENT = Bar(0.95, 6, 2.0)  # licences and refrains come again, but not for 800 phrases
STALE_REASONING = Bar(0.9, 4, 1.0)
STALE_TOOL = Bar(0.98, 8, 3.0)  # a file of prose may be written in a call; none of 27,000 files came so far


@dataclass(frozen=True, slots=True)
class ChannelRules:
    """What one channel is judged by.

    span_min:    the smallest repeated run, in characters, first copy included, that may be a verdict; it
                 takes the place of the table for units with a core. None = the table.
    span_copies: copies, first one included, that such a run needs at least.
    core_min:    letters and digits that a copy must hold for `span_min` (short units count together).
    text .. padding: the table of each class of units.
    markup, figures, blob: the tables for units of this kind, of whatever class. None = as other code.
    scale:       multiplies the table for this channel.
    code:        multiplies it once more for units up to `code_upto` in code and tables, which repeat by
                 nature; longer ones need no less than these. 0 = no verdict there nor in markup and data.
    code_alike:  whether it does so for all such units. Else for short ones, zeros and what nothing divides
                 less than for lines of code.
    asked:       multiplies it when the request asks for the repetition, or already holds it.
    counter:     the table for text that is equal but for a counter; `drift` is for all other numbers.
    drift:       multiplies it for text that is equal but for its numbers; drift_data: for sentences full of
                 symbols and figures. 0 = no verdict. (Records and tables are never a verdict of this kind.)
    novelty:     when prose has too little that is new; None = off.
    thinking:    nobody asked for this text: lists in it are the model's own.
    escaped:     the text is JSON, in which a line break is written as a backslash and a letter.
    blank_run:   white space without a visible character, however mixed, that is a verdict. 0 = off.
    padding_run: the same for plain blanks, which stand behind text as padding.
    unit_min, unit_max: only units of so many characters are a verdict. White space without end is a unit of
                 one; text that says nothing new has none.
    ignored:     what of the text the detectors do not see.
    """

    enabled: bool = True
    span_min: int | None = None
    span_copies: int = 3
    core_min: int = 5
    text: Table = TEXT
    emoji: Table = EMOJI
    flat: Table = FLAT
    rule: Table = RULE
    blank: Table = BLANK
    padding: Table = PADDING
    markup: Table | None = MARKUP
    figures: Table | None = FIGURES
    blob: Table | None = BLOB
    scale: float = 1.0
    code: float = 4.0
    code_upto: int = 100
    code_alike: bool = False
    asked: float = 4.0
    counter: Table = COUNTER
    drift: float = 16.0
    drift_data: float = 0.0
    novelty: Bar | None = STALE_CONTENT
    thinking: bool = False
    escaped: bool = False
    blank_run: int = 500
    padding_run: int = 3000
    unit_min: int = 1
    unit_max: int = ANY
    ignored: Ignored = NOTHING

    def table(self, shape: Shape) -> Table:
        """The table of a class of units."""
        match shape:
            case Shape.TEXT:
                return self.text
            case Shape.EMOJI:
                return self.emoji
            case Shape.FLAT:
                return self.flat
            case Shape.RULE:
                return self.rule
            case Shape.BLANK:
                return self.blank
            case Shape.PADDING:
                return self.padding


@dataclass(frozen=True, slots=True)
class WatchRules:
    """What an attempt's text is judged by.

    window:     characters looked back at, at least 25,000; more than the longest period.
    max_period: the longest unit, in characters.
    variant, drift, novelty: these families on or off, in all channels.
    variant_copies: copies, the first included, that a variant loop has at least.
    """

    reasoning: ChannelRules
    content: ChannelRules
    tool: ChannelRules
    window: int = 25_000
    max_period: int = 12_000
    variant: bool = True
    drift: bool = True
    novelty: bool = True
    variant_copies: int = 3

    def channel(self, name: str) -> ChannelRules:
        """The rules of "reasoning", "content" or "tool:<index>"."""
        if name.startswith("reasoning"):  # `reasoning#1` is that of a further choice
            return self.reasoning
        return self.tool if name.startswith("tool") else self.content


def _times(table: Table, factor: float) -> Table:
    """The same table with all that it asks for multiplied."""
    return tuple(Band(band.upto, band.copies * factor, round(band.mass * factor)) for band in table)


# No document: refrains and data are rare there, but lists and checks are not: so nearly as much as elsewhere.
_REASONING = ChannelRules(
    scale=0.9,
    code=4.5,
    counter=_times(COUNTER, 5 / 6),
    drift=10.0,
    drift_data=13.3,
    novelty=STALE_REASONING,
    thinking=True,
)
_CONTENT = ChannelRules()
# Data and code by nature, and a cut costs the whole call.
_TOOL = ChannelRules(
    scale=2.0,
    code=2.0,
    counter=_times(COUNTER, 2),
    drift=0.0,
    drift_data=0.0,
    novelty=STALE_TOOL,
    blank_run=400,
    escaped=True,
)

BALANCED = WatchRules(reasoning=_REASONING, content=_CONTENT, tool=_TOOL)
STRICT = WatchRules(
    reasoning=replace(_REASONING, span_min=24, core_min=5),
    content=replace(_CONTENT, span_min=100, core_min=0),
    tool=_TOOL,
)
PRESETS = {"balanced": BALANCED, "strict": STRICT}


def preset(name: str) -> WatchRules:
    """The rules of this name; ValueError names the ones there are."""
    try:
        return PRESETS[name]
    except KeyError:
        raise ValueError(f"no preset {name!r}; there are {', '.join(PRESETS)}") from None


def with_spans(
    rules: WatchRules, *, repeat_span_min: int | None = None, content_repeat_span_min: int | None = None
) -> WatchRules:
    """The same rules with another smallest run in reasoning and in content (None = leave as it is)."""
    for value in (repeat_span_min, content_repeat_span_min):
        if value is not None and value < 2:
            raise ValueError(f"the smallest repeated run must be at least 2 characters, not {value}")
    if repeat_span_min is not None:
        rules = replace(rules, reasoning=replace(rules.reasoning, span_min=repeat_span_min))
    if content_repeat_span_min is not None:
        rules = replace(rules, content=replace(rules.content, span_min=content_repeat_span_min))
    return rules
