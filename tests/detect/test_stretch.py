"""Stretches of one text beside each other."""

from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.stretch import common_prefix, common_suffix, telling


@given(st.text("ab", max_size=80), st.integers(0, 79), st.integers(1, 80))
def test_common_suffix_counts_equal_characters_backwards(text: str, first: int, more: int) -> None:
    first = min(first, len(text))
    second = min(first + more, len(text))
    expected = 0
    while expected < first and text[first - expected - 1] == text[second - expected - 1]:
        expected += 1
    if second > first:
        assert common_suffix(text, first, second) == expected


@given(st.text("ab", min_size=1, max_size=40), st.text("ab", max_size=12))
def test_common_prefix_counts_equal_characters_forwards(text: str, other: str) -> None:
    found = common_prefix(text + "c" * 13, 0, other)
    assert text.startswith(other[:found])
    assert found == len(other) or (text + "c")[found] != other[found]


@given(st.text("abc", min_size=2, max_size=64))
def test_what_is_searched_for_is_half_of_the_stretch_at_least(tail: str) -> None:
    begin, end = telling(tail)
    assert 0 <= begin < end <= len(tail)
    assert 2 * (end - begin) >= len(tail)
