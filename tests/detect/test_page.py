from ollama_guard.detect.page import Page
from ollama_guard.detect.regions import Region
from ollama_guard.detect.tracker import Goal, Tracker
from tests.detect.material import words


def shown(text: str, *, escaped: bool = False) -> Page:
    page = Page(escaped=escaped)
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
    assert shown(text).region("some words ", 19_900, 19_910) is Region.CODE
    assert shown(text[4:]).region("some words ", 19_900, 19_910) is Region.PROSE


def test_a_line_break_in_json_is_a_line_break() -> None:
    unit = "| a | b |\\n"
    assert shown("x" * 50, escaped=True).region(unit, 10, 20) is Region.CODE


def test_a_page_of_nothing_is_empty() -> None:
    assert Page().text(0, 10) == ""
    assert Page().region("some words ", 0, 11) is Region.PROSE
