import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.evaluate.samples import Sample


def sample(text: str, chunks: tuple[int, ...] | None = None, first_line: int | None = 1) -> Sample:
    return Sample("one", "runs", "content", text, chunks=chunks, first_line=first_line)


def test_recorded_chunks_are_played_as_they_came() -> None:
    assert list(sample("abcdef", (1, 3, 2)).deltas()) == ["a", "bcd", "ef"]


def test_a_given_size_goes_before_the_recorded_chunks() -> None:
    assert list(sample("abcdef", (1, 3, 2)).deltas(4)) == ["abcd", "ef"]


def test_a_text_without_recorded_chunks_comes_four_characters_at_a_time() -> None:
    assert list(sample("abcdefghi").deltas()) == ["abcd", "efgh", "i"]


@given(st.text(max_size=60), st.lists(st.integers(1, 9), max_size=20), st.none() | st.integers(1, 9))
def test_no_character_is_lost_or_doubled(text: str, chunks: list[int], size: int | None) -> None:
    assert "".join(sample(text, tuple(chunks) or None).deltas(size)) == text


@pytest.mark.parametrize(("first_line", "place"), [(1, "one:3"), (0, "one:2"), (None, "one, character 4")])
def test_a_place_is_told_by_line_where_the_text_has_lines_of_its_own(
    first_line: int | None, place: str
) -> None:
    assert sample("a\nb\nc", first_line=first_line).place(4) == place
