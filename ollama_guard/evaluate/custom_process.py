"""The process that a policy is tried in, seen from outside: what it says, and its end with all its kin."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

KIN = "OLLAMA_GUARD_TEST_POLICY"
"""A variable that all processes of one try inherit. (TEST_: a guard that one of them starts ignores it.)"""
_KEPT, _PIECE, _GRACE = 2_000, 65_536, 0.5
_ROUNDS = 20


class Said:
    """The last that was written to a pipe; a policy may write as much as it likes, and nothing fills up."""

    def __init__(self) -> None:
        self._read, self.end = os.pipe()
        self._tail = b""
        self._reader = threading.Thread(target=self._drain, daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reader.ident is None:  # nothing could be started
            os.close(self.end)
            os.close(self._read)

    def begin(self) -> None:
        """The other end is the child's alone from here on."""
        os.close(self.end)
        self._reader.start()

    def last(self) -> str:
        """The last line, "" without any. Does not wait for a process that has run away with the pipe."""
        self._reader.join(_GRACE)
        lines = self._tail.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _drain(self) -> None:
        with contextlib.suppress(OSError):
            while piece := os.read(self._read, _PIECE):
                self._tail = (self._tail + piece)[-_KEPT:]
        os.close(self._read)


def end(child: subprocess.Popen[bytes], mark: str) -> None:
    """The child and its group; where the system has /proc, also what has left the group (setsid)."""
    if sys.platform == "win32":
        child.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        _end_kin(mark)
    child.wait()
    if child.stdin is not None:
        with contextlib.suppress(OSError):
            child.stdin.close()


def _end_kin(mark: str) -> None:
    """All that carries the mark. Again and again: one may start another while they are looked for."""
    for _ in range(_ROUNDS):
        found = list(_kin(f"{KIN}={mark}".encode()))
        if not found:
            return
        for process in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)


def _kin(mark: bytes) -> Iterator[int]:
    """Processes that live, began with this in their environment, and are ours. None without /proc."""
    with contextlib.suppress(OSError):
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal():
                with contextlib.suppress(OSError):  # it has ended, or is somebody else's
                    if mark in (folder / "environ").read_bytes().split(b"\0"):
                        yield int(folder.name)
