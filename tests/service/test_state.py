"""The state file: whole, private, and harmless when it is stale."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from ollama_guard.service import state
from ollama_guard.service.process import alive
from ollama_guard.service.state import State

MINE = State(pid=os.getpid(), host="127.0.0.1", port=11435, token="t" * 43, started=1.5)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = state.write(tmp_path / "new" / "place", MINE)
    assert path.name == "guard-11435.json"
    assert state.read(path) == MINE


@pytest.mark.skipif(sys.platform == "win32", reason="no modes on Windows")
def test_only_the_owner_can_read_it_even_under_a_loose_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = state.write(tmp_path / "place", MINE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_stale_file_is_replaced_and_no_draft_is_left(tmp_path: Path) -> None:
    state.write(tmp_path, State(pid=1, host="h", port=11435, token="old", started=0))
    state.write(tmp_path, MINE)
    assert [each.name for each in tmp_path.iterdir()] == ["guard-11435.json"]
    assert state.read(tmp_path / "guard-11435.json") == MINE


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"pid": "x"}', "\xff", '"text"', json.dumps({"pid": 1})]
)
def test_a_file_that_is_not_a_state_reads_as_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "guard-1.json"
    path.write_bytes(content.encode("latin-1"))
    assert state.read(path) is None


def test_no_file_reads_as_none(tmp_path: Path) -> None:
    assert state.read(tmp_path / "guard-1.json") is None


def test_only_the_process_that_wrote_it_removes_it(tmp_path: Path) -> None:
    path = state.write(tmp_path, MINE)
    state.remove(path, MINE.pid + 1)
    assert path.exists()
    state.remove(path, MINE.pid)
    assert not path.exists()
    state.remove(path, MINE.pid)


def test_a_place_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        state.write(tmp_path / "file" / "below", MINE)


def test_systemd_names_the_place_and_else_it_is_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert state.directory({"RUNTIME_DIRECTORY": f"{tmp_path}:/other"}) == tmp_path
    assert state.directory({}).name == "ollama-guard"
    assert state.candidates(5, {"RUNTIME_DIRECTORY": str(tmp_path)})[0] == tmp_path / "guard-5.json"


def test_our_own_process_is_alive_and_one_that_has_ended_is_not() -> None:
    import subprocess

    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert alive(os.getpid())
    assert not alive(child.pid)
    assert not alive(0)
    assert not alive(-1)
