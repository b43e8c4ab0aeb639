"""The commands through click's runner, and once as a real process."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ollama_guard.cli import cli
from ollama_guard.evaluate.peers import PEERS

from .toy import write

LINE = "I will look at the file once more, and then I will be done.\n"
ROOT = Path(__file__).parents[2]
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr("ollama_guard.cli.default_file", lambda: tmp_path / "config.toml")

    def call(*args: str, env: dict[str, str] | None = None) -> Result:
        result = CliRunner().invoke(cli, list(args), prog_name="ollama-guard", env=env)
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
        (("",), 2, "an empty path; the current folder is `.`"),
        (("--cut", "9999999999999999999"), 2, "is not in the range 1<=x<=1000000000"),
        (("--jobs", "9999999"), 2, "is not in the range 1<=x<=61"),
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
        root = str(ROOT)
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


def test_what_can_be_played_nowhere_is_no_success(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "binary.dat").write_bytes(b"a\0b")
    write(tmp_path / "labels.jsonl", [{"id": "a", "class": "healthy"}])
    (tmp_path / "folder").mkdir()
    for name in ("empty.txt", "binary.dat", "labels.jsonl", "folder"):
        result = run("eval", str(tmp_path / name))
        assert result.exit_code == 1
        assert "nothing was evaluated" in result.output


def test_useless_labels_and_doubtful_runs_are_told_beside_the_figures(run: Run, runs: str) -> None:
    beside = Path(runs).with_name("labels.jsonl")
    write(beside, [{"id": "fine", "class": "healthy"}])
    assert run("eval", runs).exit_code == 0
    write(beside, [{"id": "other", "class": "healthy"}])
    result = run("eval", runs, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["texts"] == 2
    assert "the figures are of no use" in result.stderr
    assert "1 of 2 runs have no label and count as healthy" in result.stderr


def test_ids_that_no_encoding_has_are_figures_like_others(run: Run, tmp_path: Path) -> None:
    path = str(write(tmp_path / "r.jsonl", [{"id": "\ud800x", "text": LINE * 40}]))
    found = json.loads(run("eval", path, "--json").output)
    assert found["detectors"]["guard"]["false"][0]["id"] == "\ud800x"
    assert "\\ud800x" in run("eval", path, "--compare", "all").output
    assert "\\ud800x" in run("replay", path).output


def process(*args: str, **more: Any) -> subprocess.Popen[str]:
    """The program itself, in a session of its own."""
    line = [sys.executable, "-m", "ollama_guard", *args]
    return subprocess.Popen(line, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True, **more)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("command", [("eval",), ("replay", "--id", "loop"), ("config",)])
def test_output_that_cannot_be_written_is_told_in_a_sentence(runs: str, command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = process(*command, *([runs] if command[0] != "config" else []), stdout=full)
        _, said = ended.communicate(timeout=60)
    assert ended.returncode == 1
    assert said.startswith("ollama-guard: the output cannot be written:\n  - No space left on device; free")
    assert "Traceback" not in said
    assert "Exception" not in said


def members(group: int) -> list[int]:
    """The processes of a group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, of = stat.read_text().rpartition(") ")[2].split()[:3]
            found += [int(stat.parent.name)] if int(of) == group and state != "Z" else []
    return found


def is_deaf(process: int) -> bool:
    """Whether it ignores Ctrl-C."""
    with contextlib.suppress(OSError):
        ignored = re.search(r"SigIgn:\t(\w+)", Path(f"/proc/{process}/status").read_text())
        return ignored is not None and bool(int(ignored[1], 16) >> (signal.SIGINT - 1) & 1)
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")
def test_ctrl_c_twice_ends_all_processes_and_prints_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A few words.\n")
    words = " ".join(str(number * 7919) for number in range(150_000))
    for number in range(64):
        (tmp_path / f"b{number}.txt").write_text(words)
    # Where the tests run in the background they ignore it, and so would all that they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        found = process("eval", str(tmp_path), "--jobs", "2", stdout=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    begun = time.monotonic()
    while sum(map(is_deaf, members(found.pid))) < 2 and time.monotonic() < begun + 30:  # the workers
        time.sleep(0.1)
    time.sleep(0.5)
    for _ in range(2):
        os.killpg(found.pid, signal.SIGINT)
        time.sleep(0.2)
    try:
        _, said = found.communicate(timeout=40)
    except subprocess.TimeoutExpired:
        os.killpg(found.pid, signal.SIGKILL)
        raise
    # The second one may fall into the printing, or into the end of the interpreter.
    assert found.returncode in (130, 1, -signal.SIGINT), said
    ended = time.monotonic()
    while members(found.pid) and time.monotonic() < ended + 10:
        time.sleep(0.1)
    assert not members(found.pid)


def test_a_policy_is_looked_for_beside_the_settings_file(run: Run, tmp_path: Path) -> None:
    for folder, repeats in (("", 3), ("other", 4), ("named", 5)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "beside_it.py").write_text(f"def f(length): return {repeats}\n")
        (tmp_path / folder / "config.toml").write_text('[detect]\npolicy = "beside_it:f"\n')
    other, named = (str(tmp_path / folder / "config.toml") for folder in ("other", "named"))
    assert '"*:3"' in run("policy", "beside_it:f").output  # that of the default file
    assert '"*:4"' in run("policy", "beside_it:f", env={"OLLAMA_GUARD_CONFIG": other}).output
    assert '"*:5"' in run("policy", "beside_it:f", "--config", named).output
    gone = run("policy", "beside_it:f", "--config", str(tmp_path / "gone.toml"))
    assert (gone.exit_code, "gone.toml: there is no such file" in gone.output) == (1, True)
    assert f"nor in {tmp_path} or " in run("policy", "nowhere_at_all:f").output


@pytest.mark.parametrize("seconds", ["nan", "inf", "0"])
def test_a_limit_of_time_is_a_number_in_a_range(run: Run, seconds: str) -> None:
    result = run("policy", "json:dumps", "--seconds", seconds)
    assert result.exit_code == 2
    assert "Invalid value for '--seconds'" in result.output


def test_a_preset_that_is_wrong_or_said_twice_is_blamed_on_its_own_flag(run: Run, runs: str) -> None:
    wrong = run("eval", runs, "--preset", "Strict").output
    assert "detect.preset = 'Strict' (flag --preset): accepted is balanced or strict" in wrong
    twice = run("replay", runs, "--id", "loop", "--preset", "strict", "--set", "detect.preset=balanced")
    assert twice.exit_code == 1
    assert "detect.preset = 'strict' (flag --preset): --set says 'balanced'; keep one" in twice.output
    assert run("eval", runs, "--preset", "strict", "--set", "detect.preset=strict").exit_code == 0
