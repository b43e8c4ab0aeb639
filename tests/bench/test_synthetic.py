import json
from pathlib import Path

import pytest

from ollama_guard.evaluate.samples import Sample, Truth

from . import synthetic

LOOPS = list(synthetic.loops())


def test_there_are_42_loops_and_51_nasty_texts_with_names_of_their_own() -> None:
    names = [one.name for one in (*LOOPS, *synthetic.healthy())]
    assert (len(LOOPS), len(set(names))) == (42, 93)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda one: one.name)
def test_a_loop_is_long_and_labelled_where_its_second_copy_begins(loop: Sample) -> None:
    onset, period = loop.label.onset, loop.label.period
    assert loop.label.truth is Truth.LOOP
    assert onset - period >= synthetic.BEFORE or not period
    assert len(loop.text) - synthetic.BEFORE >= synthetic.LOOP
    if period:
        assert loop.text[onset:] == loop.text[onset - period : -period]


def test_the_texts_are_the_same_each_time(tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        synthetic.write(tmp_path / name)
        written.append((tmp_path / name / "synthetic.jsonl").read_text(encoding="utf-8"))
    assert written[0] == written[1]
    assert len([json.loads(line) for line in written[0].splitlines()]) == 93
