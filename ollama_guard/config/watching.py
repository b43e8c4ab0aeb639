"""The settings of what is seen: loops, channel by channel, and stalls."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ollama_guard.config.marks import MANY, chars, limit, number, says

_BY_PRESET = "by preset"
_AS_DETECT = Meta(extra={"auto": "as in [detect]"})
LONGEST_UNIT = 12_000

Span = Annotated[
    int,
    chars("Shortest repeated run that is a loop, in place of the table.", 2, 1_000_000, auto=_BY_PRESET),
]
Table = Annotated[
    str,
    says(
        "Own table of the repeats (the first copy included) that make a loop, by length of unit. Without *, "
        "longer units are none.",
        form="LENGTH:REPEATS by rising length, * for all others, like 1:40,2:30,8:12,*:10",
        auto=_BY_PRESET,
    ),
]
Repeats = Annotated[
    int, number("The same number of repeats for units of any length.", 2, 1_000_000, auto=_BY_PRESET)
]
PolicyName = Annotated[
    str,
    says(
        "Own function that gives such a table: length of unit -> repeats. It is tried at the start, in a "
        "process of its own.",
        form="MODULE:FUNCTION",
        auto=_BY_PRESET,
    ),
]
Scale = Annotated[
    float, number("Multiplies the repeats that are needed beyond the first copy.", 0.1, 100, auto=_BY_PRESET)
]
Code = Annotated[
    float,
    number(
        "Multiplies them once more for units up to 100 in code (fenced, indented, inline) and tables; with "
        "an own table, in markup and data too.",
        0,
        100,
        zero="no verdict there, nor in data, and nothing is joined across them",
        auto=_BY_PRESET,
    ),
]
Asked = Annotated[
    float,
    number("Multiplies them when the request asks for the repetition.", 1, 1000, auto=_BY_PRESET),
]
BlankRun = Annotated[
    int,
    chars(
        "White space in a row that is a loop (plain blanks: 3,000 at least).",
        0,
        25_000,
        zero="off",
        auto=_BY_PRESET,
    ),
]
UnitMin = Annotated[int, chars("Shortest unit that is a verdict.", 1, LONGEST_UNIT)]
UnitMax = Annotated[int, chars("Longest unit that is a verdict.", 1, LONGEST_UNIT)]
IgnoreChars = Annotated[
    str, says("Characters that are not seen when repetition is looked for.", empty="all are seen")
]
IgnoreStrings = Annotated[
    tuple[str, ...],
    says(
        "Strings that are not seen; where several begin, the longest.",
        form='a list of texts, in an option or variable also as JSON, like ["a, b", " "]',
    ),
]
StripSpace = Annotated[bool, says("White space is not seen (blank_run still counts it).")]


class Channel(Struct, frozen=True, kw_only=True):
    """How soon a repetition is a loop there.

    An own table, `repeats`, or `policy` takes the place of the preset's table, smallest run and scale.
    """

    span_min: Span | None = None
    core_min: (
        Annotated[int, chars("Letters and digits a repeated unit needs.", 0, 1000, auto=_BY_PRESET)] | None
    ) = None
    scale: Annotated[Scale, _AS_DETECT] | None = None
    code: Annotated[Code, _AS_DETECT] | None = None
    asked: Annotated[Asked, _AS_DETECT] | None = None
    table: Annotated[Table, _AS_DETECT] | None = None
    repeats: Annotated[Repeats, _AS_DETECT] | None = None
    policy: Annotated[PolicyName, _AS_DETECT] | None = None
    blank_run: Annotated[BlankRun, _AS_DETECT] | None = None
    unit_min: Annotated[UnitMin, _AS_DETECT] | None = None
    unit_max: Annotated[UnitMax, _AS_DETECT] | None = None
    ignore_chars: Annotated[IgnoreChars, _AS_DETECT] | None = None
    ignore_strings: Annotated[IgnoreStrings, _AS_DETECT] | None = None
    strip_space: Annotated[StripSpace, _AS_DETECT] | None = None


class Reasoning(Channel, frozen=True, kw_only=True):
    """How soon a repetition in reasoning is a loop."""


class Content(Channel, frozen=True, kw_only=True):
    """How soon a repetition in an answer is a loop."""


class Tool(Channel, frozen=True, kw_only=True):
    """How soon a repetition in the arguments of a tool call is a loop."""


class Channels(Struct, frozen=True, kw_only=True):
    """The thresholds of each channel. They go before those of [detect], and these before the preset's."""

    reasoning: Reasoning = Reasoning()
    content: Content = Content()
    tool: Tool = Tool()


Acts = Literal["observe", "stop", "intervene"]
ActsOrOff = Literal["off", "observe", "stop", "intervene"]
AsksOrOff = Literal["off", "observe", "intervene"]  # to end an empty answer would be to make it one
_AS = "as detect.action"


