"""The log: one row an event, readable on a terminal, JSON lines elsewhere; to standard error and to a file.

structlog and the standard library's loggers (uvicorn, asyncio) end in the same rows. No row holds a prompt,
an answer or a secret unless `log.content` says so (secrets never), and none has a control character.
"""

import json
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from ollama_guard.engine.messages import Record
from ollama_guard.record.escape import escape, redact, safe
from ollama_guard.record.handlers import FileHandler, StderrHandler

QUIET = {"httpx": logging.WARNING, "httpcore": logging.WARNING, "asyncio": logging.INFO}
"""Loggers whose lower rows would drown ours, or name every request."""
_NO_WEBSOCKETS = (
    "No supported WebSocket library detected. Please use \"pip install 'uvicorn[standard]'\", "
    "or install 'websockets' or 'wsproto' manually."
)
DROPPED = (
    "ASGI callable returned without completing response.",  # how a connection is broken off on purpose
    "Unsupported upgrade request.",  # a WebSocket handshake: it is answered as plain HTTP
    _NO_WEBSOCKETS,  # and no advice is needed about it
)
"""What uvicorn says when a connection is closed without an ending. We do so on purpose."""
WARNINGS = frozenset({"fault", "recovery", "refused", "unguarded"})
"""Events that somebody should know of."""
TROUBLE = frozenset({"gave_up", "drained"})
"""Outcomes of an exchange that somebody should know of."""


class LogSettings(Protocol):
    """What is needed of the settings (`config.schema.Log`)."""

    @property
    def file(self) -> str: ...
    @property
    def level(self) -> str: ...
    @property
    def format(self) -> Literal["auto", "console", "json"]: ...
    @property
    def content(self) -> bool: ...
    @property
    def max_mb(self) -> int: ...
    @property
    def backups(self) -> int: ...


def setup(settings: LogSettings) -> None:
    """Begin to log as the settings say. May be called again: the latest call holds."""
    close()
    as_json = settings.format == "json"
    terminal = sys.stderr is not None and sys.stderr.isatty()
    stderr = StderrHandler()
    stderr.setFormatter(_formatter(settings, as_json=as_json or (settings.format == "auto" and not terminal)))
    _install(stderr)
    if settings.file:
        path = os.path.expanduser(settings.file)  # noqa: PTH111 - Path.expanduser raises where there is no home
        file = FileHandler(path, max_mb=settings.max_mb, backups=settings.backups)
        file.setFormatter(_formatter(settings, as_json=settings.format != "console"))
        file.prepare()
        _install(file)
    logging.getLogger().setLevel(settings.level.upper())
    _route_others()
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def close() -> None:
    """Take our handlers away again, and close the file."""
    root = logging.getLogger()
    for handler in [one for one in root.handlers if isinstance(one, StderrHandler | FileHandler)]:
        root.removeHandler(handler)
        handler.close()


def log_record(record: Record, *, exchange: str = "") -> None:
    """Write a row of the engine's. exchange: the id that the client was given in its header."""
    trouble = record.event in WARNINGS or record.fields.get("outcome") in TROUBLE
    fields = {"exchange": exchange, **record.fields} if exchange else record.fields
    level = logging.WARNING if trouble else logging.INFO
    structlog.stdlib.get_logger("ollama_guard").log(level, record.event, **fields)


def _install(handler: logging.Handler) -> None:
    logging.getLogger().addHandler(handler)


def _route_others() -> None:
    """uvicorn's rows go where ours go; its access log is off, since `exchange` rows say more."""
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = name != "uvicorn.access"
    if _not_severed not in logging.getLogger("uvicorn.error").filters:
        logging.getLogger("uvicorn.error").addFilter(_not_severed)
    for name, level in QUIET.items():
        logging.getLogger(name).setLevel(level)


def _not_severed(record: logging.LogRecord) -> bool:
    return record.msg not in DROPPED


def _formatter(settings: LogSettings, *, as_json: bool) -> logging.Formatter:
    def private(_: WrappedLogger, __: str, row: EventDict) -> EventDict:
        return redact(row, content=settings.content)

    stamp = (
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time")
        if as_json
        else structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False, key="time")
    )
    named: Sequence[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        stamp,
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        private,
        _json_row if as_json else _console_row,
    ]
    return structlog.stdlib.ProcessorFormatter(processors=named)


def _json_row(_: WrappedLogger, __: str, row: EventDict) -> str:
    lines = [escape(line) for line in row.pop("exception", "").splitlines()]
    first = {name: row.pop(name) for name in ("time", "level", "event")}
    rest = {**first, **row, **({"exception": lines} if lines else {})}
    return json.dumps(safe(rest), ensure_ascii=False)


def _console_row(_: WrappedLogger, __: str, row: EventDict) -> str:
    # each line of a traceback is indented, so that a message in it cannot pass for a row
    lines = ["    " + escape(line) for line in row.pop("exception", "").splitlines()]
    row.pop("logger", None)
    head = f"{row.pop('time')} {row.pop('level'):<7} {escape(str(row.pop('event')))}"
    pairs = [f"{escape(str(name))}={_word(safe(value))}" for name, value in row.items()]
    return "\n".join(["  ".join([head, *pairs]), *lines])


def _word(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    plain = text and not any(mark in text for mark in " =\"'") if isinstance(value, str) else True
    return text if plain else json.dumps(text, ensure_ascii=False)
