from pathlib import Path

import pytest

from ollama_guard.evaluate.labelled import InputError
from ollama_guard.evaluate.play import play
from ollama_guard.evaluate.replay import describe, find, visible
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
    assert [line.split() for line in str(caught.value).splitlines()[1:]] == [
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
    assert visible("a\x1b[31m\u202eb\r\n\té語") == "a\\x1b[31m\\u202eb\\r\n\té語"
