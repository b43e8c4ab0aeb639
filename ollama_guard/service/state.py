"""What a running guard leaves for `ollama-guard stop` to find: one small file for each port.

The file holds the control token, so it is readable by its owner only, and is written whole or not at all.
A file that a killed guard left behind is harmless: readers check, writers replace.
"""

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

SYSTEM_DIRECTORY = Path("/run/ollama-guard")  # RuntimeDirectory= of the systemd unit


@dataclass(frozen=True, slots=True)
class State:
    """pid, the bound address, the token for POST /guard/stop, and the start as Unix time in seconds."""

    pid: int
    host: str
    port: int
    token: str
    started: float


def directory(environ: Mapping[str, str]) -> Path:
    """Where this process writes: systemd's RuntimeDirectory, else the user's state directory.

    Not XDG_RUNTIME_DIR: a shell got by `su` or `cron` has none, and `stop` would look elsewhere.
    """
    given = environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]
    return Path(given) if given else Path(platformdirs.user_state_path("ollama-guard", appauthor=False))


def candidates(port: int, environ: Mapping[str, str]) -> list[Path]:
    """Where a guard on this port may have left its file, the likeliest first."""
    places = [directory(environ)]
    if sys.platform == "linux":
        places.append(SYSTEM_DIRECTORY)
    return [place / f"guard-{port}.json" for place in dict.fromkeys(places)]


def write(where: Path, state: State) -> Path:
    """Write the file and return its path. Raises OSError."""
    where.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = where / f"guard-{state.port}.json"
    # mkstemp makes the file 0600, before there is anything in it
    descriptor, draft = tempfile.mkstemp(dir=where, prefix=".guard-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(state), file)
        Path(draft).replace(target)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
    return target


def read(path: Path) -> State | None:
    """The state in the file, None when there is none that can be read as one. Raises PermissionError."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        return State(
            pid=int(fields["pid"]),
            host=str(fields["host"]),
            port=int(fields["port"]),
            token=str(fields["token"]),
            started=float(fields["started"]),
        )
    except PermissionError:
        raise
    except (OSError, ValueError, TypeError, KeyError):
        return None


def remove(path: Path, pid: int) -> None:
    """Remove the file if it is this process's; a newer guard's stays."""
    with contextlib.suppress(OSError):
        found = read(path)
        if found is not None and found.pid == pid:
            path.unlink(missing_ok=True)
