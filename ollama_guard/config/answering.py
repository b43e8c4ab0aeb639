"""The settings of what is done: further attempts, what a waiting client gets, repeated tool calls."""

from typing import Annotated, Literal

from msgspec import Struct

from ollama_guard.config.marks import SHORT, limit, number, says, seconds

_SAME = "as the client set it"


class LadderStep(Struct, frozen=True, kw_only=True):
    """One step of the ladder: what the next attempt is asked, and how."""

    name: Annotated[str, says("What the log calls it.", empty="step_ and its number")] = ""
    wording: Annotated[
        Literal["gentle", "firm"], says("The built-in steering message, in the conversation's language.")
    ] = "gentle"
    text: Annotated[
        str, says("Own steering message; {what} stands for the fault.", empty="the built-in one")
    ] = ""
    no_think: Annotated[bool, says("Thinking off.")] = False
    temperature: Annotated[float, number("Sampler: temperature.", 0, 2, auto=_SAME)] | None = None
    top_p: Annotated[float, number("Sampler: top_p.", SHORT, 1, auto=_SAME)] | None = None
    repeat_penalty: Annotated[float, number("Sampler: repeat penalty.", SHORT, 2, auto=_SAME)] | None = None
    frequency_penalty: Annotated[float, number("Sampler: frequency penalty.", -2, 2, auto=_SAME)] | None = (
        None
    )
    seed: (
        Annotated[
            int,
            number("Sampler: seed.", 1, 2**31 - 1, auto="one of the guard's own if another value is moved"),
        ]
        | None
    ) = None
    model: Annotated[str, says("Another model to ask.", empty="the same one")] = ""


class Intervene(Struct, frozen=True, kw_only=True):
    """How a loop or a stall is answered for.

    The simple way: steer, steer_firm and the sampler values change the two steps that are there. With
    `ladder`, all steps are one's own, and these five are not used.
    """

    max_retries: Annotated[int, number("Further attempts after a loop or a stall.", 0, 10, zero="none")] = 2
    recovery_sec: Annotated[float, limit("A further attempt silent for so long: the model is unloaded.")] = (
        60.0
    )
    language: Annotated[
        Literal["auto", "en", "zh"], says("Of what is said to the model. auto: the conversation's.")
    ] = "auto"
    note: Annotated[
        str, says("What is appended to an answer that action stop has ended.", empty="nothing")
    ] = ""
    prefill: Annotated[
        bool, says("Continue a shown answer in place where the model is known to take that.")
    ] = True
    steer: Annotated[str, says("Own words for the first steering message.", empty="built in")] = ""
    steer_firm: Annotated[str, says("Own words for the second, firmer one.", empty="built in")] = ""
    temperature: Annotated[float, number("Sampler of the second further attempt.", 0, 2)] = 0.9
    top_p: Annotated[float, number("Sampler of the second further attempt.", SHORT, 1)] = 0.95
    repeat_penalty: Annotated[float, number("Sampler of the second further attempt.", SHORT, 2)] = 1.15
    ladder: (
        Annotated[
            tuple[LadderStep, ...],
            says(
                "Own steps, one after the other; with more retries than steps, the last repeats. "
                "steer, steer_firm, temperature, top_p and repeat_penalty are used when none is given.",
                form="a list of steps: tables [[intervene.ladder]] in a file, JSON elsewhere",
                auto="two steps, made of these",
            ),
        ]
        | None
    ) = None


class Empty(Struct, frozen=True, kw_only=True):
    """An ending with neither text nor tool call."""

    retry: Annotated[bool, says("Ask the same again after an empty answer.")] = True
    max_retries: Annotated[int, number("Further attempts after empty answers.", 0, 1000)] = 10
    pause_sec: Annotated[float, seconds("First pause between such attempts; it doubles.", most=600)] = 0.5
    pause_max_sec: Annotated[float, seconds("Longest pause between such attempts.", most=600)] = 10.0
    keepalive_sec: Annotated[
        float,
        seconds(
            "After the last empty answer: keep trying for so long, then close the connection.",
            zero="close at once",
        ),
    ] = 300.0


class Truncated(Struct, frozen=True, kw_only=True):
    """An ending by the token limit, with reasoning only."""

    retry: Annotated[bool, says("Go on with a higher limit when thinking was cut off.")] = True
    max_retries: Annotated[int, number("Further attempts after cut-off thinking.", 0, 10)] = 2
    factor: Annotated[int, number("The token limit is multiplied by this each time.", 1, 64)] = 4
    token_cap: Annotated[int, number("It never gets above this.", 1, 1_000_000, "tokens")] = 1_000_000


class Heartbeat(Struct, frozen=True, kw_only=True):
    """What a waiting client gets, so that it does not give up."""

    heartbeat_sec: Annotated[float, limit("Silence after which one is sent.")] = 10.0
    data_sec: Annotated[float, limit("Silence after which one that also resets an SDK's timers is sent.")] = (
        45.0
    )
    commit_sec: Annotated[
        float, seconds("Silence before Ollama's first byte after which status 200 is sent.", least=SHORT)
    ] = 30.0
    whole_commit_sec: Annotated[
        float,
        seconds("The same for a client that waits for one JSON body; blanks then precede it.", least=SHORT),
    ] = 120.0


class Streak(Struct, frozen=True, kw_only=True):
    """The same tool call with the same result, over and over, across the requests of an agent."""

    enabled: Annotated[bool, says("Look for such calls in the history of each request.")] = True
    warn: Annotated[int, number("From so many equal calls on, the model is told.", 2, 1000, "calls")] = 3
    block: Annotated[
        int, number("From so many on, the next one is refused and the model asked again.", 3, 1000, "calls")
    ] = 5
    abort: Annotated[
        int, number("So many refusals in one turn of the user end the answer.", 1, 100, "refusals")
    ] = 3
    action: (
        Annotated[
            Literal["block", "warn", "observe"],
            says(
                "How far it goes: tell the model and refuse, only tell the model, or only log it.",
                auto="observe where detect.action is, else block",
            ),
        ]
        | None
    ) = None
    abort_with: Annotated[
        Literal["text", "error"], says("What the answer is ended with: a text for people, or an error.")
    ] = "text"
    ignored_tools: Annotated[tuple[str, ...], says("Names of tools that may be called again and again.")] = ()
    ignore_errors: Annotated[bool, says("Do not count calls whose result is an error.")] = False
    volatile_fields: Annotated[
        tuple[str, ...],
        says("JSON fields of results that say nothing when they differ, like timestamp or duration."),
    ] = ()
    cycles: Annotated[bool, says("Look for alternating calls too (A B A B).")] = True
    cycle_warn: Annotated[int, number("warn for those.", 2, 1000, "rounds")] = 3
    cycle_block: Annotated[int, number("block for those.", 3, 1000, "rounds")] = 5
    max_cycle: Annotated[int, number("The longest alternation that is looked for.", 2, 8, "calls")] = 4
