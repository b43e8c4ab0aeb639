import errno
import io
import logging
import os
import sys
from pathlib import Path

import pytest

from ollama_guard.record.handlers import FileHandler, StderrHandler, warn


def row(text: str) -> logging.LogRecord:
    return logging.LogRecord("x", logging.INFO, __file__, 1, text, None, None)


def make(path: Path, max_mb: int = 10) -> FileHandler:
    return FileHandler(str(path), max_mb=max_mb, backups=2)


def test_the_folder_is_made_and_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "guard.log"
    handler = make(path)
    handler.prepare()
    handler.emit(row("hello"))
    handler.close()
    assert path.read_text() == "hello\n"
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_path_that_cannot_work_is_told_once_and_nothing_is_raised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    handler = make(tmp_path / "file" / "guard.log")
    handler.prepare()
    for _ in range(3):
        handler.emit(row("lost"))
    handler.close()
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert "guard.log cannot be written" in told[0]


class FullDisk(io.StringIO):
    """A file on a disk that is full until `full` is cleared."""

    full = True

    def write(self, text: str) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(text)

    def close(self) -> None:
        """Stay readable."""


def test_a_full_disk_is_told_once_and_rows_come_again_when_there_is_space(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk()
    handler = make(tmp_path / "guard.log")
    monkeypatch.setattr(handler, "_open", lambda: disk)
    handler.emit(row("lost"))
    handler.emit(row("lost too"))
    disk.full = False
    handler.emit(row("kept"))
    handler.close()
    assert disk.getvalue() == "kept\n"
    assert capsys.readouterr().err.count("No space left") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_device_that_is_full_costs_rows_only(capsys: pytest.CaptureFixture[str]) -> None:
    handler = make(Path("/dev/full"), max_mb=0)
    handler.prepare()
    handler.emit(row("lost"))
    handler.emit(row("lost"))
    handler.close()
    assert capsys.readouterr().err.count("cannot be written") == 1


def test_a_file_that_was_taken_away_is_made_again_after_a_failure(tmp_path: Path) -> None:
    handler = make(tmp_path / "guard.log")
    handler.emit(row("first"))
    assert handler.stream is not None
    handler.stream.close()  # as after an error of the device
    handler.emit(row("lost"))
    handler.emit(row("third"))
    handler.close()
    assert (tmp_path / "guard.log").read_text() == "first\nthird\n"


@pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody move a file that is open")
def test_rows_follow_the_path_when_somebody_else_rotates_the_file(tmp_path: Path) -> None:
    path, old = tmp_path / "guard.log", tmp_path / "guard.log.1"
    handler = make(path, max_mb=0)
    handler.emit(row("before"))
    path.rename(old)
    handler.emit(row("after"))
    path.unlink()
    path.write_text("made by another\n")
    handler.emit(row("last"))
    handler.close()
    assert old.read_text() == "before\n"
    assert path.read_text() == "made by another\nlast\n"


@pytest.mark.skipif(os.name != "posix", reason="Windows lets nobody remove a folder in use")
def test_a_folder_that_was_removed_costs_rows_only_and_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "logs" / "guard.log"
    handler = make(path)
    handler.prepare()
    path.unlink()
    path.parent.rmdir()
    handler.emit(row("lost"))
    handler.emit(row("lost"))
    path.parent.mkdir()
    handler.emit(row("there"))
    handler.close()
    assert path.read_text() == "there\n"
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_file_is_rotated_by_size_and_old_ones_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "guard.log"
    handler = make(path, max_mb=1)
    for _ in range(45):
        handler.emit(row("x" * 100_000))
    handler.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["guard.log", "guard.log.1", "guard.log.2"]
    assert all(file.stat().st_size <= 1 << 20 for file in tmp_path.iterdir())


def test_where_rotation_fails_rows_go_on_in_the_same_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "guard.log"
    handler = make(path, max_mb=1)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "another program has it open")

    monkeypatch.setattr(handler, "rotate", refuse)
    for number in range(25):
        handler.emit(row(f"{number}:" + "x" * 100_000))
    handler.close()
    assert [line.split(":")[0] for line in path.read_text().splitlines()] == [str(n) for n in range(25)]
    assert capsys.readouterr().err.count("\n") == 1


def test_text_that_has_no_utf8_form_does_not_cost_the_row(tmp_path: Path) -> None:
    handler = make(tmp_path / "guard.log")
    handler.emit(row("a\ud800b"))
    handler.close()
    assert (tmp_path / "guard.log").read_text() == "a\\ud800b\n"


def test_a_missing_or_closed_standard_error_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    handler = StderrHandler()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        handler.emit(row("lost"))
        warn("lost")
