"""Looks at a running guard from outside: its log rows, its memory, its descriptors."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.net import Guard

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")


def rows(guard: Guard, event: str) -> list[dict[str, Any]]:
    """The rows of the guard's JSON log with this event."""
    found = [json.loads(line) for line in guard.output.splitlines() if line.startswith("{")]
    return [row for row in found if row.get("event") == event]


def wait_rows(guard: Guard, event: str, count: int, timeout: float = 10.0) -> list[dict[str, Any]]:
    """The same, once there are so many."""
    assert until(lambda: len(rows(guard, event)) >= count, timeout), f"{count} rows of {event} did not come"
    return rows(guard, event)


def until(condition: Callable[[], bool], timeout: float = 10.0) -> bool:
    """Wait for a condition; whether it came true."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def resident_mb(pid: int) -> float:
    """Resident memory of a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in text.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def descriptors(pid: int) -> int:
    """Open descriptors of a process."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))
