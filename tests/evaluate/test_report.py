import json
from pathlib import Path

import pytest

from ollama_guard.detect.rules import BALANCED
from ollama_guard.evaluate.course import Plan, Result, run, sources
from ollama_guard.evaluate.report import as_json, as_text

from .toy import write

LINE = "I will look at the file once more, and then I will be done.\n"


@pytest.fixture
def result(tmp_path: Path) -> Result:
    """Two loops of one kind, one of them missed; a healthy run; a gray one that was stopped."""
    onset = len(LINE)
    rows = [
        {"id": "caught", "text": LINE * 20, "kind": "exact", "onset": onset, "period": onset},
        {"id": "short", "text": LINE * 2, "kind": "exact", "onset": onset, "period": onset},
        {"id": "fine", "text": "Fine.", "class": "healthy"},
        {"id": "gray", "text": LINE * 20, "class": "gray", "kind": "exact"},
    ]
    plan = Plan(BALANCED)
    return run(sources([write(tmp_path / "r.jsonl", rows)], plan), plan)


def test_the_text_says_what_was_caught_missed_and_left_open(result: Result) -> None:
    text = as_text(result)
    assert "4 texts" in text
    assert "    exact                 2       1   50.0 %" in text
    assert "  missed: short [runs] exact, unit 60, 60 characters of loop" in text
    assert "  gray: 1 runs, 1 stopped (either is fine)" in text
    assert "  healthy, runs: 1 texts, 0.00 million characters: 0 stopped" in text
    assert "µs a delta" in text


def test_the_json_has_the_same_figures(result: Result) -> None:
    figures = json.loads(json.dumps(as_json(result)))
    guard = figures["detectors"]["guard"]
    assert (figures["texts"], figures["complete"]) == (4, True)
    assert (guard["loops"]["runs"], guard["loops"]["caught"], guard["loops"]["recall"]) == (2, 1, 0.5)
    assert guard["loops"]["delay_chars"]["median"] == guard["loops"]["delay_chars"]["most"]
    assert guard["loops"]["delay_copies"]["p90"] == guard["loops"]["delay_chars"]["p90"] / 60
    assert guard["missed"] == [{"id": "short", "kind": "exact", "period": 60}]
    assert guard["gray"] == {"runs": 1, "stopped": 1}
    assert guard["false"] == []


def test_nothing_at_all_is_no_division_by_zero(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    plan = Plan(BALANCED, compared=("ratio",))
    nothing = run(sources([tmp_path], plan), plan)
    assert "0 texts" in as_text(nothing)
    assert as_json(nothing)["skipped"] == 1
