import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.blank import BlankRun


def feed(run: BlankRun, pieces: list[str]) -> int | None:
    for piece in pieces:
        at = run.feed(piece)
        if at is not None:
            return at
    return None


def test_white_space_in_any_mixture_is_counted_over_pieces() -> None:
    assert feed(BlankRun(10), ["x \n", "\t \u00a0", "\r\n\n", " ", " "]) == 1 + 10


def test_a_visible_character_begins_anew() -> None:
    assert feed(BlankRun(10), [" " * 9, "x", " " * 9, "y"]) is None


def test_a_run_inside_a_piece_is_found() -> None:
    assert feed(BlankRun(10), ["abc" + " " * 12 + "def"]) == 3 + 10


def test_a_run_at_the_end_of_a_piece_goes_on_in_the_next() -> None:
    assert feed(BlankRun(10), ["abc" + " " * 6, " " * 6]) == 3 + 10


def test_no_limit_means_no_verdict() -> None:
    run = BlankRun(0)
    assert feed(run, [" " * 10_000]) is None
    assert not run.alarming()


def test_half_of_the_limit_is_suspicious() -> None:
    run = BlankRun(10)
    run.feed("x    ")
    assert not run.alarming()
    run.feed(" ")
    assert run.alarming()


@given(st.text("x \n", max_size=60), st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_the_split_changes_nothing(text: str, cuts: list[int]) -> None:
    whole = BlankRun(5).feed(text) if text else None
    run, place, found = BlankRun(5), 0, None
    for cut in [*cuts, len(text) + 1]:
        if found is None and place < len(text):
            found = run.feed(text[place : place + cut])
        place += cut
    assert found == whole


@pytest.mark.parametrize("text", ["\u200b", "\ufeff", "\u00ad"])
def test_zero_width_characters_are_not_white_space(text: str) -> None:
    assert feed(BlankRun(5), [text * 10]) is None
