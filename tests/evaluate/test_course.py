import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ollama_guard.detect.rules import BALANCED
from ollama_guard.evaluate.course import Plan, Result, Source, run, sources
from ollama_guard.evaluate.found import Found
from ollama_guard.evaluate.labelled import InputError
from ollama_guard.evaluate.report import as_json, as_text

from .toy import write

LINE = "I will look at the file once more, and then I will be done.\n"
FINE = "Nothing here is said twice, and that is how it should be with an answer of some use to someone.\n"
PLAN = Plan(BALANCED)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A loop and a healthy run with labels beside them, a text, a binary file, all in one folder."""
    rest = len(FINE) + 30 * len(LINE) - 15
    runs = [
        {"id": "loop", "channel": "reasoning", "text": FINE + LINE * 30, "chunks": [7, 3, 5, rest]},
        {"id": "fine", "text": FINE},
        {"id": "unlabelled", "text": FINE},
    ]
    onset = len(FINE) + len(LINE)
    labels = [
        {"id": "loop", "class": "loop", "kind": "exact", "loop_onset": onset, "period": len(LINE)},
        {"id": "fine", "class": "healthy", "kind": "none", "loop_onset": None},
    ]
    write(tmp_path / "runs.jsonl", runs)
    write(tmp_path / "labels.jsonl", labels)
    (tmp_path / "text.md").write_text(FINE)
    (tmp_path / "picture.bin").write_bytes(b"\x89PNG\0\0")
    return tmp_path


def done(paths: list[Path], plan: Plan = PLAN, jobs: int = 1) -> Result:
    return run(sources(paths, plan), plan, jobs=jobs)


def test_a_folder_of_runs_labels_and_texts_is_counted_exactly(corpus: Path) -> None:
    result = done([corpus])
    score = result.scores["guard"]
    assert (result.texts, result.skipped, result.complete) == (4, 1, True)
    assert (score.loops.runs, score.loops.caught, score.false_total) == (1, 1, 0)
    assert {group: h.texts for group, h in score.healthy.items()} == {"runs": 2, "content": 1}
    assert 0 < score.loops.chars[0] <= 4 * len(LINE)


def test_each_wrapping_is_a_group_of_its_own(corpus: Path) -> None:
    wrappings = ("content", "fence", "reasoning", "tool")
    score = done([corpus / "text.md"], Plan(BALANCED, wrappings=wrappings)).scores["guard"]
    assert {group: h.texts for group, h in score.healthy.items()} == dict.fromkeys(wrappings, 1)


def test_a_healthy_file_that_is_stopped_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "chant.txt"
    path.write_text("First.\n" + LINE * 40)
    result = done([path])
    (false,) = result.scores["guard"].false
    # the end of the first line equals the end of those that repeat, so the second copy begins in line 2
    assert false.place == f"{path}:2"
    assert f"false verdict: {path}:2 [content] periodic at " in as_text(result)


def test_labels_may_be_given_by_name(tmp_path: Path, corpus: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (corpus / "runs.jsonl").rename(elsewhere / "runs.jsonl")
    assert done([elsewhere]).scores["guard"].loops.runs == 0
    assert done([elsewhere, corpus / "labels.jsonl"]).scores["guard"].loops.runs == 1


def test_compared_detectors_see_the_same_texts(corpus: Path) -> None:
    result = done([corpus], Plan(BALANCED, compared=("regex", "equal-30")))
    assert list(result.scores) == ["guard", "regex", "equal-30"]
    assert [score.loops.caught for score in result.scores.values()] == [1, 1, 0]
    assert all(score.loops.runs == 1 for score in result.scores.values())
    assert "| regex | 1 of 1 |" in as_text(result)


def test_several_processes_give_the_same_figures(corpus: Path) -> None:
    for number in range(40):
        (corpus / f"copy{number}.txt").write_text(FINE * (1 + number % 3))
    one, two = (as_json(done([corpus], jobs=jobs)) for jobs in (1, 2))
    for figures in (one, two):
        figures["detectors"]["guard"].pop("us_per_delta")
    assert one == two


def test_a_path_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no/such: no such file or folder"):
        done([Path("no/such")])


def test_after_an_interruption_the_figures_so_far_are_the_result(corpus: Path) -> None:
    def found() -> Iterator[Source]:
        yield from sources([corpus / "text.md"], PLAN)
        raise KeyboardInterrupt

    def stop(_: Result) -> None:
        raise KeyboardInterrupt

    assert not run(found(), PLAN).complete
    result = run(sources([corpus / "text.md"], PLAN), PLAN, progress=stop)
    assert (result.complete, result.texts) == (False, 1)
    assert "Interrupted" in as_text(result)


def test_the_same_verdicts_fall_whatever_the_chunks(corpus: Path) -> None:
    delays = [
        done([corpus], Plan(BALANCED, chunk=chunk)).scores["guard"].loops.chars
        for chunk in (None, 1, 17, 999)
    ]
    assert len({tuple(one) for one in delays}) == 1


def told(*paths: Path) -> Found:
    found = Found()
    run(sources(paths, PLAN, found), PLAN)
    return found


def test_runs_without_a_label_next_to_labelled_ones_are_told(corpus: Path) -> None:
    [note] = told(corpus).notes()
    assert note.startswith(f"{corpus / 'runs.jsonl'}: 1 of 3 runs have no label and count as healthy; if")
    write(corpus / "runs.jsonl", [{"id": "fine", "text": FINE}])
    assert list(told(corpus).notes()) == told(corpus).faults() == []


def test_labels_of_which_none_is_for_a_run_make_the_figures_useless(corpus: Path, tmp_path: Path) -> None:
    write(corpus / "labels.jsonl", [{"id": "another", "class": "healthy"}])
    [fault] = told(corpus).faults()
    assert fault.startswith(f"{corpus / 'labels.jsonl'}: none of the 1 labels is for a run: an id there is ")
    named = write(tmp_path / "l.jsonl", [{"id": name, "class": "healthy"} for name in ("loop", "fine")])
    [fault] = told(corpus / "runs.jsonl", named).faults()  # those that were named do not excuse those beside
    assert "labels.jsonl: none of" in fault


@pytest.mark.parametrize("line", ["{", '{"class": "loop"}', '{"id": "loop"}', ""])
def test_labels_beside_runs_that_cannot_be_read_are_not_passed_over(corpus: Path, line: str) -> None:
    (corpus / "labels.jsonl").write_text(line + "\n")
    for path in (corpus, corpus / "runs.jsonl", corpus / "labels.jsonl"):
        with pytest.raises(InputError, match=r"labels\.jsonl:"):
            done([path])


def test_a_named_file_of_json_lines_without_runs_is_refused_and_in_a_folder_told(tmp_path: Path) -> None:
    for line in ('{"id": "a", "text": "b"', '{"text": "b"}', '{"id": "a", "text": 5, "class": "loop"'):
        path = tmp_path / "data.jsonl"
        path.write_text(line)
        with pytest.raises(InputError, match=r"data\.jsonl:1: .*; to have the file played as one plain text"):
            done([path])
        [note] = told(tmp_path).notes()
        assert note.startswith(f"1 files of JSON lines count as plain text, the first since {path}:1: ")
    path.write_text("\n\n")
    with pytest.raises(InputError, match="nothing but blank lines"):
        done([path])


def test_runs_under_the_name_of_a_json_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"runs\.json: this holds runs, one a line; give it a name"):
        done([write(tmp_path / "runs.json", [{"id": "a", "text": FINE}])])
    (tmp_path / "other.json").write_text('{"name": "a",\n"text": "b"}')
    assert done([tmp_path / "other.json"]).texts == 1


def test_labels_in_a_folder_that_belong_to_no_file_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(FINE)
    path = write(tmp_path / "mine.jsonl", [{"id": "a", "class": "healthy"}])
    assert list(told(tmp_path).notes()) == [
        f"{path}: labels that are not used; name the file too, or call it labels.jsonl"
    ]


def test_texts_that_are_cut_are_counted(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text(FINE)
    (tmp_path / "short.txt").write_text(FINE[:20])
    result = done([tmp_path], Plan(BALANCED, cut=20))
    assert (result.texts, result.chars, result.cut) == (2, 40, 1)
    assert "; 1 of the texts cut (--cut)" in as_text(result)


def test_an_absurd_cut_is_no_more_than_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(FINE)
    assert done([tmp_path], Plan(BALANCED, cut=1 << 70)).chars == len(FINE)


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes among files")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(InputError, match="not a regular file; write what it gives into one first"):
        done([tmp_path / "pipe.jsonl"])


def test_names_do_not_reach_the_terminal_as_they_are(tmp_path: Path) -> None:
    rows = [
        {"id": "\x1b[2J\nfalse verdict: made up", "text": LINE * 40},
        {"id": "\ud800", "text": LINE * 40},
        {"id": "never", "text": FINE, "kind": "\x1b[31m", "onset": 3},
    ]
    text = as_text(done([write(tmp_path / "r.jsonl", rows)]))
    assert text.replace("\n", "").isprintable()
    assert not any(line.startswith("false") for line in text.splitlines())
