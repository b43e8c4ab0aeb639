import pytest

from ollama_guard.evaluate.course import Result
from ollama_guard.evaluate.detector import Hit
from ollama_guard.evaluate.play import Played
from ollama_guard.evaluate.samples import HEALTHY, Label, Truth
from ollama_guard.evaluate.score import Score

from . import compare

LOOP = Label(Truth.LOOP, "exact", onset=50, begins=40, period=10)


def result(*places: tuple[Label, int | None]) -> Result:
    made = Result({name: Score(name) for name in ("guard", "regex")})
    for name in made.scores:
        for label, at in places:
            hit = None if at is None else Hit("rule", at)
            made.add(Played(name, "x", "runs", label, hit, "", 100, 100, 25, 0.0001))
    return made


def test_a_row_has_what_was_caught_and_stopped_in_each_set() -> None:
    corpus = result((LOOP, 70), (LOOP, None), (LOOP, 30), (HEALTHY, 5), (HEALTHY, None))
    made = result((LOOP, 90), (HEALTHY, None))
    lines = list(compare.table(corpus, made, None))
    assert lines[2] == "| **guard** | 1 of 3 | 1 + 1 of 2 | 1 of 1 | 0 of 1 | 20 / 40 | 4.0 |"
    assert lines[3].startswith("| regex: ")
    assert all(line.count(" | ") == lines[0].count(" | ") for line in (lines[2], lines[3]))


def test_the_table_takes_its_place_in_a_document() -> None:
    old = f"# Title\n{compare.OPEN}\nold\n{compare.CLOSE}\nrest\n"
    assert compare.placed(old, "new") == f"# Title\n{compare.OPEN}\nnew\n{compare.CLOSE}\nrest\n"
    with pytest.raises(ValueError, match="no <!-- eval table -->"):
        compare.placed("# Title\n", "new")
