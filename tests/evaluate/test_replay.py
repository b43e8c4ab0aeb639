import os
import sys
from pathlib import Path

import pytest

from ollama_guard.evaluate.labelled import InputError
from ollama_guard.evaluate.plain import one_line, visible
from ollama_guard.evaluate.play import play
from ollama_guard.evaluate.replay import describe, find
from ollama_guard.evaluate.samples import HEALTHY, Label, Sample, Truth

from .toy import Finds, write

RUNS = [
    {"id": "a", "text": "abc", "kind": "exact", "onset": 1, "period": 1},
    {"id": "b", "text": "def"},
]


def shown(text: str, label: Label = HEALTHY) -> str:
    sample = Sample("a run", "runs", "content", text, label)
    return "".join(piece for _, piece in describe(sample, play(sample, "toy", Finds("#"), 1)))


def test_a_run_is_found_by_its_id(tmp_path: Path) -> None:
    assert find(write(tmp_path / "r.jsonl", RUNS), "b", "content").text == "def"


def test_labels_beside_the_runs_are_used(tmp_path: Path) -> None:
    write(tmp_path / "labels.jsonl", [{"id": "b", "class": "loop", "loop_onset": 2}])
    assert find(write(tmp_path / "r.jsonl", RUNS), "b", "content").label.onset == 2


def test_the_only_run_of_a_file_needs_no_id(tmp_path: Path) -> None:
    assert find(write(tmp_path / "r.jsonl", RUNS[:1]), None, "content").name == "a"


@pytest.mark.parametrize(
    ("wanted", "says"), [(None, "several runs; choose one with --id"), ("c", "no run 'c'")]
)
def test_otherwise_the_runs_are_listed(tmp_path: Path, wanted: str | None, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        find(write(tmp_path / "r.jsonl", RUNS), wanted, "content")
    assert [line.split() for line in caught.value.listed] == [
        ["loop", "exact", "a"],
        ["healthy", "b"],
    ]


def test_any_text_can_be_shown_in_a_wrapping(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("words")
    assert find(path, None, "reasoning").channel == "reasoning"
    path.write_bytes(b"\0")
    with pytest.raises(InputError, match=r"notes\.txt: no text"):
        find(path, None, "content")


def test_the_place_of_the_verdict_is_marked_in_the_text() -> None:
    text = shown("before #after", Label(Truth.LOOP, "exact", 5, 4, 2))
    assert "verdict: marker at 8, 3 characters (1.5 copies) after the second copy began" in text
    assert "before << repeats from 7 >>#<< marker at 8 >>after" in text
    assert "[5 characters more were cut off]" in text


def test_a_false_verdict_is_called_one() -> None:
    assert "verdict: marker at 2 - a false verdict" in shown("a#")
    assert "a false verdict: it did not loop yet" in shown("a#", Label(Truth.LOOP, "exact", 9, 9, 2))


def test_without_a_verdict_a_long_text_is_shown_at_both_ends() -> None:
    text = shown("A" * 400 + "B" * 5000 + "C" * 400)
    assert "verdict: none" in text
    assert f"{'A' * 400}\n[... 5,000 characters]\n{'C' * 400}" in text


def test_what_a_terminal_would_obey_is_made_visible() -> None:
    assert one_line("a\x1b[2J\ud800\nb") == "a\\x1b[2J\\ud800\\nb"
    assert visible("a\x1b[31m\u202eb\r\n\té語") == "a\\x1b[31m\\u202eb\\r\n\té語"


def test_ids_and_kinds_do_not_reach_the_terminal_as_they_are(tmp_path: Path) -> None:
    rows = [
        {"id": "k\x1b[2J\nz", "text": "abc", "kind": "\x1b[31m", "onset": 1},
        {"id": "\ud800x", "text": "abc"},
    ]
    path = write(tmp_path / "r.jsonl", rows)
    with pytest.raises(InputError) as caught:
        find(path, None, "content")
    assert all(line.isprintable() for line in caught.value.listed)
    for row in rows:
        sample = find(path, row["id"], "content")  # type: ignore[arg-type]
        told = "".join(piece for _, piece in describe(sample, play(sample, "toy", Finds("#"), 1)))
        assert told.replace("\n", "").isprintable()


def test_a_file_with_nothing_to_show_is_refused(tmp_path: Path) -> None:
    labels, empty = write(tmp_path / "l.jsonl", [{"id": "a", "class": "healthy"}]), tmp_path / "e.txt"
    empty.write_text("")
    for path, says in (
        (labels, "labels and no text; name the file with the runs"),
        (empty, "empty; there is nothing to show"),
        (tmp_path, "a folder; name one of its files"),
        (tmp_path / "gone", "no such file or folder"),
    ):
        with pytest.raises(InputError, match=f"{path}: {says}"):
            find(path, None, "content")


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes among files")
def test_a_pipe_is_called_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: not a regular file; write what it gives into one first"):
        find(tmp_path / "pipe", None, "content")


def test_a_text_that_was_cut_is_called_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a b c d e")
    for cut, says in ((5, "the first 5 characters"), (9, "[content, 9 characters")):
        sample = find(path, None, "content", cut)
        assert says in next(describe(sample, play(sample, "toy", Finds("#"), 1)))[1]
