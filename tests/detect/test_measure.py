import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.asked import Asked
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.regions import Region
from ollama_guard.detect.rules import BALANCED, STRICT, Band, ChannelRules
from ollama_guard.detect.run import Goal
from ollama_guard.detect.tables import NEVER, by_span, by_table, copies, mass

CONTENT, REASONING = BALANCED.content, BALANCED.reasoning


def unit(length: int) -> str:
    return "".join(chr(0x61 + place * place % 23) for place in range(length - 1)) + " "


@pytest.mark.parametrize(
    ("length", "mass"),
    [(1, 240), (8, 240), (40, 240), (41, 164), (200, 800), (201, 603), (1000, 3000), (1001, 2002)],
)
def test_prose_needs_what_the_table_says(length: int, mass: int) -> None:
    assert by_table(CONTENT, unit(length) if length > 1 else "G", Region.PROSE).verdict == mass


def test_code_needs_more_up_to_a_length() -> None:
    def times(size: int) -> float:
        code, prose = (
            by_table(CONTENT, unit(size), region).verdict for region in (Region.CODE, Region.PROSE)
        )
        return code / prose

    assert times(50) == CONTENT.code
    assert 1 < times(8) < CONTENT.code
    assert times(1100) == 1


def test_a_longer_row_of_code_never_needs_less_than_one_of_a_hundred_characters() -> None:
    masses = [by_table(CONTENT, unit(size - 3) + ");\n", Region.CODE).verdict for size in range(90, 900, 7)]
    assert min(masses) >= 0.9 * masses[0]
    assert masses[-1] > masses[0]


def test_rows_of_a_board_of_emoji_need_as_much_as_rules_do() -> None:
    assert by_table(CONTENT, "\U0001f331\n", Region.PROSE).verdict == 120
    assert by_table(CONTENT, "\u2b1c" * 16 + "\n", Region.PROSE).verdict > 16 * 17


def test_what_nothing_divides_needs_no_more_in_code_than_in_prose() -> None:
    line, prose = (by_table(CONTENT, "*12*12 = 37", region) for region in (Region.LINE, Region.PROSE))
    assert line.verdict == prose.verdict


def test_code_multiplies_all_units_alike_where_that_is_asked_for() -> None:
    alike = replace(CONTENT, code_alike=True)
    for text, region in (("*12*12 = 37", Region.LINE), ("0, 0,\n", Region.CODE), (unit(8), Region.CODE)):
        assert (
            by_table(alike, text, region).verdict
            == CONTENT.code * by_table(alike, text, Region.PROSE).verdict
        )


def test_data_has_tables_of_its_own() -> None:
    assert by_table(CONTENT, ",\n    .64894068241119", Region.FIGURES).verdict == 6500
    assert by_table(CONTENT, "<td>0</td>", Region.MARKUP).verdict == 1920
    assert by_table(CONTENT, ",EAAE,GAAG", Region.BLOB).verdict == 8000
    assert by_table(REASONING, "<td>0</td>", Region.MARKUP).verdict == 1920 * REASONING.scale


def test_without_a_table_of_their_own_markup_and_figures_are_code() -> None:
    own = replace(CONTENT, markup=None, figures=None)
    for region in (Region.MARKUP, Region.FIGURES):
        assert by_table(own, unit(50), region) == by_table(own, unit(50), Region.CODE)


def test_whole_rows_of_a_table_need_more_than_whole_copies() -> None:
    week = "".join(
        f"| {day} | 09:00 | 17:00 | Open as usual for all of us |\n"
        for day in ("Mon", "Tue", "Wed", "Thu", "Fri")
    )
    rows, others = (by_table(CONTENT, text, Region.CODE).verdict for text in (week, week.replace("|", "/")))
    assert others == 3 * len(week)
    assert others < rows <= 3.2 * len(week)


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
    for length in range(1, 40_000):
        measure.look(length)
    assert 0 < len(measure._least) <= 1 << 14


def test_what_is_known_of_lengths_is_known_to_all_under_the_same_rules() -> None:
    one, two, other = (Measure(rules, Asked("")) for rules in (CONTENT, CONTENT, STRICT.content))
    one.look(321)
    assert 321 in two._least
    assert other._least is not one._least


def test_only_units_of_the_set_lengths_are_a_verdict() -> None:
    rules = replace(CONTENT, unit_min=3, unit_max=50)
    measure, plain = Measure(rules, Asked("")), Measure(CONTENT, Asked(""))
    for length in (1, 2, 51, 700):
        assert measure.goal(unit(length) if length > 1 else "G", Region.PROSE) == Goal(NEVER, NEVER)
    for length in (3, 50):
        assert measure.goal(unit(length), Region.PROSE) == plain.goal(unit(length), Region.PROSE)


def test_what_counts_is_the_shortest_unit_there_is() -> None:
    measure = Measure(replace(CONTENT, unit_max=50), Asked(""))
    assert measure.goal(unit(40) * 2, Region.PROSE).verdict < NEVER
    assert Measure(replace(CONTENT, unit_min=41), Asked("")).goal(unit(40) * 2, Region.PROSE).verdict == NEVER


def test_a_counter_is_held_to_the_lengths_too_and_needs_no_less_than_equal_text() -> None:
    step = "step 0 of the work "
    assert Measure(replace(CONTENT, unit_min=30), Asked("")).counter(step) == NEVER
    assert Measure(CONTENT, Asked("")).counter(step) < 10_000
    patient = replace(CONTENT, text=(Band(1 << 40, 1000, 0),))
    assert Measure(patient, Asked("")).counter(step) == 1000 * len(step)


@pytest.mark.parametrize("rules", [CONTENT, STRICT.reasoning, STRICT.content])
def test_code_that_is_left_unwatched_has_no_smallest_run_either(rules: ChannelRules) -> None:
    off = Measure(replace(rules, code=0.0), Asked(""))
    for region in Region:
        expected = (
            Measure(rules, Asked("")).goal(unit(30), region) if region is Region.PROSE else Goal(NEVER, NEVER)
        )
        assert off.goal(unit(30), region) == expected


def test_a_table_of_thousands_of_rows_is_read_as_one_of_few() -> None:
    few: tuple[Band, ...] = (Band(8, 11, 240), Band(40, 3, 240), Band(1 << 40, 2, 0))
    rows = (next(band for band in few if n <= band.upto)._replace(upto=n) for n in range(1, 12_000))
    many = (*rows, few[-1])
    for length in (1, 8, 9, 40, 41, 11_999, 12_000, 50_000):
        assert mass(many, length) == mass(few, length)
        assert copies(many, length) == copies(few, length)
    assert mass(few[:2], 41) == NEVER
    assert copies(few[:2], 41) == math.inf


def test_a_block_of_several_lines_of_code_needs_less_than_one_line_over_and_over() -> None:
    one = "    private int numberOfItemsInTheStore = 0;\n"
    block = "    private int items;\n    private int price;\n    private int state;\n"
    rules = BALANCED.content
    line_copies = by_table(rules, one, Region.CODE).verdict / len(one)
    block_copies = by_table(rules, block, Region.CODE).verdict / len(block)
    assert line_copies == pytest.approx(16, abs=1)
    assert block_copies == pytest.approx(8, abs=1)


def test_a_path_that_goes_on_in_code_is_no_data() -> None:
    path, zeros = (by_table(CONTENT, text, Region.LINE).verdict for text in ("/100", "0 "))
    assert path == 240
    assert zeros > path
