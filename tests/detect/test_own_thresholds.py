"""Ranges of units and tables of one's own: both are about a copy as it stands in the text."""

from dataclasses import replace
from typing import TypeGuard

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.rules import BALANCED, STRICT, Band, ChannelRules, OwnTable, WatchRules
from ollama_guard.detect.tables import NEVER
from tests.detect.material import LOOPS, first, words
from tests.detect.test_recurring import FORMS, locked

NO_NOVELTY = replace(BALANCED, novelty=False)


def with_own(rules: WatchRules = NO_NOVELTY, **own: object) -> WatchRules:
    """The same for all channels."""

    def of(channel: ChannelRules) -> ChannelRules:
        return replace(channel, **own)  # type: ignore[arg-type]

    return replace(rules, reasoning=of(rules.reasoning), content=of(rules.content), tool=of(rules.tool))


def table(*rows: tuple[int, int], rules: WatchRules = NO_NOVELTY) -> WatchRules:
    """Rules with a table of longest units and their repeats, as `app.policies` makes them."""
    own = OwnTable(Band(upto, repeats - 1, 0) for upto, repeats in rows)
    classes = dict.fromkeys(("text", "emoji", "flat", "rule"), own)
    nothing = dict.fromkeys(("span_min", "markup", "figures", "blob"))
    return with_own(rules, scale=1.0, code_alike=True, **classes, **nothing)


REST = 1 << 40
SAID = "Hello there world, how are you? "
FOLDING = {
    "verbatim": SAID * 400,
    "other marks": "".join(f"Hello there world{mark} how are you? " for mark in ",;:." * 100),
    "other numbers": "".join(f"Hello there world {n}, how are you now? " for n in range(10, 99)) * 20,
    "a counter": "".join(f"{n}. Look at the file; and see!\n" for n in range(1000, 4000)),
}


@pytest.mark.parametrize("rules", [NO_NOVELTY, replace(NO_NOVELTY, variant=False)])
@pytest.mark.parametrize("name", FOLDING)
def test_a_unit_is_as_long_as_it_stands_in_the_text(name: str, rules: WatchRules) -> None:
    found = first(FOLDING[name], rules=rules)
    if found is None:
        assert name == "other marks"
        return
    assert first(FOLDING[name], rules=with_own(rules, unit_min=found.period)) == found
    assert first(FOLDING[name], rules=with_own(rules, unit_max=found.period)) == found
    for none in ({"unit_max": found.period - 1}, {"unit_min": found.period + 1}):
        other = first(FOLDING[name], rules=with_own(rules, **none))
        assert other is None or none.get("unit_min", 0) <= other.period <= none.get("unit_max", NEVER)


def test_a_table_is_read_by_the_length_in_the_text() -> None:
    found = first(SAID * 400, rules=table((31, 5), (REST, 20)))
    assert found is not None
    assert (found.kind, found.repeats) == (Kind.PERIODIC, 20)
    assert first(SAID * 400, rules=table((31, 5))) is None
    marks = FOLDING["other marks"]
    late, soon = (first(marks, rules=table(*rows)) for rows in (((31, 5), (REST, 60)), ((31, 60), (REST, 5))))
    assert late is not None
    assert soon is not None
    assert soon.repeats < 10
    assert late.repeats > 60


def test_a_counter_needs_the_repeats_of_a_copy_as_it_stands() -> None:
    text = FOLDING["a counter"]
    found = first(text, rules=table((24, 9), (REST, 300)))
    assert found is not None
    assert found.repeats >= 300


def test_after_thousands_of_copies_the_length_is_still_that_of_one() -> None:
    """The first ones are not held any more."""
    text = "".join(f"Step {n}: look at the file again; and see!\n" for n in range(1000, 9000))
    for rules in (table((REST, 2000)), table((42, 100), (REST, 2000))):
        found = first(text, rules=rules, size=60)
        assert found is not None
        assert found.repeats >= 2000
        assert found.period in {43, 44}


@pytest.mark.parametrize("repeats", [5, 20, 40])
def test_in_arguments_of_a_tool_a_copy_is_as_long_as_it_is_written(repeats: int) -> None:
    unit = r"lorem\n\n\n\t\t\"q\""
    found = first('{"text": "' + unit * 60, "tool:0", rules=table((REST, repeats)))
    assert found is not None
    assert found.period == len(unit)
    assert found.repeats == repeats


def test_so_is_a_smallest_run() -> None:
    unit = r"lorem\n\n\n\t\t\"q\""
    found = first('{"text": "' + unit * 60, "tool:0", rules=with_own(span_min=15 * len(unit)))
    assert found is not None
    assert found.repeats >= 3
    few = with_own(span_min=2, span_copies=3, core_min=0)
    found = first('{"text": "' + unit * 60, "tool:0", rules=few)
    assert found is not None
    assert found.repeats == 3


def test_blocks_and_functions_are_units_too() -> None:
    text = locked(FORMS["cases"])
    found = first(text, rules=BALANCED)
    assert found is not None
    assert found.period > 20
    for least, most in ((1, found.period // 2), (10 * found.period, NEVER)):
        other = first(text, rules=with_own(unit_min=least, unit_max=most))
        assert other is None or least <= other.period <= most


MARKED = st.tuples(
    st.sampled_from(["{}. We look, and see; ", "so {}! ", "x-{} ", "a, b ... c. ", "是的，好 "])
)


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(st.sampled_from(sorted(LOOPS)) | MARKED, st.sampled_from(["content", "reasoning", "tool:0"])),
    st.tuples(st.integers(1, 60), st.integers(0, 60) | st.integers(0, 600)),
    st.integers(2, 30),
    st.sampled_from([BALANCED, STRICT, replace(BALANCED, variant_copies=2)]),
)
def test_no_copy_that_is_shown_is_of_another_length_or_stands_less_often_than_was_said(
    said: tuple[str | tuple[str], str], span: tuple[int, int], repeats: int, rules: WatchRules
) -> None:
    what, channel = said
    least, most = span[0], sum(span)
    text = LOOPS[what] if isinstance(what, str) else "".join(what[0].format(n) for n in range(900))
    text = words(100) + "\n" + text[:12_000]
    found = first(text, channel, rules=with_own(rules, unit_min=least, unit_max=most), size=30)
    assert not has_unit(found) or least <= found.period <= most
    found = first(text, channel, rules=table((most, repeats), rules=rules), size=30)
    assert not has_unit(found) or (found.period <= most and found.repeats >= repeats - 0.01)


def has_unit(found: Finding | None) -> TypeGuard[Finding]:
    """Whether it is about copies. (White space without end is something else.)"""
    return found is not None and found.period > 0 and (found.unit, found.period) != (" ", 1)
