from collections.abc import Iterator
from pathlib import Path

import pytest

from ollama_guard.detect.rules import BALANCED
from ollama_guard.evaluate.course import Plan, Result, Source, run, sources
from ollama_guard.evaluate.labelled import InputError
from ollama_guard.evaluate.report import as_json, as_text

from .toy import write

LINE = "I will look at the file once more, and then I will be done.\n"
FINE = "Nothing here is said twice, and that is how it should be with an answer of some use to someone.\n"
PLAN = Plan(BALANCED)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A loop and a healthy run with labels beside them, a text, a binary file, all in one folder."""
    runs = [
        {"id": "loop", "channel": "reasoning", "text": FINE + LINE * 30, "chunks": [7, 3, 5]},
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
