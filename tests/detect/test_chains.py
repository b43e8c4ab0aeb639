"""Equations that are written anew without end in a line."""

import random
from dataclasses import replace

import pytest

from ollama_guard.detect.finding import Kind
from ollama_guard.detect.rules import BALANCED
from tests.detect.material import first, words

FORMS = {
    "a sum": "= {n}*48 + 129*7 ",
    "a product": "= 23*{n}*17*{m} ",
    "a function": "= {m}F(80-{n}) ",
    "a fraction": "= \\frac{{{n}}}{{{m}}} ",
    "a line for each": "= {n} × 4 + {m}\n  ",
    "a power": "= 2^{n} - {m} ",
}


def chain(form: str, count: int) -> str:
    dice = random.Random(5)
    return "".join(form.format(n=dice.randint(2, 999), m=dice.randint(2, 99)) for _ in range(count))


@pytest.mark.parametrize("name", FORMS)
def test_an_equation_without_end_is_a_verdict(name: str) -> None:
    before = words(400) + " 37*48 + 129*7 "
    text = before + chain(FORMS[name], 200)
    finding = first(text)
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert len(before) < finding.onset < len(before) + 60
    assert 32 <= finding.repeats <= 60
    assert text[finding.at - 1] == "="
    assert finding.mass == finding.at - finding.onset


@pytest.mark.parametrize("name", FORMS)
def test_thirty_steps_are_work(name: str) -> None:
    assert first(words(400) + " 1 + 2 " + chain(FORMS[name], 30) + words(400)) is None


@pytest.mark.parametrize(
    "form",
    [
        "&p{n}=1-{m}",  # an address
        "x{n} = {m} + 1; ",
        "x={n}, y={m}, ",
        "width={n} height={m} ",
        "{n}*7 = {m}\n",  # a table: a new equation on each line
        "| {n} = {m}*2 ",
        "the sum of the numbers is = {n} + {m} ",
        "value = f({n}) value = f({m}) ",
        "= {n} ",  # nothing is worked out
    ],
)
def test_assignments_lists_and_tables_are_no_chain(form: str) -> None:
    assert first(chain(form, 120)) is None


def test_a_chain_that_changes_its_form_is_work() -> None:
    steps = ("= {n} + {m} ", "= {n} * ({m} - 1) ", "= {n} / {m} ")
    dice = random.Random(3)
    values = [(dice.randint(2, 999), dice.randint(2, 99)) for _ in range(200)]
    assert first("".join(steps[turn % 3].format(n=n, m=m) for turn, (n, m) in enumerate(values))) is None


def test_a_count_may_be_asked_for() -> None:
    text = "F(90) " + "".join(f"= F({n}) + F({n - 1}) " for n in range(90, 10, -1))
    assert first(text) is not None
    assert first(text, prompt="Expand F(90) down to F(10), step by step.") is None


def test_values_that_run_wild_were_not_asked_for() -> None:
    assert first("1 + 2 " + chain(FORMS["a sum"], 80), prompt="Compute it in 100 steps.") is not None


def test_no_chain_is_a_verdict_where_code_is_left_out() -> None:
    rules = replace(BALANCED, content=replace(BALANCED.content, code=0.0))
    text = chain(FORMS["a sum"], 100)
    assert first("```\n" + text, rules=rules) is None
    assert first(text, rules=rules) is not None


@pytest.mark.parametrize("size", [1, 3, 64, 999, 100_000])
def test_the_verdict_does_not_depend_on_the_deltas(size: int) -> None:
    text = words(333) + chain(FORMS["a fraction"], 100)
    assert first(text, size=size) == first(text)
