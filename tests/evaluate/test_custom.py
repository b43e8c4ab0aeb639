"""Policies of all sorts, each in a real child process."""

import contextlib
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from ollama_guard.config.tables import read_table
from ollama_guard.evaluate.custom import LENGTHS, PolicyError, PolicyTable, as_text, load_policy, rows

posix = pytest.mark.skipif(sys.platform == "win32", reason="limits of the resource module")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(
        textwrap.dedent(
            """
            import asyncio, enum, os, random, signal, sys, time
            NUMBER = 7
            def good(length): return 40 if length == 1 else max(2, 400 // length)
            def half(length): return length / 2
            def none(length): return None
            def few(length): return 1 if length > 5_000 else 9
            def yes(length): return True
            def moody(length): return random.randint(2, 1_000_000)
            def fails(length): return 1000 // abs(length - 3) + 2
            def leaves(length): sys.exit(0)
            def dies(length): os._exit(0)
            def aborts(length): print("last words", file=sys.stderr, flush=True); os.abort()
            def hangs(length): time.sleep(60)
            def spins(length):
                while True: pass
            def grows(length): return len(bytearray(1 << 40))
            def chatty(length): print('{"repeats": []}'); return 9
            def lies(length): os.write(3, b'{"repeats": [2], "seconds": 0.0}'); os._exit(0)
            def floods(length):
                while True: os.write(1, b"x" * 65536)
            def vast(length): return 10**6000
            class Rude(str):
                def __repr__(self): raise KeyError("never mind")
            def rude(length): return Rude()
            class Nine(enum.IntEnum): ALL = 9
            def named(length): return Nine.ALL
            def explains(length): print("asked for a unit of", length, "x" * 200); return 9
            def leaves_kin(length):
                if length == 1 and os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        open("kin.pid", "w").write(str(os.getpid()))
                        time.sleep(60)
                    os._exit(0)
                while not os.path.exists("kin.pid"): time.sleep(0.01)
                return 9
            def segfaults(length): os.kill(os.getpid(), signal.SIGSEGV); time.sleep(9)
            async def later(length): return 9
            class Table:
                def by_length(self, length): return 9
            table = Table()
            """
        )
    )
    (tmp_path / "broken.py").write_text("import not_there_at_all\n")
    (tmp_path / "json.py").write_text("raise RuntimeError('in the place of a standard module')\n")
    return tmp_path


def test_a_policy_becomes_a_table_of_all_lengths(folder: Path) -> None:
    table = load_policy("mine:good", folders=[folder])
    assert [table(length) for length in (1, 2, 40, 200, 399)] == [40, 200, 10, 2, 2]
    assert len(table.repeats) == LENGTHS
    assert table(LENGTHS + 5) == table(LENGTHS)


def test_a_method_of_an_object_in_a_module_will_do(folder: Path) -> None:
    assert load_policy("mine:table.by_length", folders=[folder])(17) == 9


def test_the_policy_never_runs_in_this_process(folder: Path) -> None:
    load_policy("mine:good", folders=[folder])
    assert "mine" not in sys.modules


