"""Every setting: its type, range, unit, default and meaning, in one typed tree.

The single source for `--help`, `ollama-guard config`, the README's table and every message about a bad
value. Structs are frozen and are not validated when constructed: what people write is read by `config.load`.

0 switches a limit off where its `zero` says so; None follows the rule that `auto` names; "" means what
`empty` says. These words, with `unit` and `shown` ("no" for secrets), stand in `Meta.extra`.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

DAY = 86_400.0
"""Seconds: the longest any limit of time may be."""
MANY = 100_000_000
"""Characters: more than any model writes in one answer."""
SHORT = 0.01
"""Seconds: the shortest time that is still a time."""


def _says(text: str, **extra: str) -> Meta:
    return Meta(description=text, extra=extra)


def _seconds(text: str, least: float = 0.0, most: float = DAY, **extra: str) -> Meta:
    return _number(text, least, most, "seconds", **extra)


def _limit(text: str, *, auto: str = "") -> Meta:
    return _number(text, 0, DAY, "seconds", zero="off", **({"auto": auto} if auto else {}))


def _number(text: str, least: float, most: float, unit: str = "", **extra: str) -> Meta:
    return Meta(ge=least, le=most, description=text, extra={"unit": unit, **extra} if unit else extra)


def _chars(text: str, least: int, most: int, **extra: str) -> Meta:
    return _number(text, least, most, "characters", **extra)


class Server(Struct, frozen=True, kw_only=True):
    """Where the guard listens, who may ask, and what one client may use up."""

    host: Annotated[str, _says("Address to listen on. Beyond loopback a token is needed.")] = "127.0.0.1"
    port: Annotated[int, _number("Port to listen on.", 0, 65535, zero="any free port")] = 11435
    token: Annotated[
        str,
        _says(
            "Clients must send it (bearer token, x-api-key). As a flag, others here can see it.",
            empty="none is asked for",
            shown="no",
        ),
    ] = ""
    allowed_hosts: Annotated[
        tuple[str, ...], _says("Names besides loopback by which clients may address the guard (Host header).")
    ] = ()
    allowed_origins: Annotated[
        tuple[str, ...],
        _says(
            "Web origins besides loopback that may call the guard. OLLAMA_ORIGINS stands in for the default."
        ),
    ] = ()
    drain_timeout: Annotated[float, _seconds("How long live answers may go on after a stop.")] = 60.0
    max_body_mb: Annotated[int, _number("Largest body of a guarded request.", 1, 65536, "MiB")] = 256
    client_buffer_kb: Annotated[
        int, _number("What may wait for a slow client before the upstream is slowed.", 16, 1 << 20, "KiB")
    ] = 1024
    body_timeout_sec: Annotated[
        float, _seconds("How long a client may pause while it sends a request.", least=SHORT)
    ] = 60.0
    max_exchanges: Annotated[
        int, _number("Guarded answers at once; more are refused with 503.", 1, 65536)
    ] = 256


class Upstream(Struct, frozen=True, kw_only=True):
    """The Ollama that is guarded."""

    url: Annotated[
        str, _says("Address of Ollama. OLLAMA_HOST stands in for the default unless it names the guard.")
    ] = "http://127.0.0.1:11434"
    allow_remote: Annotated[bool, _says("Allow an Ollama that is not on this machine.")] = False
    connect_timeout_sec: Annotated[
        float, _seconds("How long a connection to Ollama may take.", least=SHORT, most=600)
    ] = 5.0


class Detect(Struct, frozen=True, kw_only=True):
    """What counts as a loop, and what a verdict leads to."""

    preset: Annotated[
        Literal["balanced", "strict"], _says("strict stops sooner, and stops more that is healthy.")
    ] = "balanced"
    action: Annotated[
        Literal["intervene", "stop", "observe"],
        _says("On a verdict: ask again inside the same answer, end the answer there, or only log it."),
    ] = "intervene"
    reasoning: Annotated[bool, _says("Watch reasoning.")] = True
    content: Annotated[bool, _says("Watch answers.")] = True
    tool_arguments: Annotated[bool, _says("Watch the arguments of tool calls.")] = True
    variant: Annotated[bool, _says("Find repeats that differ in punctuation and white space.")] = True
    drift: Annotated[bool, _says("Find repeats that differ in numbers or small edits.")] = True
    novelty: Annotated[bool, _says("Find long stretches that say nothing new.")] = True
    repeat_span_min: (
        Annotated[
            int, _chars("Reasoning: shortest repeated run that is a loop.", 2, 1_000_000, auto="by preset")
        ]
        | None
    ) = None
    content_repeat_span_min: (
        Annotated[
            int, _chars("Answer: shortest repeated run that is a loop.", 2, 1_000_000, auto="by preset")
        ]
        | None
    ) = None
    repeat_core_min: (
        Annotated[int, _chars("Letters and digits a repeated unit needs.", 1, 1000, auto="by preset")] | None
    ) = None
    variant_repeats_min: Annotated[int, _number("Varying copies that make a loop.", 2, 1000, "copies")] = 3
    window: Annotated[int, _chars("How much of the latest text is searched.", 25_000, 1_000_000)] = 25_000


class Stall(Struct, frozen=True, kw_only=True):
    """How long a model may think, answer, or say nothing.

    Models marked as cloud by their name (`:cloud`, `-cloud`) have defaults of their own, since local ones
    are slow and healthy. max_reasoning_sec, reasoning_char_limit and max_total_sec, when set, hold for both.
    """

    max_reasoning_sec: (
        Annotated[
            float,
            _limit(
                "Reasoning with no answer yet, from its first token (local 1800, cloud 60).",
                auto="by kind of model",
            ),
        ]
        | None
    ) = None
    reasoning_char_limit: (
        Annotated[
            int,
            _chars(
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
            _limit("One attempt, from its first event (local 3600, cloud 120).", auto="by kind of model"),
        ]
        | None
    ) = None
    cloud_reasoning_sec: Annotated[float, _limit("max_reasoning_sec of cloud models.")] = 60.0
    cloud_reasoning_chars: Annotated[
        int, _chars("reasoning_char_limit of cloud models.", 0, MANY, zero="off")
    ] = 20_000
    cloud_total_sec: Annotated[float, _limit("max_total_sec of cloud models.")] = 120.0
    local_reasoning_sec: Annotated[float, _limit("max_reasoning_sec of local models.")] = 1800.0
    local_reasoning_chars: Annotated[
        int, _chars("reasoning_char_limit of local models.", 0, MANY, zero="off")
    ] = 200_000
    local_total_sec: Annotated[float, _limit("max_total_sec of local models.")] = 3600.0
    first_byte_sec: Annotated[float, _limit("Silence while the model loads and the prompt is read.")] = 1800.0
    gap_sec: Annotated[float, _limit("Silence between two pieces of an answer.")] = 600.0
    tools_gap_sec: Annotated[
        float, _limit("The same with tools: Ollama is silent while it writes a call.")
    ] = 1800.0


class Intervene(Struct, frozen=True, kw_only=True):
    """How a loop or a stall is answered for."""

    max_retries: Annotated[int, _number("Further attempts after a loop or a stall.", 0, 10, zero="none")] = 2
    recovery_sec: Annotated[float, _limit("A further attempt silent for so long: the model is unloaded.")] = (
        60.0
    )
    steer: Annotated[str, _says("Own words for the first steering message.", empty="built in")] = ""
    steer_firm: Annotated[str, _says("Own words for the second, firmer one.", empty="built in")] = ""
    temperature: Annotated[float, _number("Sampler of the second further attempt.", 0, 2)] = 0.9
    top_p: Annotated[float, _number("Sampler of the second further attempt.", SHORT, 1)] = 0.95
    repeat_penalty: Annotated[float, _number("Sampler of the second further attempt.", SHORT, 2)] = 1.15


class Empty(Struct, frozen=True, kw_only=True):
    """An ending with neither text nor tool call."""

    retry: Annotated[bool, _says("Ask the same again after an empty answer.")] = True
    max_retries: Annotated[int, _number("Further attempts after empty answers.", 0, 1000)] = 10
    pause_sec: Annotated[float, _seconds("First pause between such attempts; it doubles.", most=600)] = 0.5
    pause_max_sec: Annotated[float, _seconds("Longest pause between such attempts.", most=600)] = 10.0
    keepalive_sec: Annotated[
        float,
        _seconds(
            "After the last empty answer: keep trying for so long, then close the connection.",
            zero="close at once",
        ),
    ] = 300.0


class Truncated(Struct, frozen=True, kw_only=True):
    """An ending by the token limit, with reasoning only."""

    retry: Annotated[bool, _says("Go on with a higher limit when thinking was cut off.")] = True
    max_retries: Annotated[int, _number("Further attempts after cut-off thinking.", 0, 10)] = 2
    factor: Annotated[int, _number("The token limit is multiplied by this each time.", 1, 64)] = 4
    token_cap: Annotated[int, _number("It never gets above this.", 1, 1_000_000, "tokens")] = 1_000_000


class Heartbeat(Struct, frozen=True, kw_only=True):
    """What a waiting client gets, so that it does not give up."""

    heartbeat_sec: Annotated[float, _limit("Silence after which one is sent.")] = 10.0
    data_sec: Annotated[
        float, _limit("Silence after which one that also resets an SDK's timers is sent.")
    ] = 45.0
    commit_sec: Annotated[
        float, _seconds("Silence before Ollama's first byte after which status 200 is sent.", least=SHORT)
    ] = 30.0


class Log(Struct, frozen=True, kw_only=True):
    """What is written down, and where."""

    file: Annotated[str, _says("Log to this file too.", empty="standard error only")] = ""
    level: Annotated[Literal["debug", "info", "warning", "error"], _says("The least of what is written.")] = (
        "info"
    )
    format: Annotated[
        Literal["auto", "console", "json"], _says("auto: readable on a terminal, JSON lines elsewhere.")
    ] = "auto"
    content: Annotated[bool, _says("Log pieces of prompts and answers too. They may be private.")] = False
    max_mb: Annotated[int, _number("Size at which the file is rotated.", 0, 65536, "MiB", zero="never")] = 10
    backups: Annotated[int, _number("Rotated files that are kept.", 1, 1000)] = 5


class Settings(Struct, frozen=True, kw_only=True):
    """All of them. `Settings()` is what holds when nothing is said."""

    server: Server = Server()
    upstream: Upstream = Upstream()
    detect: Detect = Detect()
    stall: Stall = Stall()
    intervene: Intervene = Intervene()
    empty: Empty = Empty()
    truncated: Truncated = Truncated()
    heartbeat: Heartbeat = Heartbeat()
    log: Log = Log()
