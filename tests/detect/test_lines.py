"""Lines, whole, as they come to their end."""

import pytest

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.lines import LONGEST, Lines
from ollama_guard.detect.run import Hit, Run
from tests.detect.material import deltas

TEXT = "one\n\n  two\nthree and the rest"
ENDS = [("one", 4), ("  two", 11)]


class Taken:
    """A family that keeps what it is given, and has a verdict at one line."""

    def __init__(self, verdict: str = "-") -> None:
        self.lines: list[tuple[str, int]] = []
        self.stopped = 0
        self._verdict = verdict

    def take(self, line: str, end: int) -> Hit | None:
        self.lines.append((line, end))
        return Hit(Run(1, end, 1), end) if line == self._verdict else None

    def stop(self) -> None:
        self.stopped += 1

    def alarming(self) -> bool:
        return bool(self.lines)

    def finding(self, hit: Hit, channel: str) -> Finding:
        return Finding(Kind.DRIFT, channel, at=hit.at, unit=self._verdict)


def read(text: str, size: int, *, escaped: bool = False) -> list[tuple[str, int]]:
    taken = Taken()
    lines = Lines([taken], escaped=escaped)
    for piece in deltas(text, size):
        assert lines.feed(piece) is None
    return taken.lines


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_lines_come_whole_with_the_offset_behind_them(size: int) -> None:
    assert read(TEXT, size) == ENDS
    assert all(TEXT[end - 1] == "\n" for _, end in ENDS)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_in_json_a_break_is_two_characters(size: int) -> None:
    assert read('a\\nbc\\n"}\n', size, escaped=True) == [("a", 3), ("bc", 7)]


@pytest.mark.parametrize("size", [1, 64, 100_000])
@pytest.mark.parametrize("escaped", [False, True])
def test_a_line_without_end_is_not_kept(size: int, escaped: bool) -> None:
    text = "x" * 50_000 + ("\\n" if escaped else "\n")
    found = read(text + text, size, escaped=escaped)
    assert [end for _, end in found] == [len(text), 2 * len(text)]
    assert all(len(line) > LONGEST for line, _ in found)
    assert size > LONGEST or all(len(line) <= 2 * LONGEST + size for line, _ in found)


def test_no_line_reaches_over_what_is_skipped() -> None:
    taken = Taken()
    lines = Lines([taken], escaped=False)
    lines.feed("one")
    lines.skip("code\n")
    lines.feed("two\n")
    assert taken.lines == [("two", 12)]
    assert taken.stopped == 1


def test_the_first_verdict_is_that_of_the_family_that_has_it() -> None:
    families = [Taken("c"), Taken("b")]
    lines = Lines(families, escaped=False)
    assert not lines.alarming()
    assert lines.feed("a\n") is None
    assert lines.alarming()
    lines.skip("")
    assert not lines.alarming()
    hit = lines.feed("b\nc\n")
    assert hit is not None
    assert lines.place(hit) == 4
    assert lines.finding(hit, "content") == Finding(Kind.DRIFT, "content", at=4, unit="b")
    assert [one.lines for one in families] == [[("a", 2), ("b", 4)], [("a", 2), ("b", 4)]]
