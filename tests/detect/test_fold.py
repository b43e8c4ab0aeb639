import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.fold import Fold, Folded


def fold(text: str, *, numbers: bool = False) -> str:
    return Fold(numbers=numbers).feed(text)


def test_case_punctuation_and_white_space_are_folded() -> None:
    assert fold("  Hello, World!\n\nHELLO -- world") == "hello world hello world"


def test_numbers_are_kept_unless_asked_for() -> None:
    assert fold("Step 101: go") == "step 101 go"
    assert fold("Step 101: go", numbers=True) == "step 0 go"
    assert fold("1 2 33", numbers=True) == "0 0 0"


def test_emoji_and_han_are_kept() -> None:
    assert fold("🌟\n🌟, 内容。") == "🌟 🌟 内容 "


@given(st.text(max_size=60), st.lists(st.integers(1, 9), min_size=1, max_size=20), st.booleans())
def test_the_split_changes_nothing(text: str, cuts: list[int], numbers: bool) -> None:
    pieces, done, out = Fold(numbers=numbers), 0, ""
    for cut in [*cuts, len(text)]:
        out += pieces.feed(text[done : done + cut])
        done += cut
    assert out == fold(text, numbers=numbers)


@given(
    st.text("aB1 ,._\nßİ🌟啊", max_size=900),
    st.lists(st.integers(1, 400), min_size=1, max_size=10),
    st.booleans(),
    st.integers(0, 900),
)
def test_each_folded_character_leads_back_to_its_raw_place(
    text: str, cuts: list[int], numbers: bool, wanted: int
) -> None:
    folded = Folded(numbers=numbers, raw=lambda begin, end: text[begin:end])
    done = 0
    for cut in [*cuts, len(text)]:
        folded.feed(text[done : done + cut])
        done += cut
    place = folded.place(wanted)
    if wanted >= folded.length:
        assert place == len(text)
    else:
        assert (
            len(fold(text[:place], numbers=numbers)) <= wanted < len(fold(text[: place + 1], numbers=numbers))
        )


def test_a_place_in_text_that_is_gone_is_about_right() -> None:
    text = "word " * 1000
    folded = Folded(numbers=False, raw=lambda begin, end: text[max(begin, 2500) : max(end, 2500)])
    for begin in range(0, len(text), 100):
        folded.feed(text[begin : begin + 100])
    assert abs(folded.place(1000) - 1000) < 300
    assert folded.place(4000) == 4000
    folded.forget(3000)
    assert folded.place(4000) == 4000


@pytest.mark.parametrize("numbers", [False, True])
def test_a_seam_stands_between_what_is_folded_before_and_after_it(numbers: bool) -> None:
    text = "One, two; 33!! Four -- five?"
    folded = Folded(numbers=numbers, raw=lambda begin, end: text[begin:end])
    whole = folded.feed(text[:14]) + folded.seam("\x01") + folded.feed(text[14:])
    assert "\x01" in whole
    place = whole.index("\x01")
    assert folded.length == len(whole)
    assert folded.place(place) == 14
    for word in ("two", "four", "five"):
        assert text[folded.place(whole.index(word)) :].casefold().startswith(word)


@given(st.text(st.characters(max_codepoint=127), max_size=80), st.booleans())
def test_plain_text_folds_the_same_in_company_of_other_letters(text: str, numbers: bool) -> None:
    assert fold(text + "\u00e9", numbers=numbers) == fold(text + "e", numbers=numbers)[:-1] + "\u00e9"


def test_an_underscore_parts_words_in_every_script() -> None:
    assert fold("snake_case__x") == "snake case x"
    assert fold("\u00fcber_\u00e9t\u00e9") == "\u00fcber \u00e9t\u00e9"


def test_digits_of_every_script_are_numbers() -> None:
    assert fold("\u0661\u0662 and 12", numbers=True) == "0 and 0"


def test_a_block_of_a_million_blanks_folds_to_one() -> None:
    assert fold("a" + " \n\t" * 333_333 + "b") == "a b"


def test_a_place_before_all_that_is_remembered_is_about_right() -> None:
    text = "One, two; three. " * 400
    folded = Folded(numbers=True, raw=lambda begin, end: text[begin:end])
    for begin in range(0, len(text), 64):
        folded.feed(text[begin : begin + 64])
    whole = [folded.place(at) for at in range(0, folded.length, 7)]
    folded.forget(3000)
    later = [folded.place(at) for at in range(0, folded.length, 7)]
    assert all(0 <= two <= 4400 for two in later[: 3000 // 7])
    assert later[3000 // 7 + 1 :] == whole[3000 // 7 + 1 :]
    assert later == sorted(later)
