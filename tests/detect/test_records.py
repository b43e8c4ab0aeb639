"""What a line is worth in which a number counts."""

import pytest

from ollama_guard.detect.records import BARE, CASE, IDLE, IDLE_BARE, NUMBER, RECORD, STAMP, VOLUME, worth


def rows(line: str, *moved: int, thinking: bool = False) -> int | None:
    """The rows of a line of which the numbers at these places count."""
    steps = [int(place in moved) for place in range(len(NUMBER.findall(line)))]
    return worth(line, steps, thinking=thinking).rows


@pytest.mark.parametrize(
    ("line", "answer", "thought"),
    [
        ("(12, 'Saw', 14.40),", RECORD, IDLE),
        ("12,John Miller,New York", RECORD, IDLE),
        ("12. 2014-09-13 13:08:00", STAMP, STAMP),
        ("[12] 2014-09-13 13:08:00", STAMP, STAMP),
        ("12. 100元 = 100 * 10 = 100", RECORD, STAMP),
        ("12. sum = 100 * 10 = 100", RECORD, IDLE),
        ('    "Menu12": {', STAMP, STAMP),
        ("  items[12] = call(", STAMP, STAMP),
        ("12. No violation was found.", RECORD, IDLE),
        ("12. Name: ________________", VOLUME, VOLUME),
        ("| 12 | John Miller | [ ] |", VOLUME, VOLUME),
        ("| 12 | John Miller | New York |", RECORD, IDLE),
        ('{"id": 12, "name": "row"},', VOLUME, IDLE),
        ("INSERT INTO t VALUES (12, 'item');", VOLUME, IDLE),
        ("The next number after that is 12, as was said.", VOLUME, IDLE),
        ("The next address is 0x0000001f.", VOLUME, IDLE),
        ("- 12.", BARE, IDLE_BARE),
        ("Carl = 12", BARE, BARE),
        ("    12,", BARE, BARE),
        ("call(12);", BARE, BARE),
        ("12. 0000 0000 0000", BARE, IDLE_BARE),
        ('"12",FALSE,FALSE,null', BARE, IDLE_BARE),
    ],
)
def test_a_line_is_given_as_many_rows_as_its_kind_is_known_to_have(
    line: str, answer: int, thought: int
) -> None:
    assert rows(line, 0) == answer
    assert rows(line, 0, thinking=True) == thought


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("item_12 is done now, as it seems.", 0),
        ("x12 is done now, as it seems.", 0),
        ("2024-01-12 is the day of it all.", 2),
        ("10.0.0.12 is the host of it all.", 3),
        ("12:45 is the time of it all.", 0),
        ("1,200 is the sum of it all.", 1),
        ("see https://example.com/12/13/a", 0),
        ("<td>12</td><td>nothing</td>", 0),
    ],
)
def test_what_is_part_of_a_name_a_date_or_an_address_does_not_count(line: str, moved: int) -> None:
    assert rows(line, moved) is None


def test_nothing_counts_where_nothing_moves() -> None:
    assert rows("(12, 'Saw', 14.40),") is None
    assert worth("no number", [], thinking=False).rows is None


def test_a_name_that_is_made_of_the_count_says_nothing() -> None:
    assert rows("(12, 'User 12', 'active'),", 0, 1) is None
    assert rows("(12, 'User 13', 'active'),", 0, 1) == RECORD


def test_only_a_list_s_own_number_makes_an_item() -> None:
    assert worth("12. All of them are equal", [1], thinking=False).item == ". All of them are equal"
    assert worth("12. All 13 of them are equal", [1, 1], thinking=False).item == ""
    assert worth("(12, 'Saw', 'steel')", [1], thinking=False).item == ""


@pytest.mark.parametrize(
    "line",
    [
        "- For x = 12, |x| = 12 and |y| = 100, so (12, 100) is a solution.",
        "Case n = 12: m = 12 too, thus 12 is the answer.",
        "当 x = 12 时，y = 12，所以 (12, 7) 是一个解。",
        "Pour n = 12, on a m = 12, donc 12 est pair.",
    ],
)
def test_a_case_that_ends_in_the_same_conclusion_is_worth_few_rows(line: str) -> None:
    numbers = NUMBER.findall(line)
    facts = {12} | ({100} if "100" in line else set())
    steps = [int(number == "12") for number in numbers]
    assert worth(line, steps, thinking=False) == (CASE, "", facts)
    assert worth(line, steps, thinking=True) == (CASE, "", facts)


@pytest.mark.parametrize(
    "line",
    [
        "- For x = 12, x + 1 = 13, so x = 12 is a solution.",  # something is worked out
        "- For x = 12, |x| = 12 and |y| = 100; (12, 100) is a solution.",  # nothing is concluded
        "- For x = 12, so is 12 the value.",  # said but twice
        "- If x = 12, 12 > 7, so f(12) = 0.",  # something is worked out
        "INSERT INTO t VALUES ('SO', a = 12, b = 12, 12);",  # an order
        "user12 has 12 points, so user12 is on place 12.",  # names
    ],
)
def test_other_lines_are_no_case(line: str) -> None:
    numbers = NUMBER.findall(line)
    steps = [int(number in {"12", "13"}) for number in numbers]
    assert worth(line, steps, thinking=False).rows != CASE


def test_cases_that_take_turns_are_worked_through() -> None:
    line = "For x = 12, |x| = 12, so 12 is one."
    assert worth(line, [1, 1, 1], thinking=False).rows == CASE
    assert worth(line, [1, 1, 1], thinking=False, alone=False).rows is None
