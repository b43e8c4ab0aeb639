"""Every threshold of the detectors, in one place, each with its reason.

Lengths and masses are in characters (code points). *Mass* is what repeats beyond the first copy. Verdicts
rest on mass and on copies together: a bare count of repeats stops dotted leaders, a bare mass stops long
quotations. The numbers come from recorded loops and from 10,000 files of code, text and data (90 million
characters): the nearest healthy prose reached two thirds of what the tables ask for.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

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
RULE: Table = (Band(8, 6, 600), Band(ANY, 30, 900))  # separators of up to 500; boxes of some twenty lines
BLANK: Table = (Band(ANY, 3, 600),)  # a page of blank lines, a padded column

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


@dataclass(frozen=True, slots=True)
class ChannelRules:
    """What one channel is judged by.

    span_min:    the smallest repeated run, in characters, first copy included, that may be a verdict; it
                 takes the place of the table for units with a core. None = the table.
    span_copies: copies, first one included, that such a run needs at least.
    core_min:    letters and digits that a copy must hold for `span_min` (short units count together).
    text .. blank: the table of each class of units.
    scale:       multiplies the table for this channel.
    code:        multiplies it once more for units up to `code_upto` in code, tables, markup and data, which
                 repeat by nature. 0 = no verdict there, whatever the length.
    asked:       multiplies it when the request asks for the repetition, or already holds it.
    counter:     the table for text that is equal but for a counter; `drift` is for all other numbers.
    drift:       multiplies it for text that is equal but for its numbers; drift_data: for sentences full of
                 symbols and figures. 0 = no verdict. (Records and tables are never a verdict of this kind.)
    novelty:     when prose has too little that is new; None = off.
    thinking:    nobody asked for this text: lists in it are the model's own.
    escaped:     the text is JSON, in which a line break is written as a backslash and a letter.
    blank_run:   white space without a visible character, however mixed, that is a verdict. 0 = off.
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
    scale: float = 1.0
    code: float = 2.0
    code_upto: int = 100
    asked: float = 4.0
    counter: Table = COUNTER
    drift: float = 16.0
    drift_data: float = 0.0
    novelty: Bar | None = STALE_CONTENT
    thinking: bool = False
    escaped: bool = False
    blank_run: int = 1500

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


# No document: lists, refrains and data are rare there.
_REASONING = ChannelRules(
    scale=0.75, code=1.35, drift=12.0, drift_data=16.0, novelty=STALE_REASONING, thinking=True
)
_CONTENT = ChannelRules()
# Data and code by nature, and a cut costs the whole call.
_TOOL = ChannelRules(
    scale=2.0, code=1.0, drift=0.0, drift_data=0.0, novelty=None, blank_run=400, escaped=True
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
