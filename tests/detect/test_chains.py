"""Equations that are written anew without end in a line."""

import random
from dataclasses import replace
from itertools import accumulate, pairwise

import pytest

from ollama_guard.detect.finding import Kind
from ollama_guard.detect.rules import ANY, BALANCED, Band
from ollama_guard.detect.watch import Watch
from tests.detect.material import first, words

FORMS = {
    "a sum": "= {n}*48 + 129*7 ",
    "a product": "= 23*{n}*17*{m} ",
    "a function": "= {m}F(80-{k}) ",
    "a fraction": "= \\frac{{{n}}}{{{m}}} ",
    "a line for each": "= {n} × 4 + {m}\n  ",
    "a power": "= 2^{n} - {m} ",
}
ITEMS = {
    "an address": "&p{n}=1-{m}",
    "statements": "x{n} = {m} + 1; ",
    "assignments": "x={n}, y={m}, ",
    "attributes": "width={n} height={m} ",
    "a table": "{n}*7 = {m}\n",
    "cells": "| {n} = {m}*2 ",
    "words": "the sum of the numbers is = {n} + {m} ",
    "names": "value = f({n}) value = f({m}) ",
    "values alone": "= {n} ",
    "a list without commas": "{n}×{m}={n} ",
    "the same with blanks": "{n} + {m} = {n}   ",
    "in LaTeX": "{n} \\cdot {m} = {n} \\quad ",
    "functions": "F({n}) = {m} ",
    "a sheet to fill in": "{n} + {m} = ___ ",
    "sentences": "{n} + {m} = {n}. ",
    "inline LaTeX": "\\({n} \\cdot {m} = {n}\\) ",
    "lines of LaTeX": "{n} \\cdot {m} = {n} \\\\ ",
    "bold": "**{n} + {m} = {n}** ",
}


def chain(form: str, count: int) -> str:
    """Steps that take a few numbers again and again."""
    dice, steps = random.Random(5), range(count)
    few = [dice.randint(2, 999) for _ in range(9)]
    return "".join(form.format(n=dice.choice(few), m=dice.choice(few[:4]), k=step) for step in steps)


@pytest.mark.parametrize("name", FORMS)
def test_an_equation_without_end_is_a_verdict(name: str) -> None:
    before = words(400) + " 37*48 + 129*7 "
    text = before + chain(FORMS[name], 200)
    finding = first(text)
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert len(before) < finding.onset < len(before) + 60
    assert 48 <= finding.repeats <= 60
    assert text[finding.at - 1] == "="
    assert finding.mass == finding.at - finding.onset


@pytest.mark.parametrize("name", FORMS)
def test_forty_steps_are_work(name: str) -> None:
    assert first(words(400) + " 1 + 2 " + chain(FORMS[name], 40) + words(400)) is None


@pytest.mark.parametrize("name", ITEMS)
def test_assignments_lists_and_tables_are_no_chain(name: str) -> None:
    assert first(chain(ITEMS[name], 120)) is None
    dice, few = random.Random(5), range(1, 4)
    drill = (ITEMS[name].format(n=dice.choice(few), m=dice.choice(few)) for _ in range(120))
    assert first("".join(drill)) is None


def running_total() -> str:
    dice = random.Random(2)
    amounts = [dice.randint(100, 900) for _ in range(120)]
    totals = accumulate(amounts)
    return "".join(
        f"{one} + {amount} = " for (one, _), amount in zip(pairwise(totals), amounts[1:], strict=False)
    )


@pytest.mark.parametrize("channel", ["content", "reasoning"])
@pytest.mark.parametrize(
    "text",
    [
        running_total(),
        "7" + "".join(f" = {n} - {n - 7}" for n in range(8, 120)),
        "1/2" + "".join(f" = {n}/{2 * n}" for n in range(2, 120)),
        "F(90)" + "".join(f" = F({n}) + F({n - 1})" for n in range(90, 10, -1)),
        "x" + "".join(f" = {n * n * 7} - {n * 31 % 1009} * 3" for n in range(1, 120)),
    ],
)
def test_steps_that_count_or_have_new_numbers_are_work(text: str, channel: str) -> None:
    assert first(text, channel) is None


def test_a_chain_that_changes_its_form_is_work() -> None:
    steps = ("= {n} + {m} ", "= {n} * ({m} - 1) ", "= {n} / {m} ")
    dice = random.Random(3)
    values = [(dice.randint(2, 999), dice.randint(2, 99)) for _ in range(200)]
    assert first("".join(steps[turn % 3].format(n=n, m=m) for turn, (n, m) in enumerate(values))) is None


def test_no_chain_is_a_verdict_where_code_is_left_out() -> None:
    rules = replace(BALANCED, content=replace(BALANCED.content, code=0.0))
    text = chain(FORMS["a sum"], 100)
    assert first("```\n" + text, rules=rules) is None
    assert first(text, rules=rules) is not None


def test_the_settings_of_the_length_of_units_hold() -> None:
    rules = replace(BALANCED, content=replace(BALANCED.content, unit_min=40))
    assert first(chain(FORMS["a sum"], 100), rules=rules) is None
    assert first(chain(FORMS["a sum"], 100), rules=replace(BALANCED, drift=False)) is None
    rules = replace(BALANCED, content=replace(BALANCED.content, text=(Band(ANY, 90, 0),)))
    finding = first(chain(FORMS["a sum"], 200), rules=rules)
    assert finding is not None
    assert finding.repeats > 80


def test_it_is_suspicious_before_it_is_certain() -> None:
    watch = Watch(BALANCED)
    assert watch.feed("content", chain(FORMS["a sum"], 45)) is None
    assert watch.suspect("content")
    watch.feed("content", "is what we wanted to know. " + words(400))
    assert not watch.suspect("content")


@pytest.mark.parametrize("size", [1, 3, 64, 999, 100_000])
def test_the_verdict_does_not_depend_on_the_deltas(size: int) -> None:
    text = words(333) + chain(FORMS["a fraction"], 100)
    assert first(text, size=size) == first(text) is not None
