"""Lines, whole, as they come to their end."""

import pytest

from ollama_guard.detect.lines import LONGEST, Lines
from tests.detect.material import deltas

TEXT = "one\n\n  two\nthree and the rest"
ENDS = [("one", 4), ("", 5), ("  two", 11)]


def read(text: str, size: int, *, escaped: bool = False) -> list[tuple[str, int]]:
    lines = Lines(escaped=escaped)
    return [found for piece in deltas(text, size) for found in lines.feed(piece)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_lines_come_whole_with_the_offset_behind_them(size: int) -> None:
    assert read(TEXT, size) == ENDS
    assert all(TEXT[end - 1] == "\n" for _, end in ENDS)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_in_json_a_break_is_two_characters(size: int) -> None:
    text = 'a\\nbc\\n"}\n'
    assert read(text, size, escaped=True) == [("a", 3), ("bc", 7)]


@pytest.mark.parametrize("size", [1, 64, 100_000])
@pytest.mark.parametrize("escaped", [False, True])
def test_a_line_without_end_is_not_kept(size: int, escaped: bool) -> None:
    text = "x" * 50_000 + ("\\n" if escaped else "\n")
    lines = Lines(escaped=escaped)
    found = [found for piece in deltas(text + text, size) for found in lines.feed(piece)]
    assert [end for _, end in found] == [len(text), 2 * len(text)]
    assert all(len(line) > LONGEST for line, _ in found)
    assert size > LONGEST or all(len(line) <= 2 * LONGEST + size for line, _ in found)


def test_no_line_reaches_over_what_is_skipped() -> None:
    lines = Lines(escaped=False)
    assert list(lines.feed("one")) == []
    lines.skip("code\n")
    assert list(lines.feed("two\n")) == [("two", 12)]
