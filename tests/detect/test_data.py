import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect import data


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        (",\n    .64894068241119", True),
        ("\n           1         1.3\n           1         1.5", True),
        ("\n2.559015,.9396225", True),
        (" NULL,   NULL,\n\tNULL,", True),
        (" nil\n          ", True),
        (", 0xffffffff, 0xffffffff,\n", True),
        ("\n    0, // HOLE", True),
        (" 36 36 \nL", True),
        ("c0-8.8 7.2-16 16-16l16 0c8.8 0 16 7.2 16 16l0 16c0 8.8-7.2 16-16 16l-16 0" * 2, True),
        ("17590,", True),
        ("null,", True),
        ('",\n    "', True),
        ("0.5 0.5 ", False),  # within a line
        (", 9, 7, 8, 5, 9, 3, 5", False),
        ("*12*12*12 = 37", False),
        ("i,", False),
        ("n/a,n/a,none\n", True),
        ("| Pluto | 0.001 | 22 |\n", False),
        ("2024-01-01,ok,3\n", False),
        ("a, b,\n", False),
        ("\n", False),
        ("-----\n", False),
        ("none\n", False),  # a word
        ("G1 X10 Y10\n", False),  # a step that goes nowhere
        (" Y10\nG1 X10", False),
        ("G1 X0 Y10\nG1 X5 Y10\n", True),  # a zigzag
        ("1 x 4 = 12\n", False),  # wrong
        ("9 + 3 = 12\n9 - 3 = 5\n", False),
        ("2 x 6 = 12\n", True),  # a drill
        ("9 + 3 = 12\n9 - 3 = 6\n", True),
        ("2 * 3 + 1 = 7\n", True),
        ("1.5 + 2 = 3.5\n", True),
    ],
)
def test_figures_are_rows_of_numbers_and_empty_values(unit: str, expected: bool) -> None:
    assert data.is_figures(unit) is expected


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("</th><th title='4.0' class='pairItem'>÷", True),
        ("<tr><td></td><td></td></tr>\n", True),
        ('  <li><a href="#">Link</a></li>\n', True),
        ("</think>\nThe answer is the second option.\n", False),
        ("<p>A sentence that is longer than what is around it.</p>\n", False),
        ("<br>\n", False),
        ("</div>\n", False),  # nothing is opened: an end that is written again and again
        ("if a < b and c > d </", False),
    ],
)
def test_markup_is_more_tags_than_text(unit: str, expected: bool) -> None:
    assert data.is_markup(unit) is expected


BASE64 = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAUA" * 3


@pytest.mark.parametrize(
    ("unit", "before", "expected"),
    [
        ("A", BASE64, True),
        ("9gB6tLcH0KO9PYAe7f0B3NG7PYAe7e0B9GhvD6BHe3sAPdrbA", BASE64, True),
        (",CAAC;IACD", '"mappings":"' + "AAAA,IAAI;" * 8, True),
        ("A" * 76 + "\n", "", True),
        ("QUJD" * 10 + "Rk9P" * 9 + "\n", "", True),
        ("A", "a word before ", False),
        ("ISIS-", "a word before ISIS-", False),
        ("=", "-" * 60, False),
        ("ho", "ha" * 30, False),
        ("-" * 76 + "\n", "", False),
        ("<check>\n", "", False),
        ("A word of a sentence ", BASE64, False),
    ],
)
def test_encoded_data_is_a_long_token(unit: str, before: str, expected: bool) -> None:
    assert data.is_encoded(unit, before) is expected


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("*12*12*12 = 37", True),
        ("M_", True),
        (", 9, 7, 8, 5, 9, 3, 5", True),
        (" 0028", False),
        ("0.25, ", False),
        ("null, ", False),
        ('{"a":', False),
        ("x\n", False),
    ],
)
def test_a_line_is_what_nothing_divides(unit: str, expected: bool) -> None:
    assert data.in_line(unit) is expected


@given(st.text('a1.,; \n<>/"N-', min_size=1, max_size=30), st.integers(0, 29))
def test_markup_and_lines_do_not_depend_on_the_phase(unit: str, turn: int) -> None:
    turn %= len(unit)
    turned = unit[turn:] + unit[:turn]
    assert data.is_dense_list(turned) == data.is_dense_list(unit)
    assert data.is_encoded(turned, "") == data.is_encoded(unit, "")


@pytest.mark.parametrize("cut", range(22))
def test_a_column_of_figures_is_seen_at_every_phase(cut: int) -> None:
    unit = ",\n    .64894068241119"
    assert data.is_figures(unit[cut:] + unit[:cut])


@pytest.mark.parametrize("cut", range(39))
def test_a_row_of_cells_is_seen_at_every_phase(cut: int) -> None:
    unit = "</th><th title='4.0' class='pairItem'>÷"
    assert data.is_markup(unit[cut:] + unit[:cut])
    assert not data.in_line(unit[cut:] + unit[:cut])


@pytest.mark.parametrize(
    "ask", [data.is_figures, data.is_markup, data.in_line, lambda unit: data.is_encoded(unit, "")]
)
@pytest.mark.parametrize(
    "unit",
    [
        "-" * 12_000 + "x\n",
        "1" * 12_000 + "xxx\n",
        "a." * 6000 + "zz\n",
        "<a" * 6000 + "</",
        "//" * 6000 + "\n",
    ],
)
def test_a_hostile_unit_is_judged_at_once(ask: Callable[[str], bool], unit: str) -> None:
    begin = time.process_time()
    ask(unit)
    assert time.process_time() - begin < 0.5
