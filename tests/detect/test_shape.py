import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect import shape
from ollama_guard.detect.shape import Shape


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("G", Shape.TEXT),
        ("ha", Shape.TEXT),
        ("no ", Shape.TEXT),
        ("the same words ", Shape.TEXT),
        ("内容的", Shape.TEXT),
        ("!", Shape.TEXT),
        ("？！", Shape.TEXT),
        ("9, 7, 8, ", Shape.TEXT),
        ("0", Shape.FLAT),
        ("0 1 ", Shape.FLAT),
        ("ffffff ", Shape.FLAT),
        ("7f7f7f ", Shape.FLAT),
        ("A" * 76 + "\n", Shape.FLAT),
        ("🌱", Shape.EMOJI),
        ("👩\u200d🔬 ", Shape.EMOJI),
        ("☀\ufe0f", Shape.EMOJI),
        ("=", Shape.RULE),
        (". ", Shape.RULE),
        ("|---", Shape.RULE),
        ("═", Shape.RULE),
        ("⠿", Shape.RULE),
        ("# \n", Shape.TEXT),
        ("|         |\n", Shape.RULE),
        (" ", Shape.PADDING),
        ("\n", Shape.BLANK),
        ("\t", Shape.BLANK),
        ("-" * 80 + "\nSection\n" + "=" * 80 + "\n", Shape.RULE),
        ("e|-----------1-----------|\nB|---------0---0---------|\n", Shape.RULE),
        ("| a cell | and another one of the same row |\n", Shape.TEXT),
        ("\n\t", Shape.BLANK),
        ("\u2003", Shape.BLANK),
    ],
)
def test_a_unit_belongs_to_a_class(unit: str, expected: Shape) -> None:
    assert shape.shape_of(unit) is expected


@given(st.text("ab0 \n|=!🌱{;", min_size=1, max_size=30), st.integers(0, 29))
def test_the_class_does_not_depend_on_the_phase(unit: str, turn: int) -> None:
    turn %= len(unit)
    turned = unit[turn:] + unit[:turn]
    assert shape.shape_of(turned) is shape.shape_of(unit)
    assert shape.symbols(turned) == shape.symbols(unit)
    assert shape.rows(turned) == pytest.approx(shape.rows(unit))
    assert shape.has_fence(turned) == shape.has_fence(unit)


def test_a_multiple_is_reduced_to_its_unit() -> None:
    assert shape.primitive("ab" * 7) == "ab"
    assert shape.primitive("aba") == "aba"
    assert shape.primitive("x") == "x"


def test_lines_are_told_apart_by_their_kind() -> None:
    assert shape.rows("| a | b |\n| c | d |\n") == 1
    assert shape.rows("a row\n| c | d |\n") == 0.5
    assert shape.rows("no line here") == 0
    assert shape.indented("    a\n\tb\nc\n") == pytest.approx(2 / 3)
    assert shape.closed_lines("f(x);\n}\nprose\n") == pytest.approx(2 / 3)
    assert shape.closed_lines("A verse ends so,\nanother does too,\n") == 0
    assert shape.closed_lines("- Aide (to help)\n2. Otto (912–973)\n* l'été, le (the summer)\n") == 0
    assert shape.closed_lines("- run(x)\nassert (x)\n1. foo_bar (x)\n- x = f (x)\n- if (x) {\n") == 1


def test_a_fence_is_seen_at_a_line_start_only() -> None:
    assert shape.has_fence("text\n```py\ncode\n")
    assert shape.has_fence("  ~~~\n")
    assert not shape.has_fence("inline ``` here\n")
    assert not shape.has_fence("```")


def test_figures_and_words() -> None:
    assert shape.figures("a1b2") == 0.5
    assert shape.figures("...") == 0
    assert shape.core_length("a, b; 12\n") == 4
    assert shape.monotone("0 " * 20)
    assert not shape.monotone("no no no ")


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("\n# ", True),
        ("> \n", True),
        ("<check>\n", True),
        ("check>\n<", True),
        ("<br>\n", False),
        ("# a\n", False),
        ("# ", False),
        ('",\n    "', False),
        ("<check> <check>\n", False),
    ],
)
def test_a_sign_stands_alone_on_its_line(unit: str, expected: bool) -> None:
    assert shape.is_sign(unit) is expected


@pytest.mark.parametrize("unit", [".1", "1.1", "/100", "0:", "1-1-", "1=1*"])
def test_numbers_that_marks_join_without_a_blank_are_no_padding(unit: str) -> None:
    assert shape.shape_of(unit) is Shape.TEXT


@pytest.mark.parametrize("unit", ["0", "00", "0 ", "0, ", "0,", "1 0 ", "ff", "0\n", "0.0 "])
def test_zeros_and_rows_of_them_are_padding(unit: str) -> None:
    assert shape.shape_of(unit) is Shape.FLAT


def test_two_ideographs_are_as_much_as_a_word() -> None:
    assert shape.words("the cat and the dog") == 4
    assert shape.words("第0步请按下按钮") == 1 + 3
    assert shape.is_dense("第12步请按下按钮")
    assert not shape.is_dense("12. item 步")
    assert not shape.is_dense("")


def test_a_sum_of_one_number_is_no_matrix() -> None:
    assert shape.shape_of("1 + ") is Shape.TEXT
    assert shape.shape_of("0 0 ") is Shape.FLAT
    assert shape.shape_of("0 + 1 = 1, ") is Shape.FLAT
