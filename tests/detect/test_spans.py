import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.regions import Fences
from ollama_guard.detect.spans import REACH, Spans
from tests.detect.material import deltas


def spans(text: str, size: int = 1000) -> Spans:
    fences = Fences()
    found = Spans(fences)
    for delta in deltas(text, size):
        fences.read(delta)
        found.read(delta)
    return found


def inside(text: str, size: int = 1000) -> bool:
    """Whether the place of the "@" in the text is inside inline code."""
    return spans(text, size).inside(text.index("@"))


@pytest.mark.parametrize("size", [1, 2, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use `@` now", True),
        ("Use `@", True),  # not closed yet
        ("Use `foo` @", False),
        ("Use ``a ` b @`` now", True),  # a run of another length closes nothing
        ("Use ``a ` b`` @", False),
        ("`a``b` @", False),
        ("`a``b @", True),
        ("`a\nb @` c", True),  # over the end of a line
        ("`a\n\nb @` c", False),  # not over a blank line
        ("`a\n \t\nb @` c", False),
        ("a slip ` here\n\nand `code @`", True),
        (r"escaped \` @", False),
        (r"escaped \\`@`", True),
        (r"escaped \``@`", True),
        (r"in code `a\` @", False),  # a backslash is a backslash there
        ("```\nlet `a = @\n```\n", False),  # a fence is no inline code
        ("```\na ` b\n```\n@", False),
        ("~~~\nlet `a = @\n", False),
        ("~~~\na\n~~~\n`@", True),
        ("```inline @``` code", True),
        ("no code @", False),
    ],
)
def test_inline_code_follows_commonmark(text: str, expected: bool, size: int) -> None:
    assert inside(text, size) is expected


def test_an_open_span_does_not_go_on_for_ever() -> None:
    text = "a slip ` " + "x" * 2 * REACH
    found = spans(text, 7)
    opened = text.index("`") + 1
    assert found.inside(opened + REACH)
    assert not found.inside(opened + REACH + 1)


def test_it_is_known_where_spans_begin_and_end() -> None:
    text = "one `two` three ` " + "x" * 2 * REACH
    found = spans(text)
    changes = [n for n in range(1, len(text) - 1) if found.inside(n) != found.inside(n - 1)]
    assert len(changes) == 4
    for begin in range(0, len(text) - 8, 3):
        really = any(begin <= change < begin + 8 for change in changes)
        assert found.moved(begin, begin + 8) is really


def test_forgetting_keeps_what_is_open() -> None:
    found = spans("a ` b" + "x" * 500)
    found.forget(400)
    assert found.inside(450)


@given(st.text("`\\~ x\n", max_size=80), st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_the_split_changes_nothing(text: str, cuts: list[int]) -> None:
    text += "x"
    whole, fences = spans(text), Fences()
    pieces, done = Spans(fences), 0
    for cut in [*cuts, len(text)]:
        fences.read(text[done : done + cut])
        pieces.read(text[done : done + cut])
        done += cut
    places = [n for n in range(len(text)) if text[n] != "`"]
    assert [pieces.inside(n) for n in places] == [whole.inside(n) for n in places]


@given(st.text("`\\ x\n", max_size=60))
def test_what_follows_changes_nothing(text: str) -> None:
    place = len(text)
    for more in ("x", "x`", "x``\n\n", "x\n```\n"):
        assert spans(text + more).inside(place) == spans(text + "x").inside(place)
