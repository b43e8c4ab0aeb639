"""A policy that the user wrote: `module:function`, length of a unit -> repeats that make a loop.

The function never runs in this process. A child process imports it, under limits of time and memory, asks it
for every length twice, and what comes back is a table of whole numbers. So a policy can hang, crash, print or
exhaust memory, and all that happens is a `PolicyError`; the caller then goes by the built-in table.
"""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ollama_guard.evaluate.custom_process import KIN, Said, end

LENGTHS = 12_000
"""Units up to this length are asked for; longer ones are judged as this one."""
FEWEST, MOST = 2, 1_000_000
SECONDS, MEGABYTES = 10.0, 1024
SHOWN = (1, 2, 3, 4, 8, 12, 16, 24, 40, 64, 100, 200, 400, 1000, 2000, 4000, 8000, LENGTHS)
"""Lengths that people are shown."""
_CHILD = Path(__file__).with_name("custom_child.py")
_CAUSES = {
    "SIGXCPU": ", the limit of processor time",
    "SIGKILL": ", which may be the system's limit of memory",
    "SIGSEGV": ", a crash in native code, or recursion that is too deep for it",
    "SIGBUS": ", a crash in native code",
}


class PolicyError(Exception):
    """The policy cannot be used; the text says why and what is asked of it."""


@dataclass(frozen=True, slots=True)
class PolicyTable:
    """A policy that was tried: repeats (the first copy included) for units of 1, 2, 3, ... characters."""

    source: str
    repeats: tuple[int, ...]
    seconds: float = 0.0

    def __call__(self, length: int) -> int:
        """Repeats for a unit of this length (>= 1)."""
        return self.repeats[min(length, len(self.repeats)) - 1]


def load_policy(
    source: str,
    *,
    seconds: float = SECONDS,
    megabytes: int = MEGABYTES,
    folders: Sequence[Path] | None = None,
) -> PolicyTable:
    """The table of a policy. Raises PolicyError.

    source: "module:function"; the module is looked for where Python looks, then in `folders` (default: the
    current one). seconds: by the clock, the import included. megabytes: address space (POSIX only).
    """
    module, function = parts_of(source)
    order = {
        "module": module,
        "function": function,
        "lengths": LENGTHS,
        "fewest": FEWEST,
        "most": MOST,
        "seconds": seconds,
        "megabytes": megabytes,
        "folders": [str(folder) for folder in ([Path.cwd()] if folders is None else folders)],
    }
    answer = _ask(source, order, seconds)
    return PolicyTable(source, tuple(answer["repeats"]), answer["seconds"])


def parts_of(source: str) -> tuple[str, str]:
    """Module and function of "module:function". Raises PolicyError."""
    module, colon, function = source.partition(":")
    if not (colon and all(part.isidentifier() for part in (*module.split("."), *function.split(".")))):
        raise PolicyError(f"{source!a} is not MODULE:FUNCTION, like mypackage.policies:repeats")
    return module, function


def as_text(table: PolicyTable) -> str:
    """What a policy asks for at some lengths, and what that comes to."""
    lines = [
        f"{table.source} is fine: {len(table.repeats):,} lengths, {table.seconds * 1e3:.1f} ms, all twice.",
        "",
        "  unit length    repeats    characters until the verdict",
    ]
    lines += [f"  {length:11,}  {table(length):9,}    {length * table(length):,}" for length in SHOWN]
    lines += [
        "",
        "As a setting, which is tried like this at each start:",
        f'  detect.policy = "{table.source}"',
        "or, for reasoning, content or tool alone, detect.channels.content.policy. Without the function:",
        f'  detect.table = "{rows(table)}"',
    ]
    return "\n".join(lines)


def rows(table: PolicyTable) -> str:
    """The policy as the setting `table` takes it: `LENGTH:REPEATS`, each row for units up to its length."""
    last = len(table.repeats)
    ends = [n for n in range(1, last) if table(n) != table(n + 1)]
    return ",".join([*(f"{n}:{table(n)}" for n in ends), f"*:{table(last)}"])


def _ask(source: str, order: dict[str, Any], seconds: float) -> dict[str, Any]:
    """What the child answers, which is checked there and once more here."""
    mark = secrets.token_hex(16)
    with tempfile.TemporaryFile() as answered, Said() as said:
        child = subprocess.Popen(  # noqa: S603 - our own file, by this very interpreter
            [sys.executable, "-P", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=answered,
            stderr=said.end,
            start_new_session=True,
            env={**os.environ, KIN: mark},
        )
        said.begin()
        try:
            child.communicate(json.dumps(order).encode(), timeout=seconds + 1)
        except subprocess.TimeoutExpired:
            raise PolicyError(
                f"{source} gave no answer within {seconds:g} seconds for all lengths from 1 to {LENGTHS}"
            ) from None
        finally:
            end(child, mark)
        answer = _read(answered)
        if answer is not None and "error" in answer:
            raise PolicyError(f"{source} {answer['error']}")
        if answer is None or not _sound(answer):
            last = said.last()
            raise PolicyError(
                f"{source} ended its process {_manner(child.returncode)}{f': {last}' if last else ''}"
            )
        return answer


def _read(file: IO[bytes]) -> dict[str, Any] | None:
    file.seek(0)
    try:
        answer = json.loads(file.read(1_000_000))
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _sound(answer: dict[str, Any]) -> bool:
    """Whether this is a table. Code in the child could have written anything."""
    repeats, seconds = answer.get("repeats"), answer.get("seconds")
    return (
        isinstance(repeats, list)
        and len(repeats) == LENGTHS
        and all(type(value) is int and FEWEST <= value <= MOST for value in repeats)
        and isinstance(seconds, float)
    )


def _manner(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            name = signal.Signals(-code).name
            return f"by {name}{_CAUSES.get(name, '')}"
    return f"with exit code {code} and no answer"
