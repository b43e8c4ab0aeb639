import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.config.tables import ALL, read_table


def test_a_table_is_read_row_by_row() -> None:
    assert read_table("1:40, 2:30,8:12,*:10") == ((1, 40), (2, 30), (8, 12), (ALL, 10))


def test_a_table_may_be_silent_about_long_units() -> None:
    assert read_table("8:12") == ((8, 12),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'': write LENGTH:REPEATS"),
        ("8", "'8': write LENGTH:REPEATS"),
        ("8:12,", "'': write"),
        ("8:-1", "'8:-1': write"),
        ("٨:12", "write LENGTH:REPEATS"),
        ("0:12", "'0:12': a unit has from 1 to 12,000 characters"),
        ("12001:2", "a unit has from 1 to 12,000"),
        ("8:1", "'8:1': it takes from 2"),
        ("8:1000001", "it takes from 2 to 1,000,000"),
        ("8:12,8:13", "'8:13': lengths must rise"),
        ("*:10,8:12", "'8:12': lengths must rise from row to row; * comes last"),
        ("*:10,*:9", "lengths must rise"),
    ],
)
def test_what_is_no_table_is_answered_with_the_row_and_what_to_write(text: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_table(text)
    assert said in str(caught.value)


@given(
    st.dictionaries(st.integers(1, 12_000), st.integers(2, 1_000_000), min_size=1),
    st.one_of(st.none(), st.integers(2, 1_000_000)),
)
def test_every_table_that_is_written_is_read_as_it_was_meant(rows: dict[int, int], rest: int | None) -> None:
    pairs = sorted(rows.items())
    text = ",".join([*(f"{length}:{repeats}" for length, repeats in pairs), *([f"*:{rest}"] if rest else [])])
    assert read_table(text) == (*pairs, *([(ALL, rest)] if rest else []))


@given(st.text(max_size=40))
def test_any_text_is_a_table_or_refused_in_one_line(text: str) -> None:
    said = ""
    try:
        assert read_table(text)
    except ValueError as error:
        said = str(error)
    assert said.isprintable()
