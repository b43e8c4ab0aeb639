"""What the words of a request ask for, and what they do not."""

import pytest

from ollama_guard.detect import wishes


@pytest.mark.parametrize(
    ("text", "often"),
    [
        ("write it 50 times", 50),
        ("write it fifty times", 50),
        ("write it 10 times", 10),
        ("say it two hundred times", 200),
        ("a thousand copies", 1000),
        ("50-mal", 50),
        ("zwanzigmal", 20),
        ("cinquante fois", 50),
        ("cincuenta veces", 50),
        ("сто раз", 100),
        ("五十遍", 50),
        ("一百次", 100),
        ("二十五次", 25),
        ("50번", 50),
        ("print it 30x, please", 30),
        ("for i in range(50): print(i)", 50),
        ("what is 'ab' * 200", 200),
        ("yes | head -n 200", 200),
        ("'ab'.repeat(200)", 200),
        ("i will be good. x 100", 100),
        ("yes ×100", 100),
        ("3 x 100", 0),
        ("linux 60", 0),
        ("box ×12", 12),
        ("10x12", 0),
        ("(a + b) x 100", 0),
        ("f(x) x100 = 5", 0),
        ("say it 5,000 times", 1000),
        ("three times", 0),
        ("retry 3 times", 0),
        ("the 500,000 rows", 0),
        ("a 200 word essay", 0),
        ("a 11x - 6", 0),
        ("第十次", 0),
        ("version 2.50 times", 0),
        ("a hundred people", 0),
    ],
)
def test_how_often_is_read_in_figures_and_in_words(text: str, often: int) -> None:
    assert wishes.read(text).often == often


@pytest.mark.parametrize(
    ("text", "size", "digits"),
    [
        ("300 digits of pi", 300, True),
        ("1/7 to 300 decimal places", 300, True),
        ("a string of 500 characters", 500, False),
        ("a 500-character string", 500, False),
        ("at most 4000 characters", 0, False),
        ("limited to 4000 characters", 0, False),
        ("the file has 65536 bytes", 0, False),
    ],
)
def test_a_size_is_what_is_to_be_reached(text: str, size: int, digits: bool) -> None:
    asked = wishes.read(text)
    assert (asked.size, asked.digits) == (size, digits)


@pytest.mark.parametrize(
    ("text", "cells", "side"),
    [
        ("a 16x16 board", 256, 16),
        ("20 x 30", 600, 30),
        ("10 by 10", 100, 10),
        ("a box 30 wide and 12 high", 360, 30),
        ("40 characters wide, 20 tall", 800, 40),
        ("from 30 and 12", 0, 0),
        ("50×30", 50, 50),
        ("a 4x4 matrix", 0, 0),
        ("a 1920x1080 picture", 0, 0),
        ("an 800x600 picture", 0, 0),
        ("what is 2 * 37 x 48", 0, 0),
        ("37 x 48 = ?", 0, 0),
    ],
)
def test_a_board_has_cells_and_sides(text: str, cells: int, side: int) -> None:
    asked = wishes.read(text)
    assert (asked.cells, asked.side) == (cells, side)


@pytest.mark.parametrize(
    ("text", "slots"), [("20 packets", 20), ("8 rounds", 8), ("5000 points", 0), ("301 fields", 0)]
)
def test_things_alike_are_few_enough_to_be_written_out(text: str, slots: int) -> None:
    assert wishes.read(text).slots == slots


@pytest.mark.parametrize(
    "text",
    [
        "repeat after me",
        "say it forever",
        "请重复",
        "wiederhole das",
        "don't forget to repeat it",
        "répète-le",
    ],
)
def test_repetition_is_asked_for_in_words(text: str) -> None:
    assert wishes.read(text).repeated


@pytest.mark.parametrize(
    "text",
    [
        "do not repeat yourself",
        "don't repeat the question",
        "don’t just repeat it",
        "without repeating anything",
        "never repeat a word",
        "avoid repetition",
        "avoid unnecessary repetition",
        "no repetitions",
        "不要重复",
        "ohne dich zu wiederholen",
        "sans répéter",
        "не повторяйся",
        "繰り返さないで",
    ],
)
def test_repetition_that_is_unwanted_is_no_wish(text: str) -> None:
    assert not wishes.read(text).repeated


@pytest.mark.parametrize(
    "text",
    [
        "the lyrics",
        "sing hey jude",
        "can you sing it",
        "write a song",
        "the text of psalm 136",
        "a litany",
        "the rosary",
    ],
)
def test_a_song_is_asked_for(text: str) -> None:
    assert wishes.read(text).song


@pytest.mark.parametrize(
    ("unit", "may"),
    [
        ("A", True),
        ("ff ", True),
        ("\\x90", True),
        ("0x00, ", True),
        ("A" * 76 + "\n", True),
        ("G", False),
        ("zz", False),
        ("the ", False),
        ("a b ", False),
        ("deadbeef", False),
    ],
)
def test_equal_bytes_are_told_by_their_letters(unit: str, may: bool) -> None:
    assert wishes.may_be_bytes(unit) is may


@pytest.mark.parametrize(
    ("word", "text", "count"),
    [
        ("null", "a json array of 100 nulls", 100),
        ("false", "an array of 100 false values", 100),
        ("star", "draw 40 red stars", 40),
        ("box", "12 boxes", 12),
        ("null", "write 100 words on null", 0),
        ("cat", "100 words about cats", 0),
        ("a.b", "100 axbs", 0),
        ("null", "99999 nulls", 1000),
    ],
)
def test_how_many_of_a_thing_are_asked_for(word: str, text: str, count: int) -> None:
    assert wishes.how_many(word, text) == count


@pytest.mark.parametrize(
    "text", ["my son sings songs", "is it a good song? give reasons", "birds sing in spring"]
)
def test_a_song_that_is_only_mentioned_is_not_asked_for(text: str) -> None:
    assert not wishes.read(text).song


@pytest.mark.timeout(20)  # a quadratic pattern took 0.2 s or more for 6,000 characters: a minute for these
@pytest.mark.parametrize("part", ["1", "十", "\n", " ", "-", "1,111", "not ", "max limit of ", "1 "])
def test_no_text_takes_long_to_read(part: str) -> None:
    wishes.read((part * 100_000)[:100_000])
