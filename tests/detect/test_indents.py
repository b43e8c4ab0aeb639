import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.indents import Indents
from tests.detect.material import deltas


def indents(text: str, size: int = 1000) -> Indents:
    found = Indents()
    for delta in deltas(text, size):
        found.read(delta)
    return found


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("    @", True),  # at the start of the text
        ("text\n\n    @", True),
        ("text\n    @", False),  # the paragraph goes on
        ("text\n\n   @", False),
        ("text\n\n\t@", True),
        ("text\n\n  \t@", True),
        ("text\n\n    a\n    @", True),
        ("text\n\n    a\n\n\n    @", True),
        ("text\n\n    a\n@", False),
        ("text\n\n    a\nb\n    @", False),
        ("text\n  \n    @", True),
        ("a    @", False),
        ("text\r\n\r\n    @", True),
    ],
)
def test_indented_code_follows_commonmark(text: str, expected: bool, size: int) -> None:
    assert indents(text, size).inside(text.index("@")) is expected


def test_forgetting_keeps_where_one_is() -> None:
    found = indents("    a" + "x" * 100 + "\nb\n\n    cc")
    found.forget(80)
    assert found.inside(90)
    assert found.inside(115)
    assert not found.inside(107)


@given(st.text(" \tx\n", max_size=60), st.integers(1, 9))
def test_the_split_changes_nothing(text: str, size: int) -> None:
    whole, pieces = indents(text), indents(text, size)
    places = range(len(text))
    assert [pieces.inside(n) for n in places] == [whole.inside(n) for n in places]
    changes = [n for n in places if n and whole.inside(n) != whole.inside(n - 1)]
    assert all(whole.moved(n, n + 1) for n in changes)
