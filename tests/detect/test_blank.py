import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from ollama_guard.detect.blank import BlankRun, Endless


def feed(run: BlankRun, pieces: list[str]) -> int | None:
    for piece in pieces:
        found = run.feed(piece)
        if found is not None:
            return found.at
    return None


def test_white_space_in_any_mixture_is_counted_over_pieces() -> None:
    assert feed(BlankRun(10, 20), ["x \n", "\t \u00a0", "\r\n\n", " ", " ", "\n"]) == 2 + 10


def test_a_visible_character_begins_anew() -> None:
    assert feed(BlankRun(10, 20), [" " * 9, "x", " " * 9, "y"]) is None


def test_a_run_inside_a_piece_is_found() -> None:
    assert feed(BlankRun(10, 20), ["abc" + "\n" * 12 + "def"]) == 3 + 10


def test_a_run_at_the_end_of_a_piece_goes_on_in_the_next() -> None:
    assert feed(BlankRun(10, 20), ["abc" + "\t" * 6, " " * 6]) == 3 + 10


def test_no_limit_means_no_verdict() -> None:
    run = BlankRun(0, 20)
    assert feed(run, [" " * 10_000]) is None
    assert not run.alarming()


def test_half_of_the_limit_is_suspicious() -> None:
    run = BlankRun(10, 20)
    run.feed("x\n   ")
    assert not run.alarming()
    run.feed(" ")
    assert run.alarming()


@given(st.text("x \n", max_size=60), st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_the_split_changes_nothing(text: str, cuts: list[int]) -> None:
    whole = BlankRun(5, 7).feed(text) if text else None
    run, place, found = BlankRun(5, 7), 0, None
    event(f"found: {whole is not None}")
    for cut in [*cuts, len(text) + 1]:
        if found is None and place < len(text):
            found = run.feed(text[place : place + cut])
        place += cut
    assert found == whole


@pytest.mark.parametrize("text", ["\u200b", "\ufeff", "\u00ad"])
def test_zero_width_characters_are_not_white_space(text: str) -> None:
    assert feed(BlankRun(5, 7), [text * 10]) is None


def test_plain_blanks_behind_text_have_a_limit_of_their_own() -> None:
    assert BlankRun(10, 20).feed("END" + " " * 19) is None
    assert BlankRun(10, 20).feed("END" + " " * 25) == Endless(23, 20)
    run = BlankRun(10, 20)
    assert [run.feed(" ") for _ in range(20)][-1] == Endless(20, 20)


def test_what_follows_the_padding_of_a_line_is_counted_from_its_end() -> None:
    assert BlankRun(10, 20).feed("END" + " " * 15 + "\n" + " " * 8 + "x") is None
    assert BlankRun(10, 20).feed("END" + " " * 15 + "\n" + " " * 9) == Endless(28, 10)


def test_half_of_the_padding_is_suspicious() -> None:
    run = BlankRun(10, 20)
    run.feed("x" + " " * 9)
    assert not run.alarming()
    run.feed(" ")
    assert run.alarming()
