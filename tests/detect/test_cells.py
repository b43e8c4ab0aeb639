"""Tables that are filled with names that were there before and one number in most cells."""

import json
import random
from dataclasses import replace
from itertools import cycle

import pytest

from ollama_guard.detect.finding import Kind
from ollama_guard.detect.rules import BALANCED
from ollama_guard.detect.watch import Watch
from tests.detect.material import deltas, first, words

HEAD = "| Body | Mass | Radius | Moons | Day |\n|---|---|---|---|---|\n"
NAMES = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"]
_DICE = random.Random(9)
BEFORE = "".join(
    f"| {name} | {_DICE.randint(10, 99) / 10} | {_DICE.randint(10, 99) / 10} | {number} | {number} |\n"
    for number, name in enumerate(NAMES)
)


def table(form: str, count: int = 60, names: list[str] = NAMES, seed: int = 2) -> str:
    dice = random.Random(seed)
    return "".join(
        form.format(name=dice.choice(names), n=dice.randint(11, 99) / 10, m=dice.randint(1, 99), k=row)
        for row in range(count)
    )


@pytest.mark.parametrize(
    "form",
    [
        "| {name} | {n} | {n} | {n} | 2 |\n",
        "| {name} | {n} | {n} | {n} | {n} |\n",
        "|{name}|planet|{n}|{n} |{n}|\n",
        "| {name}           | {m}       | {m}       | {m}       | {m}     |\n",
        "  | {name} | {n} % | {n} % | {n} % |\r\n",
    ],
)
def test_rows_that_say_nothing_are_a_verdict(form: str) -> None:
    before = words(200) + "\n\n" + HEAD + "".join(form.format(name=name, n=1, m=2, k=3) for name in NAMES)
    text = before + table(form)
    finding = first(text)
    assert finding is not None
    assert finding.kind is Kind.NOVELTY
    assert finding.onset >= text.index(HEAD) + len(HEAD)
    assert finding.repeats >= 24
    assert finding.mass >= 1200
    assert first(text, size=100) == finding


def test_arguments_of_a_tool_need_twice_as_many() -> None:
    form = "| {name} | {n} | {n} | {n} | {n} |\n"
    text = json.dumps({"content": HEAD + BEFORE + table(form, 120)})
    watch = Watch(BALANCED)
    found = [finding for piece in deltas(text, 4) if (finding := watch.feed("tool:0", piece))]
    assert [finding.kind for finding in found] == [Kind.NOVELTY]
    assert found[0].repeats >= 48


BY_NATURE = {
    "different numbers": ("| {name} | {n} | {m} | {n} | {k} |\n", NAMES),
    "a row number": ("| {k} | {name} | {n} | {n} |\n", NAMES),
    "a date": ("| {name} | day {k} | {n} | {n} | {n} |\n", NAMES),
    "one name": ("| {name} | {n} | {n} | {n} | {n} |\n", NAMES[:1]),
    "three of seven": ("| {name} | {n} | {n} | {n} | {m} | 1{m} | 2{m} | 3{m} |\n", NAMES),
    "no name": ("| {n} | {n} | {n} | {n} |\n", NAMES),
    "a new name in each": ("| {name} {k} | {n} | {n} | {n} | {n} |\n", NAMES),
    "two cells": ("| {name} | {n} | {n} |\n", NAMES),
    "a week that goes on": ("| {name} | {k} | {n} | {n} | {n} | {n} | {n} |\n", NAMES),
    "no table": ("{name}, {n}, {n}, {n}, {n}\n", NAMES),
    "states": ("| {name} | 0 | 0 | 0 | 1 |\n", NAMES),
    "words that vary": ("| {name} | {n} | {n} | {n} | " + "see note {k} |\n", NAMES),
}


@pytest.mark.parametrize("kind", BY_NATURE)
def test_what_tables_have_by_nature_is_no_verdict_of_this_kind(kind: str) -> None:
    form, names = BY_NATURE[kind]
    finding = first(HEAD + BEFORE + table(form, 200, names))
    assert finding is None or finding.kind is not Kind.NOVELTY


@pytest.mark.parametrize("step", [1, -1])
def test_values_that_go_but_one_way_are_a_series(step: int) -> None:
    values = (50 + step * number // 2 for number in range(60))
    rows = "".join(f"| {NAMES[value % 8]} | {value}.5 | {value}.5 | {value}.5 |\n" for value in values)
    assert first(HEAD + BEFORE + rows) is None


def test_values_of_each_name_that_go_but_one_way_are_a_plan() -> None:
    weights = (20 + 10 * (number % 3) + number // 3 * 2.5 for number in range(90))
    lifts = cycle(["Squat", "Bench press", "Row"])
    rows = "".join(
        f"| {lift} | {kg} | {kg} | {kg} | {kg} |\n" for lift, kg in zip(lifts, weights, strict=False)
    )
    assert first("| Lift | 1 | 2 | 3 | 4 |\n|---|---|---|---|---|\n" + rows) is None


def test_rows_under_each_other_are_meant() -> None:
    form = "| {name} | {n} | {n} | {n} | {n} |\n"
    parts = [table(form, 20, seed=number) + f"\n{words(200, number)}\n\n" for number in range(6)]
    assert first(BEFORE + "".join(parts)) is None


def test_a_table_that_was_asked_for_is_left_alone() -> None:
    text = HEAD + BEFORE + table("| {name} | {n} | {n} | {n} | {n} |\n", 60)
    assert first(text, prompt="A table of 60 rows with the same value in all columns, please.") is None
    assert first(text, prompt="A table of the planets, please.") is not None


def test_the_family_can_be_turned_off() -> None:
    text = HEAD + BEFORE + table("| {name} | {n} | {n} | {n} | {n} |\n", 60)
    assert first(text, rules=replace(BALANCED, novelty=False)) is None
