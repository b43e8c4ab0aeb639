"""Lists whose rows said something new, until nothing but their numbers ran on."""

import pytest

from ollama_guard.detect import stale
from ollama_guard.detect.finding import Kind
from tests.detect.material import first

NAMES = ["Lena", "Omar", "Nabil", "Ines", "Kofi", "Mira", "Jonas", "Aiko", "Pablo", "Greta", "Wanda", "Tomas"]
CITIES = ("Oslo", "New York", "St. Gallen", "Cairo")

FORMS = {
    "a tuple": "({n}, '{name}', 14.40),\n",
    "a row of CSV": "{n},{name} Miller,{city},{n}{m}\n",
    "a row of a table": "| {n} | {name} | {city} |\n",
    "an object": '  {{"id": {n}, "name": "{name}", "city": "{city}"}},\n',
    "a statement": "INSERT INTO users (id, email) VALUES ({n}, '{name}@example.org');\n",
    "an item with years": "{n}. {name} ({n}-{m} CE)\n",
    "a price": "{name}, 1 kg ........ {n}.50\n",
    "a date": "2031-01-{n}: {name} from {city}\n",
    "an address": "10.0.0.{n}  {name}\n",
    "a name with a number": "user_{n} is {name} in {city}\n",
    "a block": "  - name: {name}{n}\n    ip: 10.0.0.{n}\n    role: worker\n",
}


def row(form: str, n: int, name: str = "Ahmed") -> str:
    return form.format(
        n=n, m=n + 1, name=name, city=CITIES[NAMES.index(name) % 4] if name in NAMES else "Rome"
    )


def varied(form: str, count: int) -> str:
    return "".join(row(form, n, NAMES[n % len(NAMES)]) for n in range(1, count + 1))


def equal(form: str, begin: int, count: int) -> str:
    return "".join(row(form, n) for n in range(begin, begin + count))


@pytest.mark.parametrize("name", FORMS)
def test_a_list_that_goes_stale_is_a_verdict(name: str) -> None:
    form = FORMS[name]
    before = varied(form, 12)
    finding = first(before + equal(form, 13, 200))
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert len(before) < finding.onset <= len(before) + len(row(form, 13))
    units, lines = finding.mass / len(row(form, 50)), form.count("\n")
    fewest = max(stale.ROWS, stale.LINES / lines)
    assert fewest * 0.95 <= units <= max(fewest + 3, 1550 / len(row(form, 50)))


@pytest.mark.parametrize("name", FORMS)
def test_the_same_rows_are_none_where_nothing_else_was_ever_said(name: str) -> None:
    assert first(equal(FORMS[name], 1, 120)) is None
    assert first("Here it is:\n\n" + equal(FORMS[name], 1, 120)) is None


@pytest.mark.parametrize("name", FORMS)
def test_a_table_may_end_in_a_block_of_equal_rows(name: str) -> None:
    lines = FORMS[name].count("\n")
    assert first(varied(FORMS[name], 12) + equal(FORMS[name], 13, 60 // lines)) is None
    many = varied(FORMS[name], 40 // lines)
    assert first(many + equal(FORMS[name], 41, int(stale.TO_VARIED * 40 // lines) - 2)) is None


def test_one_odd_row_before_is_no_list_that_says_something() -> None:
    form = FORMS["a row of a table"]
    assert first(row(form, 1, "Lena") + equal(form, 2, 150)) is None
    assert first(varied(form, 2) + equal(form, 3, 150)) is None  # an owner, a guest, and all the users
    assert first(varied(form, 3) + equal(form, 4, 150)) is not None


def test_rows_of_another_form_do_not_count() -> None:
    others = "".join(f"{name} lives in a house of {n} rooms.\n" for n, name in enumerate(NAMES))
    assert first(others + equal(FORMS["a row of a table"], 1, 150)) is None


def test_a_measured_value_that_stands_is_data() -> None:
    day = "".join(f"{n},solar,{n * n % 97}.{n % 7}\n" for n in range(40))
    night = "".join(f"{n},solar,0.0\n" for n in range(40, 180))
    assert first(day + night) is None


def test_measured_values_that_go_on_varying_are_data() -> None:
    form = "{n},{name},{city}\n"
    rows = "".join(f"{n},Ahmed,{n * n % 97}\n" for n in range(13, 300))
    assert first(varied(form, 12) + rows) is None


def test_rows_in_the_request_are_those_before() -> None:
    form = FORMS["a statement"]
    shown = "Go on with this list:\n\n" + varied(form, 2)
    rows = equal(form, 3, 150)
    assert first(rows, prompt=shown) is not None
    assert first(rows, prompt="Go on with this list:\n\n" + equal(form, 1, 2)) is None
    assert first(rows, prompt=shown + "\nUp to 140, please.") is None
    assert first("Here you are.\n" + rows, prompt=shown) is None


def test_numbers_may_take_turns() -> None:
    before = "06:00  Hamburg\n06:30  Bremen\n07:00  Hanover\n07:30  Kiel\n"
    times = "".join(f"{n // 2:02}:{n % 2 * 30:02}  Luebeck\n" for n in range(16, 200))
    finding = first(before + times)
    assert finding is not None
    assert finding.unit.count("\n") == 1


def test_the_request_may_have_asked_for_so_many() -> None:
    form = FORMS["a row of a table"]
    text = varied(form, 12) + equal(form, 13, 90)
    assert first(text) is not None
    assert first(text, prompt="A table of 100 rows, please.") is None


@pytest.mark.parametrize("size", [1, 3, 64, 999, 100_000])
def test_the_verdict_does_not_depend_on_the_deltas(size: int) -> None:
    text = varied(FORMS["a block"], 12) + equal(FORMS["a block"], 13, 100)
    assert first(text, size=size) == first(text)
