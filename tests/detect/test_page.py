from ollama_guard.detect.page import Page
from ollama_guard.detect.regions import Region
from ollama_guard.detect.run import Goal
from ollama_guard.detect.tracker import Tracker
from tests.detect.material import words


def shown(text: str, *, escaped: bool = False, apart: bool = False) -> Page:
    page = Page(escaped=escaped, apart=apart)
    tracker = Tracker(
        lambda _: Goal(1 << 40, 1 << 40),
        lambda _: 1 << 40,
        window=2000,
        max_period=500,
        before_cut=page.before_cut,
    )
    page.show(tracker)
    for begin in range(0, len(text), 100):
        tracker.feed(text[begin : begin + 100])
    return page


def test_text_is_had_by_its_offsets_as_far_as_it_is_held() -> None:
    text = words(20_000)
    page = shown(text)
    assert page.text(19_000, 19_500) == text[19_000:19_500]
    assert page.text(0, 100) == ""


def test_the_region_of_a_place_knows_what_was_dropped() -> None:
    text = "```\n" + words(20_000)
    assert shown(text).region("some words\n", 19_900, 19_910) is Region.CODE
    assert shown(text[4:]).region("some words\n", 19_900, 19_910) is Region.PROSE


def test_the_same_unit_is_judged_in_each_of_its_places() -> None:
    text = "some words " * 9 + "\n```\n" + "some words " * 9
    page = shown(text)
    for _ in range(2):
        assert page.region("some words ", 0, 11) is Region.PROSE
        assert page.region("some words ", 104, 115) is not Region.PROSE
        assert page.region("f(x); g(y);", 0, 11) is Region.CODE


def test_a_line_break_in_json_is_a_line_break() -> None:
    unit = "| a | b |\\n"
    assert shown("x" * 50, escaped=True).region(unit, 10, 20) is Region.CODE


def test_a_page_of_nothing_is_empty() -> None:
    assert Page().text(0, 10) == ""
    assert Page().region("some words ", 0, 11) is Region.PROSE


def test_inline_code_is_code() -> None:
    text = "Then run `" + "some words " * 20 + "` and more words"
    first = text.index("some")
    page = shown(text)
    assert page.region("some words ", first, first + 11) is not Region.PROSE
    assert page.region("some words ", len(text) - 20, len(text) - 9) is Region.PROSE


def test_what_has_backticks_of_its_own_is_prose() -> None:
    unit = "Then run `make` again. "
    assert shown(unit * 20).region(unit, 0, len(unit)) is Region.PROSE
    slip = "That`s what I said. "
    assert shown(slip * 20).region(slip, len(slip), 2 * len(slip)) is Region.PROSE


def test_json_has_no_inline_code() -> None:
    text = '{"text": "use `' + "some words " * 20
    assert shown(text, escaped=True).region("some words ", 20, 31) is Region.PROSE


def test_the_text_is_told_apart_in_pieces_of_code_and_prose() -> None:
    text = "One `two` three\n```\nfour\n```\nfive\n\n    six\n\nseven"
    page = shown(text, apart=True)
    pieces = page.pieces(0, len(text))
    assert "".join(text[begin:end] for begin, end, _ in pieces) == text
    code = [text[begin:end] for begin, end, code in pieces if code]
    assert [one.strip("`\n ") for one in code] == ["two", "four", "six"]
    assert page.pieces(0, 3) == [(0, 3, False)]
