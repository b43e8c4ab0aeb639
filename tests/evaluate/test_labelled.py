from pathlib import Path

import pytest

from ollama_guard.evaluate.labelled import InputError, RunFile, is_labels, is_runs, read_labels
from ollama_guard.evaluate.samples import Label, Truth

from .toy import write

RUN = {"id": "a", "channel": "reasoning", "text": "xyxyxy", "chunks": [2, 4], "prompt": "say xy"}
LABEL = {"id": "a", "class": "loop", "kind": "exact", "loop_onset": 2, "degenerate_from": 1, "period": 2}


def one(path: Path, labels: dict[str, dict[str, object]] | None = None) -> Label:
    (sample,) = RunFile(path, labels or {}).samples()
    return sample.label


def test_a_run_and_its_label_in_one_line(tmp_path: Path) -> None:
    (sample,) = RunFile(write(tmp_path / "r.jsonl", [RUN | LABEL]), {}).samples()
    assert (sample.name, sample.channel, sample.text, sample.prompt) == ("a", "reasoning", "xyxyxy", "say xy")
    assert sample.chunks == (2, 4)
    assert sample.label == Label(Truth.LOOP, "exact", onset=2, begins=1, period=2)


def test_a_label_from_another_file_is_joined_by_id(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path / "l.jsonl", [LABEL]))
    assert one(write(tmp_path / "r.jsonl", [RUN]), labels) == Label(Truth.LOOP, "exact", 2, 1, 2)


def test_onset_is_the_short_name_and_where_a_loop_begins_unless_said(tmp_path: Path) -> None:
    row = {"id": "a", "text": "xyxy", "onset": 2, "kind": "drift"}
    assert one(write(tmp_path / "r.jsonl", [row])) == Label(Truth.LOOP, "drift", 2, 2, 0)


def test_a_run_without_an_onset_is_healthy(tmp_path: Path) -> None:
    row = {"id": "a", "text": "fine", "kind": "none", "loop_onset": None}
    assert one(write(tmp_path / "r.jsonl", [row])).truth is Truth.HEALTHY


def test_a_gray_run_needs_no_onset(tmp_path: Path) -> None:
    row = {"id": "a", "text": "fine", "class": "gray", "kind": "enumeration"}
    assert one(write(tmp_path / "r.jsonl", [row])) == Label(Truth.GRAY, "enumeration")


def test_files_are_told_apart_by_their_first_line(tmp_path: Path) -> None:
    runs, labels = write(tmp_path / "r.jsonl", [RUN]), write(tmp_path / "l.jsonl", [LABEL])
    other, text = write(tmp_path / "o.jsonl", [{"name": "x"}]), tmp_path / "t.txt"
    text.write_text('{"id": "a", "text": "b"}\n')
    assert [is_runs(path) for path in (runs, labels, other, text)] == [True, False, False, False]
    assert [is_labels(path) for path in (runs, labels, other, text)] == [False, True, False, False]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": "a", "text": 5}, "needs an id, and text"),
        ({"text": "x"}, "needs an id, and text"),
        ({"id": "a", "text": "x", "class": "bad"}, "'bad' is none of loop, healthy, gray"),
        ({"id": "a", "text": "x", "class": "loop"}, "needs an onset"),
        ({"id": "a", "text": "x", "onset": "three"}, "needs an onset"),
        ({"id": "a", "text": "x", "chunks": [1, 0]}, "chunks must be a list of lengths"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, row: dict[str, object], says: str) -> None:
    path = write(tmp_path / "r.jsonl", [RUN | LABEL, row])
    with pytest.raises(InputError, match=says) as caught:
        list(RunFile(path, {}).samples())
    assert str(caught.value).startswith(f"{path}:2: ")


@pytest.mark.parametrize("line", ["[1]", "{"])
def test_a_line_that_is_no_object_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(f'{{"id": "a", "text": "x"}}\n\n{line}\n')
    with pytest.raises(InputError, match=r"r\.jsonl:3: not "):
        list(RunFile(path, {}).samples())
