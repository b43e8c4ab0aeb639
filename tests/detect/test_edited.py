"""Prose that comes again with small edits in each copy."""

import random
import re
from dataclasses import replace

import pytest

from ollama_guard.detect.asked import Asked
from ollama_guard.detect.edited import Edited, Trail, copies
from ollama_guard.detect.finding import Kind
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.rules import BALANCED
from tests.detect.material import first, words
from tests.detect.test_novelty import shown

BEFORE = words(1500) + "\n\n"


def edited(count: int, size: int, edits: int, seed: int = 1) -> str:
    """Copies of so many characters; in each, so many words are changed, put in or left out for good."""
    dice, unit, others = random.Random(seed), words(size, 5).split(), words(90, 6).split()
    said = []
    for _ in range(count):
        for _ in range(edits):
            place = dice.randrange(len(unit))
            kind = dice.randrange(5)
            if kind < 3:
                unit[place] = dice.choice(others)
            elif kind == 3:
                unit.insert(place, dice.choice(others))
            elif len(unit) > 9:
                del unit[place]
        said.append(" ".join(unit))
    return "\n\n".join(said)


@pytest.mark.parametrize(("size", "edits", "most"), [(120, 1, 56), (300, 3, 48), (900, 8, 20), (2000, 9, 12)])
def test_copies_with_small_edits_are_a_verdict(size: int, edits: int, most: int) -> None:
    finding = first(BEFORE + edited(80, size, edits))
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert "with small edits" in finding.detail
    assert 5 < finding.repeats < most
    assert finding.period == pytest.approx(size, rel=0.3)
    assert finding.onset > len(BEFORE)
    assert finding.mass == finding.at - finding.onset


def test_thought_is_given_less_room_than_an_answer() -> None:
    text = BEFORE + edited(120, 150, 1)
    answer, thought = first(text), first(text, "reasoning")
    assert answer is not None
    assert thought is not None
    assert thought.at < answer.at


def test_a_score_of_letters_from_one_template_is_left_alone() -> None:
    assert first(BEFORE + edited(30, 300, 3)) is None
    assert first(BEFORE + edited(8, 1500, 8)) is None


def test_the_request_may_have_asked_for_as_many() -> None:
    text, names = BEFORE + edited(50, 300, 3), "\n".join(words(50 * 8).split())
    assert first(text, prompt="Write 50 letters from this template.") is None
    assert first(text, prompt=f"Write a letter to each of them:\n{names}") is None
    assert first(text, prompt="Write letters from this template.") is not None


def test_a_template_with_a_new_name_in_each_copy_is_left_alone() -> None:
    unit, names = words(300, 5).split(), sorted(set(words(4000, 8).split()))
    letters = "\n\n".join(" ".join(["Dear", name, *unit[:20], name, *unit[20:]]) for name in names[:70])
    assert first(letters) is None
    again = "\n\n".join(" ".join(["Dear", name, *unit[:20], name, *unit[20:]]) for name in names[:7] * 10)
    assert first(again) is not None


def test_text_that_changes_half_its_words_is_no_copy() -> None:
    assert first(edited(60, 300, 25)) is None
    assert copies(edited(60, 300, 25)) is None


CASE = "If n is {n}, then its square leaves a rest of {rest} by seven, so {how} a root of it, as was said.\n"


def test_cases_are_told_by_their_numbers() -> None:
    hows = ["it is", "this may be", "it is not"]
    text = "".join(
        CASE.format(n=n * n % 211, rest=n * n % 7, how=random.Random(n).choice(hows)) for n in range(400)
    )
    assert copies(text) is None
    named = "".join(CASE.format(n=17, rest=3, how=random.Random(n).choice(hows)) for n in range(99))
    assert copies(named) is not None


def test_code_is_no_prose() -> None:
    call = "    client = connect(path, default=None, strict=True, owner={}, retries=None, cache=None)\n"
    code = "".join(map(call.format, random.Random(1).choices(words(90).split(), k=300)))
    assert copies(code[:24_000]) is not None
    assert first(code) is None
    assert first(re.sub(r"[^a-z\n]+", " ", code.lower())) is not None


def test_where_code_is_left_out_no_copy_in_it_is_a_verdict() -> None:
    off = replace(BALANCED, content=replace(BALANCED.content, code=0.0))
    assert first("```\n" + edited(80, 300, 3), rules=off) is None
    assert first("```\nx = 1\n```\n" + edited(80, 300, 3), rules=off) is not None


def test_it_is_found_without_the_family_that_counts_what_is_new() -> None:
    finding = first(BEFORE + edited(80, 300, 3), rules=replace(BALANCED, novelty=False))
    assert finding is not None
    assert finding.kind is Kind.DRIFT


def test_drift_switches_it_off() -> None:
    assert first(BEFORE + edited(80, 300, 3), rules=replace(BALANCED, drift=False)) is None


@pytest.mark.parametrize("size", [1, 63, 2048, 1_000_000])
def test_the_verdict_does_not_depend_on_the_deltas(size: int) -> None:
    text = BEFORE + edited(60, 300, 3)
    assert first(text, size=size) == first(text)


@pytest.mark.parametrize(("size", "edits"), [(120, 1), (300, 3), (2000, 9)])
def test_text_before_it_does_not_move_the_verdict(size: int, edits: int) -> None:
    text, found = "\n\n" + edited(80, size, edits), set()
    for before in (2000, 2001, 2033, 3100, 4095, 9000):
        finding = first(words(before) + text)
        assert finding is not None
        found.add((finding.at - before, finding.onset - before, finding.repeats, finding.unit))
    assert len(found) == 1


def test_names_are_a_templates_though_they_stood_in_a_list_before() -> None:
    unit, names = words(300, 5).split(), sorted(set(words(4000, 8).split()))[:70]
    letters = "\n\n".join(" ".join(["Dear", name, *unit[:20], name, *unit[20:]]) for name in names)
    assert first("\n".join(names) + "\n\n" + letters) is None


def test_copies_that_become_enough_are_told_at_the_word() -> None:
    text = BEFORE + edited(80, 300, 3)
    finding = first(text)
    assert finding is not None
    assert finding.at % 64
    assert re.match(r"\w\b", text[finding.at - 1 : finding.at + 1])
    trail = Trail(0, lambda found: found.copies >= 9)
    found = trail.feed(text)
    assert found is not None
    assert 9 <= found.copies < 9 + 65 / found.words
    parts = Trail(0, lambda found: found.copies >= 9)
    assert next(filter(None, map(parts.feed, (text[n : n + 7] for n in range(0, len(text), 7))))) == found


def test_a_trail_is_left_where_the_copies_end_and_found_again() -> None:
    text = BEFORE + edited(16, 300, 3) + "\n\n" + words(9000, 77) + "\n\n"
    assert first(text) is None
    finding = first(text + edited(80, 300, 3, seed=9))
    assert finding is not None
    assert finding.onset > len(text)


def test_what_is_noticed_late_is_placed_where_it_was_noticed() -> None:
    text = (BEFORE + edited(80, 300, 3))[:20_000]
    family = Edited(Measure(BALANCED.content, Asked("")), shown(text))
    assert family.look(len(text)) == len(text)
    finding = family.finding(len(text), "content")
    assert finding.at == len(text)
    assert finding.repeats < finding.mass / 300
