"""The commands through click's runner, and once as a real process."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ollama_guard.cli import cli
from ollama_guard.evaluate.peers import PEERS

from .toy import write

LINE = "I will look at the file once more, and then I will be done.\n"
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr("ollama_guard.cli.default_file", lambda: tmp_path / "config.toml")

    def call(*args: str) -> Result:
        result = CliRunner().invoke(cli, list(args), prog_name="ollama-guard")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return call


@pytest.fixture
def runs(tmp_path: Path) -> str:
    rows = [
        {"id": "loop", "text": LINE * 20, "kind": "exact", "onset": len(LINE), "period": len(LINE)},
        {"id": "fine", "text": "Fine."},
    ]
    return str(write(tmp_path / "runs.jsonl", rows))


def test_eval_prints_recall_delay_false_verdicts_and_time(run: Run, runs: str) -> None:
    result = run("eval", runs)
    assert result.exit_code == 0
    for part in ("exact", "100.0 %", "healthy, runs: 1 texts", "µs a delta"):
        assert part in result.output


def test_eval_goes_by_the_settings_of_the_proxy(run: Run, runs: str, tmp_path: Path) -> None:
    def caught(*args: str) -> int:
        figures = json.loads(run("eval", runs, "--json", *args).output)
        return int(figures["detectors"]["guard"]["loops"]["caught"])

    assert caught() == 1
    assert caught("--set", "detect.channels.content.repeats=50") == 0
    assert caught("--preset", "strict") == 1
    config = tmp_path / "other.toml"
    config.write_text('[models."calm*".detect]\ncontent = false\n')
    assert caught("--config", str(config)) == 1
    assert caught("--config", str(config), "--model", "calm:7b") == 0


def test_eval_compares(run: Run, runs: str) -> None:
    figures = json.loads(run("eval", runs, "--json", "--compare", "regex", "--compare", "regex").output)
    assert list(figures["detectors"]) == ["guard", "regex"]
    every = json.loads(run("eval", runs, "--json", "--compare", "all").output)
    assert list(every["detectors"]) == ["guard", *PEERS]


def test_eval_plays_healthy_files_as_asked(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("words " * 3)
    figures = json.loads(
        run("eval", str(path), "--json", "--as", "fence", "--as", "tool", "--chunk", "1").output
    )
    assert list(figures["detectors"]["guard"]["healthy"]) == ["fence", "tool"]
    assert figures["detectors"]["guard"]["deltas"] == (18 + 9) + len('{"path": "a.txt", "content": ""}') + 18
    cut = json.loads(run("eval", str(path), "--json", "--cut", "6").output)
    assert cut["chars"] == 6


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (("--compare", "nobody"), 2, "'nobody' is none of regex"),
        (("--chunk", "0"), 2, "'0' is neither a number of characters nor `recorded`"),
        (("--set", "detect.presett=x"), 1, "presett"),
        (("no/such/file",), 1, "no/such/file: no such file or folder"),
    ],
)
def test_eval_says_what_is_wrong(run: Run, runs: str, args: tuple[str, ...], code: int, says: str) -> None:
    result = run("eval", runs, *args)
    assert result.exit_code == code
    assert says in result.output


def test_eval_lists_the_detectors_to_compare_with(run: Run) -> None:
    result = run("eval", "--list")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == list(PEERS)


def test_replay_shows_where_the_verdict_fell(run: Run, runs: str) -> None:
    result = run("replay", runs, "--id", "loop")
    assert result.exit_code == 0
    assert "<< repeats from " in result.output
    assert "\x1b" not in result.output  # no terminal, no colours
    listed = run("replay", runs)
    assert listed.exit_code == 1
    assert "choose one with --id" in listed.output


def test_policy_is_tried_in_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def f(length): return 400 // length + 2\ndef g(length): return length\n"
    )

    def call(source: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "ollama_guard", "policy", source]
        root = str(Path(__file__).parents[2])
        return subprocess.run(
            line,
            cwd=tmp_path,
            env={"PYTHONPATH": root},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    good, bad = call("mine:f"), call("mine:g")
    assert (good.returncode, good.stderr) == (0, "")
    assert "mine:f is fine" in good.stdout
    assert bad.returncode == 1
    assert "mine:g gives 1 for a unit of 1 characters" in bad.stderr
    assert "Traceback" not in bad.stderr
