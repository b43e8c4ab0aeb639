"""The demo runs for real, and does not claim success where there is none."""

from pathlib import Path
from typing import Any

import pytest

from ollama_guard.service import demo, stage
from ollama_guard.service.demo import ANSWER, run
from ollama_guard.service.stage import Heard, StageError, mock_script, process

LOOPED: dict[str, Any] = {"ended": "client_closed", "events": 90}
ANSWERED: dict[str, Any] = {"ended": "finished", "events": 20}


def test_the_demo_shows_a_loop_being_cut_and_the_answer_that_came() -> None:
    said: list[str] = []
    assert run(echo=said.append, fast=True) == 0
    text = "\n".join(said)
    direct, _, guarded = text.partition("2. The same model")
    assert direct.count("let me check") >= 2
    assert "answer " not in direct
    assert ANSWER in guarded
    assert "one ending ('stop')" in guarded


@pytest.mark.parametrize(
    ("heard", "asked", "problem"),
    [
        (Heard(error="deadloop"), [LOOPED, ANSWERED], "deadloop"),
        (Heard(content=ANSWER, endings=["stop"]), [ANSWERED], "not cut"),
        (Heard(content=ANSWER, endings=["stop"]), [ANSWERED, ANSWERED], "not cut"),
        (Heard(content=ANSWER[:-1], endings=["stop"]), [LOOPED, ANSWERED], "the answer is"),
        (Heard(content=ANSWER, endings=[]), [LOOPED, ANSWERED], "endings"),
        (Heard(content=ANSWER, endings=["stop", "stop"]), [LOOPED, ANSWERED], "endings"),
        (Heard(content=ANSWER, endings=["stop"]), [LOOPED, ANSWERED], ""),
    ],
)
def test_a_run_that_went_wrong_is_told_from_one_that_went_well(
    heard: Heard, asked: list[dict[str, Any]], problem: str
) -> None:
    found = demo._problem(heard, asked)
    assert problem in found
    assert bool(found) == bool(problem)


def test_a_guard_that_does_not_cut_makes_the_demo_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    # the second answer is what the client waits for; a guard that only relays never brings it
    monkeypatch.setattr(demo, "REPEATS", 3)
    said: list[str] = []
    assert run(echo=said.append, fast=True) == 1
    assert "not as it should be" in said[-1]


def test_an_installation_without_the_mock_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "PACKAGE", tmp_path / "ollama_guard")
    said: list[str] = []
    assert run(echo=said.append, fast=True) == 1
    assert "mocks/ollama.py" in said[-1]


def test_the_mock_is_found_inside_the_package_as_a_wheel_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "ollama_guard" / "mocks" / "ollama.py"
    inside.parent.mkdir(parents=True)
    inside.touch()
    monkeypatch.setattr(stage, "PACKAGE", tmp_path / "ollama_guard")
    assert mock_script() == inside


def test_a_process_that_dies_at_the_start_is_reported_with_its_last_words(tmp_path: Path) -> None:
    dying = ["-c", "import sys; sys.stderr.write('no such luck'); sys.exit(7)"]
    with pytest.raises(StageError, match=r"code 7.*no such luck"), process(dying, "ready", tmp_path / "log"):
        pass


def test_the_users_own_settings_do_not_reach_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_GUARD_DETECT__ACTION", "observe")
    showing = ["-c", "import os; print('ready', sorted(k for k in os.environ if k.startswith('OLLAMA')))"]
    with process(showing, "ready", tmp_path / "log") as line:
        assert line == "ready []"
