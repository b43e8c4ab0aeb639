from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.asked import Asked
from ollama_guard.detect.measure import NEVER, Measure, by_span, by_table
from ollama_guard.detect.regions import Region
from ollama_guard.detect.rules import BALANCED, STRICT, Band, ChannelRules

CONTENT = BALANCED.content


def unit(length: int) -> str:
    return "".join(chr(0x61 + place * place % 23) for place in range(length - 1)) + " "


@pytest.mark.parametrize(
    ("length", "mass"),
    [(1, 240), (8, 240), (40, 240), (41, 164), (200, 800), (201, 603), (1000, 3000), (1001, 2002)],
)
def test_prose_needs_what_the_table_says(length: int, mass: int) -> None:
    assert by_table(CONTENT, unit(length) if length > 1 else "G", Region.PROSE).verdict == mass


def test_code_needs_more_for_short_units_only() -> None:
    assert (
        by_table(CONTENT, unit(50), Region.CODE).verdict
        == 2 * by_table(CONTENT, unit(50), Region.PROSE).verdict
    )
    assert by_table(CONTENT, unit(150), Region.CODE) == by_table(CONTENT, unit(150), Region.PROSE)


def test_a_separator_needs_as_much_in_code_as_in_prose() -> None:
    assert by_table(CONTENT, "=", Region.CODE) == by_table(CONTENT, "=", Region.PROSE)
    assert by_table(CONTENT, "=", Region.PROSE).verdict > 500


def test_code_can_be_left_unwatched() -> None:
    assert by_table(replace(CONTENT, code=0.0), unit(50), Region.CODE).verdict == NEVER


def test_suspicion_comes_before_the_verdict() -> None:
    for length in (2, 9, 41, 150, 700, 3000):
        goal = by_table(CONTENT, unit(length), Region.PROSE)
        assert 0 < goal.alarm <= max(120, length)
        assert goal.alarm < goal.verdict


@pytest.mark.parametrize(
    ("text", "mass"),
    [
        ("wait no ", 16),  # 24 characters, three copies
        ("ab ", 24),  # a short core counts together: nine copies
        ("Let me think again. ", 40),
        ("=", None),  # no core
    ],
)
def test_a_smallest_run_asks_for_copies_with_a_core(text: str, mass: int | None) -> None:
    goal = by_span(STRICT.reasoning, text)
    assert (goal.verdict if goal else None) == mass


def test_a_long_unit_needs_no_more_copies_by_the_smallest_run_than_by_table() -> None:
    goal = by_span(STRICT.reasoning, unit(5000))
    assert goal is not None
    assert goal.verdict == 8000


def test_no_unit_is_judged_later_than_it_may_be_a_verdict() -> None:
    @given(st.text("ab01 .=|\n🌱{", min_size=1, max_size=300), st.sampled_from(Region))
    def check(text: str, region: Region) -> None:
        for rules in (CONTENT, STRICT.reasoning, STRICT.content):
            measure = Measure(rules, Asked(""))
            goal = measure.goal(text, region)
            assert measure.look(len(text)) <= goal.alarm
            assert measure.least(len(text)).verdict <= goal.verdict

    check()


def test_the_request_raises_the_bar() -> None:
    plain = Measure(CONTENT, Asked("")).goal("hello ", Region.PROSE)
    assert (
        Measure(CONTENT, Asked("Say hello again and again.")).goal("hello ", Region.PROSE).verdict
        == 4 * plain.verdict
    )
    assert (
        Measure(CONTENT, Asked("Say hello 500 times")).goal("hello ", Region.PROSE).verdict
        == 3000 + plain.verdict
    )


def test_a_dense_search_is_made_only_where_few_characters_decide() -> None:
    assert Measure(CONTENT, Asked("")).short_search() is None
    strict = Measure(STRICT.reasoning, Asked("")).short_search()
    assert strict is not None
    assert strict.anchor == strict.stride == 8
    tight = ChannelRules(text=(Band(1 << 40, 4, 4),))
    search = Measure(tight, Asked("")).short_search()
    assert search is not None
    assert search.anchor == 2


def test_what_is_remembered_of_lengths_is_bounded() -> None:
    measure = Measure(CONTENT, Asked(""))
    for length in range(1, 5000):
        measure.look(length)
    assert len(measure._least) <= 1024
