import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.regions import Fences, Region, region_of
from tests.bench.prose import paragraph


def inside(text: str) -> bool:
    fences = Fences()
    fences.read(text)
    return fences.inside(len(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text\n```py\ncode\n", True),
        ("text\n```py\ncode\n```\nmore\n", False),
        ("~~~\ncode\n```\nstill code\n", True),
        ("````\n```\nstill code\n", True),
        ("```\ncode\n````\nout\n", False),
        ("```\ncode\n``` not a closer\nstill\n", True),
        ("1. item\n   ```\n   code\n", True),
        ("> ```\n> code\n", True),
        ("inline ```code``` here\n", False),
        ("```inline``` at the start\n", False),
        ("text ``` more\n", False),
        ("```py", False),  # the line is not over
        ("   ```\ncode\n   ```\nout\n", False),
        ('```py\n"""\n    ```\n    example\n', True),  # too deep to close it
        ("     ```\n     code\n     ```\nout\n", False),  # in a list
        ("``` py title=`x`\nno fence\n", False),
        ("~~~ py title=`x`\ncode\n", True),
        ("> ```\n> code\n> ```\nout\n", False),
        ("> ```\n> code\nout\n", False),  # the quotation is over
        ("> ```\n> code\n```\ncode\n", True),  # and another fence begins
        ("> ```\n\nout\n", False),
        ("```md\n> ```\nstill code\n", True),  # a quoted fence is text in there
    ],
)
def test_fences_follow_commonmark(text: str, expected: bool) -> None:
    assert inside(text) is expected


def test_a_place_is_judged_by_what_stands_before_it() -> None:
    text = "a\n```\nb\n```\nc\n"
    fences = Fences()
    fences.read(text)
    assert [fences.inside(text.index(char)) for char in "abc"] == [False, True, False]


def test_forgetting_keeps_what_is_open() -> None:
    fences = Fences()
    fences.read("```\n" + "x\n" * 1000)
    fences.forget(1500)
    assert fences.inside(1800)


def test_a_long_line_is_not_kept_whole() -> None:
    fences = Fences()
    for _ in range(1000):
        fences.read("x" * 1000)
    fences.read("\n```\n")
    assert fences.length == 1_000_005
    assert fences.inside(1_000_005)


@given(
    st.text("`~\n x>", max_size=80), st.lists(st.integers(1, 9), min_size=1, max_size=20), st.integers(0, 80)
)
def test_the_split_changes_nothing(text: str, cuts: list[int], place: int) -> None:
    whole, pieces, done = Fences(), Fences(), 0
    whole.read(text)
    for cut in [*cuts, len(text)]:
        pieces.read(text[done : done + cut])
        done += cut
    assert pieces.inside(place) == whole.inside(place)


@pytest.mark.parametrize(
    ("unit", "before", "expected"),
    [
        ("a sentence. ", "", Region.PROSE),
        ("| a | b |\n", "", Region.CODE),
        (" 0.1 |", "| a |", Region.CODE),
        ("x ", "text\n    ", Region.LINE),
        ("x() ", "text\n    ", Region.CODE),
        ("x ", "text\n", Region.PROSE),
        ("f(x); g(y);", "", Region.CODE),
        ("A", "data:" + "Q2hhcnQ" * 8, Region.BLOB),
        ("A", "a word before ", Region.PROSE),
        ("A" * 76 + "\n", "", Region.BLOB),
        ("```\ncode;\n```\n", "", Region.PROSE),
        ("3.14 2.71 1.41 ", "", Region.CODE),
        (", 9, 7, 8, 5, 9, 3, 5", "the digits are 1, 2", Region.LINE),
        ("*12*12*12 = 37", "12", Region.LINE),
        (",\n    .64894068241119", "x = [", Region.FIGURES),
        ("null,", "[", Region.FIGURES),
        ("i,", "var a=b(", Region.CODE),
        ("0\n", "", Region.CODE),
        ("</th><th title='4.0' class='pairItem'>÷", "", Region.MARKUP),
        (",CAAC,EAAE", '"mappings":"' + "AAAA,IAAI;" * 8, Region.BLOB),
        ("9gB6tLcH0KO9PYAe7f0B3NG7PYAe7e0B9GhvD6BHe3sAPdrbA", "data:" + "Q2hhcnQ" * 8, Region.BLOB),
        ("<check>\n", "```\n", Region.PROSE),
        ("\n# ", "```", Region.PROSE),
    ],
)
def test_the_region_of_a_unit(unit: str, before: str, expected: Region) -> None:
    assert region_of(unit, before, fenced=False) is expected


def test_a_unit_seen_before_is_judged_by_where_it_stands_now() -> None:
    for _ in range(2):
        assert region_of("some words ", "| ", fenced=False) is Region.LINE
        assert region_of("some words ", "a\n    ", fenced=False) is Region.LINE
        assert region_of("some words ", "a\n", fenced=False) is Region.PROSE
        assert region_of("some words ", "", fenced=True) is Region.LINE
        assert region_of("AQ", "data:" + "Q2hhcnQ" * 8, fenced=False) is Region.BLOB
        assert region_of("AQ", "data: ", fenced=False) is Region.PROSE


def test_a_unit_too_long_to_be_remembered_is_judged_as_any() -> None:
    assert region_of(paragraph(3, 5000), "", fenced=False) is Region.PROSE
    assert region_of("f(x); g(y);\n" * 500, "", fenced=False) is Region.CODE
    assert region_of("Q2hhcnQ" * 1000, "data:" + "Q2hhcnQ" * 8, fenced=False) is Region.BLOB


def test_in_a_fence_all_is_code_but_a_unit_with_fences() -> None:
    assert region_of("a line.\n", "", fenced=True) is Region.CODE
    assert region_of("a sentence. ", "", fenced=True) is Region.LINE
    assert region_of("```\na\n```\n", "", fenced=True) is Region.PROSE
