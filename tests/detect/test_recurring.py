"""Lines that were all said before, under one count that runs on."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.rules import BALANCED
from tests.detect.material import first, words

SAID = "were said before with other numbers"
MEALS = ["Lecture", "Break", "Lunch", "Lecture in the hall", "Sport"]


def shuffled(form: str, count: int, said: list[str] = MEALS, start: int = 1) -> str:
    dice = random.Random(8)
    return "".join(form.format(n=n, said=dice.choice(said)) for n in range(start, start + count))


def of_this_kind(finding: Finding | None) -> bool:
    return finding is not None and SAID in finding.detail


LOOPS: dict[str, str] = {
    "a schedule": shuffled("{n}:00 {said}\n", 400),
    "items": shuffled("{n}. {said} for all of them.\n", 400),
    "steps of two": "".join(
        shuffled("Day {n}: {said}\n", 1, start=2 * n) + f"Rest {n}\n" for n in range(300)
    ),
    "branches": shuffled('    }} else if n < {n} {{\n        return "{said}"\n', 400),
    "blocks": "".join(f"  - id: {n}\n    name:\n    role: admin\n" for n in range(300)),
    "questions": shuffled("Question {n}: What is the capital?\nA) Rome B) Milan\nAnswer: {said}\n\n", 300),
    "hexadecimal": "".join(f"0x{n:04x} {MEALS[n * n % 5]} register\n" for n in range(400)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_lines_that_were_said_before_are_a_verdict_if_the_count_runs_on(name: str) -> None:
    before = words(400) + "\n\n"
    finding = first(before + LOOPS[name])
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert finding.onset >= len(before)
    assert first(before + LOOPS[name], size=200) == finding


def test_it_takes_so_many_lines() -> None:
    text = LOOPS["items"]
    finding = first(text)
    assert finding is not None
    assert of_this_kind(finding)
    assert finding.repeats == 128
    assert first(text[: finding.at - 1]) is None


BY_NATURE: dict[str, Callable[[int], str]] = {
    "what is said is new": lambda n: f"{n}. {words(60, n)[:40]}\n",
    "the number jumps": lambda n: f"{n * n % 997} {MEALS[n % 5]}{MEALS[n * n % 5]}\n",
    "no number": lambda n: f"{MEALS[n * n % 5]} and {MEALS[n % 4]}{MEALS[n * n * n % 3]}\n",
    "values that vary": lambda n: f"{n};{MEALS[n * n % 5]};{n * n % 1009}\n",
    "no words": lambda n: f"{n},{n * n % 5},{n * n * n % 7},true\n",
    "a long block": lambda n: f"port {n}\n speed auto\n duplex full\n no shutdown\n vlan all\n!\n",
    "many kinds": lambda n: f"{n}: {words(4000).split()[n % 80]} again\n",
}


@pytest.mark.parametrize("kind", BY_NATURE)
def test_what_is_so_by_nature_is_no_verdict_of_this_kind(kind: str) -> None:
    assert not of_this_kind(first("".join(BY_NATURE[kind](n) for n in range(1, 400))))


def test_a_table_that_ends_in_equal_rows_is_no_verdict_of_this_kind() -> None:
    form = "| {n} | {said} | Bern |\n"
    text = shuffled(form, 40) + shuffled(form, 300, ["Lecture"], 41)
    assert not of_this_kind(first(text))


def test_a_new_line_begins_anew() -> None:
    parts = [shuffled("{n}. {said} for all.\n", 90, start=90 * n) + f"{words(80, n)}\n" for n in range(8)]
    assert not of_this_kind(first("".join(parts)))


def test_so_many_may_be_asked_for() -> None:
    text = shuffled("Day {n}: {said}\n", 365)
    assert first(text, prompt="Write a plan for 365 days.") is None
    assert of_this_kind(first(text, prompt="Write a plan."))


def test_blocks_are_counted_by_their_numbers() -> None:
    text = "".join(f"  - id: {n}\n    name:\n    role: {MEALS[n * n % 3]}\n" for n in range(100))
    assert not of_this_kind(first(text, prompt="Write 100 records."))
    assert of_this_kind(first(text, prompt="Write records."))


def test_not_in_arguments_of_a_tool_nor_with_drift_off() -> None:
    text = LOOPS["items"]
    assert not of_this_kind(first(text.replace("\n", "\\n"), "tool:0"))
    assert not of_this_kind(first(text, rules=replace(BALANCED, drift=False)))
