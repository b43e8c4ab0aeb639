"""Every setting: its type, range, unit, default and meaning, in one typed tree.

The single source for `--help`, `ollama-guard config`, the README's table and every message about a bad
value. Structs are frozen and are not validated when constructed: what people write is read by `config.load`.
`marks` says what the annotations mean.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Struct

from ollama_guard.config.answering import Empty, Heartbeat, Intervene, LadderStep, Streak, Truncated
from ollama_guard.config.marks import SHORT, number, says, seconds
from ollama_guard.config.watching import Actions, Channel, Channels, Detect, Stall

__all__ = [
    "Actions",
    "Channel",
    "Channels",
    "Detect",
    "Empty",
    "Heartbeat",
    "Intervene",
    "LadderStep",
    "Log",
    "Override",
    "Server",
    "Settings",
    "Stall",
    "Streak",
    "Truncated",
    "Upstream",
]


class Server(Struct, frozen=True, kw_only=True):
    """Where the guard listens, who may ask, and what one client may use up."""

    host: Annotated[str, says("Address to listen on. Beyond loopback a token is needed.")] = "127.0.0.1"
    port: Annotated[int, number("Port to listen on.", 0, 65535, zero="any free port")] = 11435
    token: Annotated[
        str,
        says(
            "Clients must send it (bearer token, x-api-key). As a flag, others here can see it.",
            empty="none is asked for",
            shown="no",
        ),
    ] = ""
    allowed_hosts: Annotated[
        tuple[str, ...], says("Names besides loopback by which clients may address the guard (Host header).")
    ] = ()
    allowed_origins: Annotated[
        tuple[str, ...],
        says(
            "Web origins besides loopback that may call the guard. OLLAMA_ORIGINS stands in for the default."
        ),
    ] = ()
    drain_timeout: Annotated[float, seconds("How long live answers may go on after a stop.")] = 60.0
    max_body_mb: Annotated[int, number("Largest body of a guarded request.", 1, 65536, "MiB")] = 256
    client_buffer_kb: Annotated[
        int, number("What may wait for a slow client before the upstream is slowed.", 16, 1 << 20, "KiB")
    ] = 1024
    body_timeout_sec: Annotated[
        float, seconds("How long a client may pause while it sends a request.", least=SHORT)
    ] = 60.0
    max_exchanges: Annotated[int, number("Guarded answers at once; more are refused with 503.", 1, 65536)] = (
        256
    )


class Upstream(Struct, frozen=True, kw_only=True):
    """The Ollama that is guarded."""

    url: Annotated[
        str, says("Address of Ollama. OLLAMA_HOST stands in for the default unless it names the guard.")
    ] = "http://127.0.0.1:11434"
    allow_remote: Annotated[bool, says("Allow an Ollama that is not on this machine.")] = False
    connect_timeout_sec: Annotated[
        float, seconds("How long a connection to Ollama may take.", least=SHORT, most=600)
    ] = 5.0


class Log(Struct, frozen=True, kw_only=True):
    """What is written down, and where."""

    file: Annotated[str, says("Log to this file too.", empty="standard error only")] = ""
    level: Annotated[Literal["debug", "info", "warning", "error"], says("The least of what is written.")] = (
        "info"
    )
    format: Annotated[
        Literal["auto", "console", "json"], says("auto: readable on a terminal, JSON lines elsewhere.")
    ] = "auto"
    content: Annotated[bool, says("Log pieces of prompts and answers too. They may be private.")] = False
    max_mb: Annotated[int, number("Size at which the file is rotated.", 0, 65536, "MiB", zero="never")] = 10
    backups: Annotated[int, number("Rotated files that are kept.", 1, 1000)] = 5


class Override(Struct, frozen=True):
    """Settings of some models: those whose name matches `pattern`. `values`: by "section.name"."""

    pattern: str
    values: Mapping[str, Any]


class Settings(Struct, frozen=True, kw_only=True):
    """All of them. `Settings()` is what holds when nothing is said.

    models: what differs by model, later ones before earlier ones (`models.for_model` applies them).
    """

    server: Server = Server()
    upstream: Upstream = Upstream()
    detect: Detect = Detect()
    stall: Stall = Stall()
    intervene: Intervene = Intervene()
    empty: Empty = Empty()
    truncated: Truncated = Truncated()
    heartbeat: Heartbeat = Heartbeat()
    streak: Streak = Streak()
    log: Log = Log()
    models: tuple[Override, ...] = ()
