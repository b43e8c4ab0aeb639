"""What the numbers of consecutive copies do."""

import re

import pytest

from ollama_guard.detect.counting import Course, copies_left, course, course_of_numbers


def copies(form: str, *rows: tuple[object, ...]) -> list[str]:
    return [form.format(*row) for row in rows]


def counted(form: str, count: int = 12, begin: int = 1, step: int = 1) -> list[str]:
    return copies(form, *((begin + step * n,) for n in range(count)))


@pytest.mark.parametrize("form", ["{0}. Press the button.\n", "  {0}) Press it.\n", "- {0}. Press 2 keys.\n"])
def test_equal_items_with_a_running_marker(form: str) -> None:
    assert course(counted(form)) is Course.MARKED


def test_a_list_of_equal_items_may_begin_anew() -> None:
    again = copies("{0}. Press the button.\n", *((n % 7 + 1,) for n in range(24)))
    assert course(again) is Course.MARKED
    assert course(copies("It is {0} now.\n", *((n % 7 + 1,) for n in range(24)))) is Course.VARIED
    assert course(copies("{0}. Press the button.\n", *((n * 7 % 23,) for n in range(24)))) is Course.VARIED
    assert course(copies("{0}. Press it.\n", *(("9" * (5000 - n),) for n in range(9)))) is Course.VARIED
    assert course(["Press it.\n"] * 12) is not Course.MARKED


def test_the_place_where_a_copy_begins_does_not_matter() -> None:
    text = "".join(counted("{0}. Press the button.\n", 14))
    size, shift = len("1. Press the button.\n"), 9
    turned = [text[n * size + shift : (n + 1) * size + shift] for n in range(8)]
    assert course(turned) is Course.MARKED


def test_versions_are_no_count() -> None:
    assert course(counted("Version 2.{0}: Bug fixes.\n")) is Course.VARIED
    assert course(counted("v1.0.{0}\n- Bug fixes.\n")) is Course.VARIED
    assert course(counted("Step {0}. Wait.\n", begin=2)) is Course.COUNTED


def test_line_breaks_between_some_copies_only() -> None:
    said = [f"{n}. Press the button{' ' if n % 3 else chr(10)}" for n in range(5, 20)]
    assert course(said) is Course.COUNTED


@pytest.mark.parametrize(
    "form",
    [
        "The next number is {0}.\n\n",
        "Article {0}\n\n{0}. All are equal.\n\n",
        "{0} bottles of beer on the wall, {0} bottles of beer. ",
        "At {0} o'clock and at {0} o'clock. ",
    ],
)
def test_a_counter_in_the_text(form: str) -> None:
    assert course(counted(form)) is Course.COUNTED


def test_a_countdown_and_other_steps_count_too() -> None:
    assert course(counted("{0} to go. ", begin=99, step=-1)) is Course.COUNTED
    assert course(counted("So {0} is even. ", begin=2, step=2)) is Course.COUNTED


def test_a_counter_may_stand_still_or_slip_once() -> None:
    numbers = [3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 12, 12, 13]
    assert course(copies("It is {0}. ", *((n,) for n in numbers))) is Course.COUNTED
    numbers = [*range(1, 15), 40, *range(41, 50)]
    assert course(copies("It is {0}. ", *((n,) for n in numbers))) is Course.COUNTED


@pytest.mark.parametrize(
    "rows",
    [
        [(n, n * n) for n in range(12)],  # results
        [(n, 1000 * 1.05**n) for n in range(12)],
        [(7 * n % 11, 0) for n in range(12)],  # in no order
        [(5, 5)] * 12,  # no number changes
    ],
)
def test_numbers_that_vary_are_no_counter(rows: list[tuple[object, ...]]) -> None:
    assert course(copies("For {0} we get {1}. ", *rows)) is Course.VARIED


@pytest.mark.parametrize("form", ["import module_{0}\n", "The variable x{0} is set. "])
def test_a_number_in_an_identifier_is_no_counter(form: str) -> None:
    assert course(counted(form)) is Course.VARIED


