"""Handlers of the log that never stop the service: a full disk or a file that cannot be written costs rows.

The first failure of a handler is told once on standard error; after that it keeps trying in silence, so rows
come again when there is space again.
"""

import contextlib
import logging
import os
import sys
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from typing import Any


def warn(message: str) -> None:
    """One line on standard error, if there is one (pythonw has none)."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"ollama-guard: {message}\n")
        sys.stderr.flush()


class StderrHandler(logging.StreamHandler[Any]):
    """Rows to standard error, wherever that is at the moment. When it is closed, rows are dropped."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr is not None:
            self.stream = sys.stderr
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """There is no other place to complain at."""


class FileHandler(RotatingFileHandler):
    """Rows to a file that is rotated by size. Only its owner may read it.

    max_mb in MiB, 0 for no rotation. Opened at the first row, and anew when somebody else has rotated it.
    """

    def __init__(self, path: str, *, max_mb: int, backups: int) -> None:
        super().__init__(path, maxBytes=max_mb << 20, backupCount=backups, encoding="utf-8", delay=True)
        self._told = False

    def prepare(self) -> None:
        """Make the folder and open the file now, so that a path that cannot work is told at start."""
        try:
            os.makedirs(os.path.dirname(self.baseFilename), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
            self.stream = self.stream or self._open()
        except OSError as error:
            self._tell(error)

    def emit(self, record: logging.LogRecord) -> None:
        if self.stream is not None and self._moved(self.stream):
            self._drop()
        super().emit(record)

    def _moved(self, stream: TextIOWrapper) -> bool:
        """Whether the path names another file by now, or none (logrotate, a person)."""
        try:
            return not os.path.samestat(os.stat(self.baseFilename), os.fstat(stream.fileno()))  # noqa: PTH116
        except FileNotFoundError:
            return True
        except (OSError, ValueError):
            return False

    def _drop(self) -> None:
        """Close the file; the next row opens it."""
        broken, self.stream = self.stream, None
        if broken is not None:
            with contextlib.suppress(OSError, ValueError):
                broken.close()

    def _open(self) -> TextIOWrapper:
        # a surrogate or another text that has no UTF-8 form must not cost the row
        return open(  # type: ignore[return-value]
            self.baseFilename,
            self.mode,
            encoding="utf-8",
            errors="backslashreplace",
            opener=lambda path, flags: os.open(path, flags, 0o600),
        )

    def doRollover(self) -> None:  # noqa: N802 - logging's name
        """Rotate; where that fails (Windows, while another program has it open), go on in the same file."""
        try:
            super().doRollover()
        except OSError as error:
            self._tell(error)
            self.maxBytes *= 2  # not at each row again
            self.stream = self.stream or self._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's name
        """Called inside the `except` of emit. The file is opened anew for the next row: it may have gone."""
        self._tell(sys.exc_info()[1])
        self._drop()

    def close(self) -> None:
        """Close the file. What a full disk still owes then is lost, and that is no reason to fail."""
        with contextlib.suppress(OSError):
            super().close()

    def _tell(self, error: BaseException | None) -> None:
        if not self._told:
            self._told = True
            reason = getattr(error, "strerror", None) or error
            warn(f"the log file {self.baseFilename} cannot be written ({reason}); going on without it")