def test_what_a_policy_prints_is_not_taken_for_its_answer(folder: Path) -> None:
    assert load_policy("mine:chatty", folders=[folder])(5) == 9


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mine", "'mine' is not MODULE:FUNCTION"),
        ("mine:", "is not MODULE:FUNCTION"),
        ("mine:f(1)", "is not MODULE:FUNCTION"),
        ("../mine:good", "is not MODULE:FUNCTION"),
        ("nowhere:f", "nowhere:f cannot be found: no module of that name where Python looks, nor in /"),
        ("broken:f", "broken:f cannot be imported: No module named 'not_there_at_all'"),
        ("mine:missing", "mine.py) has no missing"),
        ("mine:NUMBER", "mine:NUMBER is no function but int, in the module ("),
        ("mine:later", "mine:later is an async function; a plain one is needed"),
        (
            "mine:half",
            "mine:half gives 0.5 for a unit of 1 characters; a whole number (int) of repeats from 2",
        ),
        ("mine:none", "gives a NoneType for a unit of 1 characters"),
        ("mine:vast", "gives a number of about 6000 digits for a unit of 1 characters"),
        ("mine:rude", "gives a Rude for a unit of 1 characters; a whole number (int)"),
        ("json:f", "json/__init__.py), which goes before "),
        ("mine:yes", "gives True for a unit of 1 characters"),
        ("mine:few", "gives 1 for a unit of 5001 characters"),
        ("mine:moody", "does not always give the same"),
        ("mine:fails", "mine:fails fails for a unit of 3 characters: ZeroDivisionError"),
        ("mine:leaves", "fails for a unit of 1 characters: SystemExit: 0"),
        ("mine:dies", "ended its process with exit code 0 and no answer"),
        ("mine:lies", "ended its process with exit code 0 and no answer"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, name: str, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(name, folders=[folder])
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_policy_may_print_as_much_as_it_likes(folder: Path) -> None:
    """5 MB, where files are limited to 1 MB."""
    assert load_policy("mine:explains", folders=[folder])(5) == 9


def test_a_number_of_a_type_of_its_own_is_a_number(folder: Path) -> None:
    table = load_policy("mine:named", folders=[folder])
    assert {type(value) for value in table.repeats} == {int}
    assert table(5) == 9


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="found by the environment of processes")
def test_nothing_that_a_policy_started_outlives_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert load_policy("mine:leaves_kin", folders=[folder])(1) == 9
    kin = int((folder / "kin.pid").read_text())
    for _ in range(100):
        with contextlib.suppress(FileNotFoundError):
            state = Path(f"/proc/{kin}/stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z":
                time.sleep(0.05)
                continue
        return
    pytest.fail(f"process {kin} lives on")


@posix
def test_a_crash_is_not_called_a_limit(folder: Path) -> None:
    with pytest.raises(PolicyError, match="by SIGSEGV, a crash in native code, or recursion"):
        load_policy("mine:segfaults", folders=[folder])


@posix
def test_a_limit_of_memory_beyond_what_the_system_can_count_is_none(folder: Path) -> None:
    assert load_policy("mine:good", folders=[folder], megabytes=99_999_999_999_999)(1) == 40


@posix
def test_a_crash_is_told_with_its_signal_and_the_last_words(folder: Path) -> None:
    with pytest.raises(PolicyError, match=r"by SIGABRT.*: last words"):
        load_policy("mine:aborts", folders=[folder])


@posix
def test_memory_is_limited(folder: Path) -> None:
    with pytest.raises(PolicyError, match="needs more than 256 MB of memory"):
        load_policy("mine:grows", folders=[folder], megabytes=256)


@pytest.mark.parametrize("name", ["mine:hangs", "mine:spins"])
def test_time_is_limited(folder: Path, name: str) -> None:
    started = time.monotonic()
    with pytest.raises(PolicyError, match=r"gave no answer within 0\.5 seconds"):
        load_policy(name, folders=[folder], seconds=0.5)
    assert time.monotonic() - started < 10


@posix
def test_what_a_policy_writes_is_limited(folder: Path) -> None:
    with pytest.raises(PolicyError):
        load_policy("mine:floods", folders=[folder], seconds=5)


def test_people_are_shown_what_it_comes_to(folder: Path) -> None:
    lines = as_text(load_policy("mine:good", folders=[folder])).splitlines()
    assert lines[0].startswith("mine:good is fine: 12,000 lengths")
    assert lines[3].split() == ["1", "40", "40"]
    assert ["12,000", "2", "24,000"] in [line.split() for line in lines]


def test_a_policy_is_printed_as_the_setting_that_takes_it() -> None:

    table = PolicyTable("m:f", tuple(40 if n <= 2 else 12 if n <= 8 else 5 for n in range(1, 12_001)), 0.0)
    assert rows(table) == "2:40,8:12,*:5"
    assert read_table(rows(table))[:2] == ((2, 40), (8, 12))
    assert 'detect.policy = "m:f"' in as_text(table)
    assert 'detect.table = "2:40,8:12,*:5"' in as_text(table)


@posix
def test_where_limits_cannot_be_set_a_policy_is_tried_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import resource

    from ollama_guard.evaluate import custom_child

    def forbidden(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(resource, "setrlimit", forbidden)
    custom_child.limit(1.0, 64)
    assert custom_child.table(lambda length: 9, {"lengths": 5, "fewest": 2, "most": 99})["repeats"] == [9] * 5


def test_a_module_is_looked_for_in_one_folder_after_the_other(folder: Path, tmp_path_factory: Any) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "mine.py").write_text("def good(length): return 3\n")
    assert load_policy("mine:good", folders=[other, folder])(1) == 3
    assert load_policy("mine:good", folders=[folder, other])(1) == 40
