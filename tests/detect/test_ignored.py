import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.ignored import SLACK, Ignored, Sieve
from tests.detect.material import deltas, words


def seen(text: str, ignored: Ignored, size: int = 1, *, escaped: bool = False) -> str:
    """What is visible at once, the end of the text not waited for."""
    sieve = Sieve(ignored, held=1000, escaped=escaped)
    return "".join(sieve.feed(delta) for delta in deltas(text, size))


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("ignored", "text", "visible"),
    [
        (Ignored(chars="-|"), "a-b|c--d ", "abcd "),
        (Ignored(chars="^]-\\["), "a^b]c-d\\e[f", "abcdef"),
        (Ignored(space=True), " a\tb\n\nc\u3000d\u00a0", "abcd"),
        (Ignored(strings=("wait",)), "so wait, waiter wai wait", "so , er wai "),
        (Ignored(strings=("ab", "abcd")), "abcd abc ab.", " c ."),
        (Ignored(strings=("ab", "bc")), "abc.", "c."),
        (Ignored(strings=("aab",)), "aaab.", "a."),
        (Ignored(chars="-", strings=("-x",)), "--x-y.", "y."),
        (Ignored(chars="-", strings=("x--y",)), "x-y x--y x---y.", "xy  xy."),
        (Ignored(strings=("", "é🌱")), "aé🌱b.", "ab."),
        (Ignored(), "all of it", "all of it"),
    ],
)
def test_what_is_ignored_is_not_seen(ignored: Ignored, text: str, visible: str, size: int) -> None:
    assert seen(text, ignored, size) == visible


def test_what_may_become_an_ignored_string_waits() -> None:
    sieve = Sieve(Ignored(strings=("abcd",)), held=1000)
    assert [sieve.feed(char) for char in "xabcabce."] == ["x", "", "", "", "abc", "", "", "abce", "."]


def test_a_seam_ends_what_waits_and_is_visible() -> None:
    sieve = Sieve(Ignored(strings=("abcd", "bc")), held=1000)
    seen = sieve.feed("xabc") + sieve.feed("", last=True) + sieve.seam("|") + sieve.feed("d.")
    assert seen == "xa|d."
    assert [sieve.place(n) for n in range(5)] == [0, 1, 4, 4, 5]


def test_white_space_in_json_is_a_backslash_and_a_letter_too() -> None:
    assert seen("a\\n  b\\tc.", Ignored(space=True), escaped=True) == "abc."
    assert seen("a\\n  b\\tc.", Ignored(space=True)) == "a\\nb\\tc."


ANY = st.builds(
    Ignored,
    st.text("ab-", max_size=2),
    st.lists(st.text("abc \n-", max_size=4), max_size=3).map(tuple),
    st.booleans(),
)
TEXT = st.text("abc \n-", max_size=60)


@given(TEXT, ANY, st.lists(st.integers(1, 7), min_size=1, max_size=20))
def test_the_split_changes_nothing(text: str, ignored: Ignored, cuts: list[int]) -> None:
    whole, pieces = Sieve(ignored, held=1000), Sieve(ignored, held=1000)
    expected, got, place, turn = whole.feed(text), "", 0, 0
    while place < len(text):
        size = cuts[turn % len(cuts)]
        got += pieces.feed(text[place : place + size])
        place, turn = place + size, turn + 1
    assert got == expected
    assert [pieces.place(n) for n in range(len(got))] == [whole.place(n) for n in range(len(got))]


@given(TEXT, ANY)
def test_each_visible_character_stands_where_the_map_says(text: str, ignored: Ignored) -> None:
    sieve = Sieve(ignored, held=1000)
    visible = sieve.feed(text)
    places = [sieve.place(n) for n in range(len(visible))]
    assert [text[place] for place in places] == list(visible)
    assert places == sorted(set(places))


@given(TEXT, ANY)
def test_what_waits_is_the_beginning_of_an_ignored_string(text: str, ignored: Ignored) -> None:
    """What is visible of a text does not depend on what follows, but for that beginning."""
    sieve = Sieve(ignored, held=1000)
    visible = sieve.feed(text) + sieve.feed("\ue000")
    assert visible.endswith("\ue000")
    rest, expected = text, ""
    strings = sorted(filter(None, ignored.strings), key=len, reverse=True)
    while rest:  # the definition, character by character
        string = next((one for one in strings if rest.startswith(one)), "")
        alone = rest[0] in ignored.chars or (ignored.space and rest[0].isspace())
        expected += "" if string or alone else rest[0]
        rest = rest[len(string) or 1 :]
    assert visible == expected + "\ue000"


@pytest.mark.parametrize(
    ("ignored", "text", "spaced"),
    [
        (Ignored(chars="-"), "a-b - c\n", "ab  c\n"),
        (Ignored(chars="-", space=True), "a- b\n", "a b\n"),
        (Ignored(strings=("\n```", "b")), "a\n```b", "a\n"),
        (Ignored(), "a b", "a b"),
    ],
)
def test_a_part_is_had_without_what_is_ignored_but_for_the_white_space(
    ignored: Ignored, text: str, spaced: str
) -> None:
    assert Sieve(ignored, held=100).spaced(text) == spaced


def test_so_is_white_space_as_it_is_written_in_json() -> None:
    assert Sieve(Ignored("-", space=True), held=100, escaped=True).spaced("a-\\n b") == "a\\n b"


def test_the_whole_text_is_had_by_its_offsets_as_far_as_it_is_held() -> None:
    text, sieve = words(20_000), Sieve(Ignored(space=True), held=1000)
    for delta in deltas(text, 7):
        sieve.feed(delta)
    assert sieve.text(19_100, 19_500) == text[19_100:19_500]
    assert sieve.holds(19_000)
    assert not sieve.holds(100)
    assert sieve.text(0, 100) == ""


def test_a_forgotten_place_is_about_right() -> None:
    sieve = Sieve(Ignored(chars="-"), held=1000)
    sieve.feed("a-" * 500)
    sieve.forget(400)
    assert sieve.place(450) == 900
    assert sieve.place(400) == 800
    assert 400 <= sieve.place(300) <= 800


def test_memory_is_bounded_however_long_the_text() -> None:
    sieve = Sieve(Ignored(chars="-", strings=("wait for it",)), held=2000)
    tracemalloc.start()
    try:
        for turn in range(150):
            sieve.feed("a-" * 100)
            sieve.feed("-" * 200 + "wait for ")
            sieve.forget(max(0, sieve.visible - 2000))
            if turn == 50:
                early = tracemalloc.get_traced_memory()[0]
        assert tracemalloc.get_traced_memory()[0] < 1.2 * early + SLACK
        assert early < 200_000
    finally:
        tracemalloc.stop()
