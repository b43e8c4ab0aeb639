"""Blocks of lines that locked in while a count runs on."""

import random
from collections.abc import Iterable
from dataclasses import replace
from itertools import cycle, islice

import pytest

from ollama_guard.detect.asked import Asked
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.lines import Lines
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.recurring import Recurring
from ollama_guard.detect.rules import BALANCED
from tests.detect.material import first, words

SAID = "in blocks of"
MEALS = ["Lecture", "Break", "Lunch"]
FORMS = {
    "a schedule": "{n}:00 {said}\n",
    "a table": "| {n} | {said} | hall |\n",
    "branches": '    }} else if n < {n} {{\n        return "{said}"\n',
    "records": "  - id: {n}\n    name:\n    role: {said}\n",
    "cases": '        case {n}:\n            return "{said}";\n\n',
    "hexadecimal": "0x{n:04x} {said} register\n",
}


def rows(form: str, said: Iterable[str], start: int = 1) -> str:
    return "".join(form.format(n=n, said=one) for n, one in enumerate(said, start))


def wavering(count: int) -> list[str]:
    dice = random.Random(8)
    return [dice.choice(MEALS) for _ in range(count)]


def blocks(count: int) -> list[str]:
    return list(islice(cycle(MEALS), count))


def locked(form: str, before: int = 24, count: int = 560) -> str:
    """Lines in any order, then always in the same one."""
    return rows(form, wavering(before)) + rows(form, blocks(count), before + 1)


def alone(text: str) -> bool:
    """Whether this family has a verdict, whatever others say."""
    family = Lines([Recurring(Measure(BALANCED.content, Asked("")))], escaped=False)
    return family.feed(text) is not None


def of_this_kind(finding: Finding | None) -> bool:
    return finding is not None and SAID in finding.detail


@pytest.mark.parametrize("name", FORMS)
def test_blocks_that_locked_in_are_a_verdict(name: str) -> None:
    before, text = words(400) + "\n\n", locked(FORMS[name])
    finding = first(before + text)
    assert finding is not None
    assert of_this_kind(finding)
    assert finding.kind is Kind.DRIFT
    assert finding.onset > len(before)
    lines = [line for line in text[: finding.at - len(before)].splitlines() if line]
    assert 320 <= len(lines) <= 440
    assert first(before + text, size=200) == finding


def test_in_thought_it_takes_less() -> None:
    text = locked(FORMS["a table"])
    found, thought = first(text), first(text, "reasoning")
    assert found is not None
    assert thought is not None
    assert thought.at < found.at


@pytest.mark.parametrize("name", FORMS)
def test_blocks_from_the_first_line_on_are_a_plan(name: str) -> None:
    assert not alone(rows(FORMS[name], blocks(800)))


@pytest.mark.parametrize("name", FORMS)
def test_labels_in_any_order_are_data(name: str) -> None:
    assert not alone(rows(FORMS[name], wavering(800)))


@pytest.mark.parametrize("name", FORMS)
def test_a_table_may_end_in_equal_rows(name: str) -> None:
    text = rows(FORMS[name], wavering(40)) + rows(FORMS[name], ["Lunch"] * 400, 41)
    blocks_of_lines = {"branches", "records", "cases"}  # which are blocks all the same
    assert alone(text) is (name in blocks_of_lines)


BY_NATURE: dict[str, str] = {
    "something is new": "{n}. {said} {m}\n",
    "the number jumps": "{m} {said}\n",
    "no number": "{said} and so on\n",
    "no words": "{n},{said},true\n",
    "a long block": "port {n}\n speed auto\n duplex {said}\n no shutdown\n vlan all\n!\n",
}


@pytest.mark.parametrize("kind", BY_NATURE)
def test_what_is_so_by_nature_is_no_verdict_of_this_kind(kind: str) -> None:
    said = [str(MEALS.index(one)) if kind == "no words" else one for one in wavering(24) + blocks(700)]
    text = "".join(BY_NATURE[kind].format(n=n, m=n * n % 997, said=one) for n, one in enumerate(said))
    assert not alone(text)


def test_ok_and_not_ok_are_no_blocks() -> None:
    said = ["not ok" if n % 17 == 3 or n * n % 23 == 2 else "ok" for n in range(400)]
    assert not alone(rows("{said} {n}\n", said))


PORT = ["port {n}", " speed auto", " duplex full", " no shutdown", " vlan all", "!"]


def test_blocks_with_few_numbers_are_configuration() -> None:
    dice = random.Random(3)
    mixed = [dice.choice(PORT) for _ in range(30)]
    text = "\n".join(line.format(n=n) for n, line in enumerate(mixed + PORT * 120))
    assert not alone(text)


def test_one_half_and_the_other_are_no_blocks() -> None:
    said = wavering(40) + ["Lunch"] * 160 + ["Break"] * 140
    assert not alone(rows(FORMS["a table"], said))


@pytest.mark.parametrize("place", [6, 30])
def test_a_row_out_of_place_is_no_wavering(place: int) -> None:
    said = [*blocks(place), "Lunch", "Lunch", *blocks(600)]
    assert not alone(rows(FORMS["a table"], said))


def test_a_roster_has_holidays() -> None:
    said = blocks(700)
    said[10:480:11] = ["Holiday"] * len(said[10:480:11])
    assert not alone(rows(FORMS["a table"], said))


def test_what_is_mostly_the_same_is_no_block() -> None:
    said = wavering(40) + [*["Lunch"] * 4, "Break"] * 120
    assert not alone(rows(FORMS["a table"], said))


def test_a_new_line_begins_anew() -> None:
    form = FORMS["a table"]
    parts = [rows(form, blocks(240), 300 * n) + f"{words(80, n)}\n" for n in range(1, 6)]
    assert not alone(rows(form, wavering(40)) + "".join(parts))


def test_so_many_may_be_asked_for() -> None:
    text = locked("Day {n}: {said}\n", 24, 424)
    assert first(text, prompt="Write a plan for 448 days.") is None
    assert of_this_kind(first(text, prompt="Write a plan."))


def test_blocks_are_counted_by_their_numbers() -> None:
    text = locked(FORMS["records"], 24, 126)
    assert not of_this_kind(first(text, prompt="Write 150 records."))
    assert of_this_kind(first(text, prompt="Write records."))


def test_not_in_arguments_of_a_tool_nor_with_drift_off() -> None:
    text = locked(FORMS["a table"], 24, 1400)  # twice as much as an answer needs, and more
    assert not of_this_kind(first(text.replace("\n", "\\n"), "tool:0"))
    assert not of_this_kind(first(text, rules=replace(BALANCED, drift=False)))


def test_what_is_remembered_is_bounded() -> None:
    family = Recurring(Measure(BALANCED.content, Asked("")))
    for n in range(20_000):
        assert family.take(f"{words(30, n)} {n}", 40 * n) is None
    assert len(family._said) <= 1025
    assert len(family._held) <= 1024