def test_a_copy_may_begin_within_an_identifier() -> None:
    assert course(counted("{0} + open_site_")) is Course.VARIED
    assert course(counted("{0} + open site ")) is not Course.VARIED


def test_few_copies_tell_nothing() -> None:
    assert course(counted("It is {0}. ", 3)) is Course.VARIED
    assert course([]) is Course.VARIED


def test_endless_digits_are_no_counter() -> None:
    assert course([f"It is {n}{'1' * 5000}. " for n in range(6)]) is Course.VARIED


def test_items_that_are_named_by_their_number_are_told_from_a_count() -> None:
    assert course([f"{n}. Item {n} of the list\n" for n in range(8, 20)]) is Course.NAMED
    assert course([f"{n}. Item {n + 1} of the list\n" for n in range(8, 20)]) is Course.COUNTED
    assert course([f"Item {n} of {n}\n" for n in range(8, 20)]) is Course.COUNTED


def test_numbers_may_take_turns_in_a_line() -> None:
    def numbers(text: str) -> list[str]:
        return re.findall(r"\d+\D+", text)

    assert course_of_numbers(numbers("".join(f"{n}, " for n in range(40)))) is Course.COUNTED
    assert course_of_numbers(numbers("".join(f"1.1.{n}: " for n in range(40)))) is Course.COUNTED
    assert course_of_numbers(numbers("".join(f"{n}*{n}^2, " for n in range(40)))) is Course.COUNTED
    assert course_of_numbers(numbers("".join(f"{n * n % 37}, " for n in range(40)))) is Course.VARIED
    assert (
        course_of_numbers(numbers("".join(f"{n}{',;'[n * n % 11 % 2]} " for n in range(40)))) is Course.VARIED
    )
    assert course_of_numbers(["1, ", "2, "]) is Course.VARIED


def test_numbers_that_grow_by_zeros() -> None:
    once = ["417", "529", "1041", "36", "77", "984", "12", "650"]
    grown = [number + "0" * zeros for zeros in range(8) for number in once]
    assert course_of_numbers([f"{number}, " for number in grown]) is Course.GROWN
    slips = [f"{number}1, " if turn % 25 == 0 else f"{number}, " for turn, number in enumerate(grown)]
    assert course_of_numbers(slips) is Course.GROWN


@pytest.mark.parametrize(
    "numbers",
    [
        [10**power for power in range(15)],
        [value * 10**power for power in range(14) for value in (1, 2, 5)],  # a scale
        [417, 529, 1041, 36, 77, 984, 12, 650] * 8,  # the same once more: another family's
        [n * n for n in range(40, 104)],
    ],
)
def test_other_numbers_do_not_grow_so(numbers: list[int]) -> None:
    assert course_of_numbers([f"{number}, " for number in numbers]) is not Course.GROWN


def test_a_table_of_powers_grows_by_nature() -> None:
    rows = [f"{value}{'0' * zeros}" for zeros in range(8) for value in (417, 529, 1041, 36, 77, 984, 12, 650)]
    assert course_of_numbers([f"{number}, " for number in rows]) is Course.GROWN
    assert course_of_numbers([f"{number}\n" for number in rows]) is Course.VARIED


def test_a_countdown_has_an_end() -> None:
    song = copies("{0} bottles on the wall, {1} are left. ", *((n, n - 1) for n in range(99, 87, -1)))
    assert copies_left(song) == 88
    assert copies_left(counted("In {0} of 12 seconds. ", begin=60, step=-5)) == 1
    assert copies_left(counted("Step {0}. ")) == 0
    assert copies_left(copies("{0}: {1} are left. ", *((n, 99 - n) for n in range(12)))) == 0
    assert copies_left(["The same 7. "] * 12) == 0
    assert copies_left(copies("{0} is a long number. ", *(("9" * (30 - n),) for n in range(12)))) == 0