class Actions(Struct, frozen=True, kw_only=True):
    """What a verdict leads to, by its kind, where that is not to be `action` of [detect]."""

    periodic: Annotated[Acts, says("The text repeats back to back.", auto=_AS)] | None = None
    variant: (
        Annotated[ActsOrOff, says("The same with other punctuation or white space.", auto=_AS)] | None
    ) = None
    drift: Annotated[ActsOrOff, says("The same with other numbers or small edits.", auto=_AS)] | None = None
    novelty: Annotated[ActsOrOff, says("A long stretch says nothing new.", auto=_AS)] | None = None
    token_run: Annotated[Acts, says("Ollama itself ended a run of equal tokens.", auto=_AS)] | None = None
    stall: Annotated[ActsOrOff, says("Reasoning goes on with no answer.", auto=_AS)] | None = None
    total: Annotated[ActsOrOff, says("One attempt goes on for too long.", auto=_AS)] | None = None
    silent: Annotated[ActsOrOff, says("Nothing comes for longer than is plausible.", auto=_AS)] | None = None
    empty: Annotated[AsksOrOff, says("The answer has neither text nor tool call.", auto=_AS)] | None = None
    truncated: Annotated[AsksOrOff, says("The token limit cut the thinking off.", auto=_AS)] | None = None


class Detect(Struct, frozen=True, kw_only=True):
    """What counts as a loop, and what a verdict leads to.

    From `scale` to `strip_space` all can be said for one channel too, which then goes before this.
    """

    preset: Annotated[
        Literal["balanced", "strict"], says("strict stops sooner, and stops more that is healthy.")
    ] = "balanced"
    action: Annotated[
        Literal["intervene", "stop", "observe"],
        says("On a verdict: ask again inside the same answer, end the answer there, or only log it."),
    ] = "intervene"
    reasoning: Annotated[bool, says("Watch reasoning.")] = True
    content: Annotated[bool, says("Watch answers.")] = True
    tool_arguments: Annotated[bool, says("Watch the arguments of tool calls.")] = True
    variant: Annotated[bool, says("Find repeats that differ in punctuation and white space.")] = True
    drift: Annotated[bool, says("Find repeats that differ in numbers or small edits.")] = True
    novelty: Annotated[bool, says("Find long stretches that say nothing new.")] = True
    repeat_span_min: (
        Annotated[
            int, chars("Reasoning: shortest repeated run that is a loop.", 2, 1_000_000, auto="by preset")
        ]
        | None
    ) = None
    content_repeat_span_min: (
        Annotated[int, chars("Answer: shortest repeated run that is a loop.", 2, 1_000_000, auto="by preset")]
        | None
    ) = None
    repeat_core_min: (
        Annotated[int, chars("Letters and digits a repeated unit needs.", 1, 1000, auto="by preset")] | None
    ) = None
    variant_repeats_min: Annotated[int, number("Varying copies that make a loop.", 2, 1000, "copies")] = 3
    window: Annotated[int, chars("How much of the latest text is searched.", 25_000, 1_000_000)] = 25_000
    scale: Scale | None = None
    code: Code | None = None
    asked: Asked | None = None
    table: Table | None = None
    repeats: Repeats | None = None
    policy: PolicyName | None = None
    blank_run: BlankRun | None = None
    unit_min: UnitMin = 1
    unit_max: UnitMax = LONGEST_UNIT
    ignore_chars: IgnoreChars = ""
    ignore_strings: IgnoreStrings = ()
    strip_space: StripSpace = False
    actions: Actions = Actions()
    channels: Channels = Channels()


class Stall(Struct, frozen=True, kw_only=True):
    """How long a model may think, answer, or say nothing.

    Models marked as cloud by their name (`:cloud`, `-cloud`) have defaults of their own, since local ones
    are slow and healthy. max_reasoning_sec, reasoning_char_limit and max_total_sec, when set, hold for both.
    """

    max_reasoning_sec: (
        Annotated[
            float,
            limit(
                "Reasoning with no answer yet, from its first token (local 1800, cloud 60).",
                auto="by kind of model",
            ),
        ]
        | None
    ) = None
    reasoning_char_limit: (
        Annotated[
            int,
            chars(
                "Reasoning with no answer yet (local 200000, cloud 20000).",
                0,
                MANY,
                zero="off",
                auto="by kind of model",
            ),
        ]
        | None
    ) = None
    max_total_sec: (
        Annotated[
            float,
            limit("One attempt, from its first event (local 3600, cloud 120).", auto="by kind of model"),
        ]
        | None
    ) = None
    cloud_reasoning_sec: Annotated[float, limit("max_reasoning_sec of cloud models.")] = 60.0
    cloud_reasoning_chars: Annotated[
        int, chars("reasoning_char_limit of cloud models.", 0, MANY, zero="off")
    ] = 20_000
    cloud_total_sec: Annotated[float, limit("max_total_sec of cloud models.")] = 120.0
    local_reasoning_sec: Annotated[float, limit("max_reasoning_sec of local models.")] = 1800.0
    local_reasoning_chars: Annotated[
        int, chars("reasoning_char_limit of local models.", 0, MANY, zero="off")
    ] = 200_000
    local_total_sec: Annotated[float, limit("max_total_sec of local models.")] = 3600.0
    first_byte_sec: Annotated[float, limit("Silence while the model loads and the prompt is read.")] = 1800.0
    gap_sec: Annotated[float, limit("Silence between two pieces of an answer.")] = 600.0
    tools_gap_sec: Annotated[
        float, limit("The same with tools: Ollama is silent while it writes a call.")
    ] = 1800.0
