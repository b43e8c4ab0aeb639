"""Lists whose rows wavered between things to say, until nothing but their numbers ran on."""

import pytest

from ollama_guard.detect.finding import Kind
from tests.detect.material import first

CITIES = {"Lena": "Oslo", "Omar": "New York", "Ines": "St. Gallen", "Kofi": "Cairo", "Ahmed": "Rome"}
WAVERING = (
    "Lena",
    "Omar",
    "Lena",
    "Ahmed",
    "Ines",
    "Ahmed",
    "Omar",
    "Ahmed",
    "Kofi",
    "Ahmed",
    "Kofi",
    "Omar",
)
DIFFERENT = "Mira Jonas Aiko Pablo Greta Wanda Tomas Nabil Lena Omar Ines Kofi"

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
}
BLOCK = "  - name: {name}{n}\n    ip: 10.0.0.{n}\n    role: worker\n"


def row(form: str, n: int, name: str = "Ahmed") -> str:
    return form.format(n=n, m=n + 1, name=name, city=CITIES.get(name, "Bern"))


def rows(form: str, names: tuple[str, ...] | list[str]) -> str:
    return "".join(row(form, n, name) for n, name in enumerate(names, 1))


def equal(form: str, begin: int, count: int) -> str:
    return "".join(row(form, n) for n in range(begin, begin + count))


@pytest.mark.parametrize("name", FORMS)
def test_a_list_that_wavers_and_goes_stale_is_a_verdict(name: str) -> None:
    form = FORMS[name]
    before = rows(form, WAVERING)
    finding = first(before + equal(form, 13, 200))
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert len(before) < finding.onset <= len(before) + len(row(form, 13))
    units = finding.mass / len(row(form, 50))
    assert 60 <= units <= max(66, 1550 / len(row(form, 50)))


@pytest.mark.parametrize("name", FORMS)
def test_a_table_of_different_things_and_a_tail_of_equal_ones_is_none(name: str) -> None:
    form = FORMS[name]
    assert first(rows(form, DIFFERENT.split()) + equal(form, 13, 150)) is None


@pytest.mark.parametrize("name", FORMS)
def test_the_same_rows_are_none_where_nothing_else_was_ever_said(name: str) -> None:
    assert first(equal(FORMS[name], 1, 150)) is None
    assert first("Here it is:\n\n" + equal(FORMS[name], 1, 150)) is None


@pytest.mark.parametrize("name", FORMS)
def test_it_takes_more_rows_the_more_there_were_before(name: str) -> None:
    form = FORMS[name]
    assert first(rows(form, WAVERING) + equal(form, 13, 60)) is None
    assert first(rows(form, 4 * WAVERING) + equal(form, 49, 118)) is None


def test_a_tail_that_was_not_said_before_is_a_block_of_its_own() -> None:
    form = FORMS["a row of a table"]
    before = rows(form, [name.replace("Ahmed", "Pablo") for name in WAVERING])
    assert first(before + equal(form, 13, 150)) is None


@pytest.mark.parametrize(("turns", "verdict"), [(4, False), (12, True)])
def test_few_things_to_say_take_more_wavering(turns: int, verdict: bool) -> None:
    form = FORMS["a price"]
    before = rows(form, ["Lena", "Omar", *["Ahmed", "Lena"] * (turns // 2), "Omar"])
    assert (first(before + equal(form, 1, 150)) is not None) is verdict


def test_two_states_that_alternate_and_then_stand_are_a_table() -> None:
    ports = ["Lena", "Ahmed"] * 12
    assert first(rows(FORMS["a row of a table"], ports) + equal(FORMS["a row of a table"], 25, 150)) is None


def test_what_takes_turns_in_the_run_is_none_that_it_has_no_more() -> None:
    form = "G1 X{x} Y{n} F1500\n"
    assert first("".join(form.format(x=n % 2 * 200, n=n) for n in range(200))) is None


def test_lines_of_a_block_recur_by_nature() -> None:
    assert first(rows(BLOCK, WAVERING) + equal(BLOCK, 13, 150)) is None


def test_rows_of_another_form_do_not_count() -> None:
    others = "".join(f"{name} lives in a house of {n} rooms.\n" for n, name in enumerate(WAVERING))
    assert first(others + equal(FORMS["a row of a table"], 1, 150)) is None


def test_measured_values_that_go_on_varying_are_data() -> None:
    form = "{n},{name},{city}\n"
    values = "".join(f"{n},Ahmed,{n * n % 97}\n" for n in range(13, 300))
    assert first(rows(form, WAVERING) + values) is None


@pytest.mark.parametrize("form", [FORMS["a statement"], FORMS["an address"], BLOCK])
def test_rows_in_a_request_that_is_nothing_else_are_those_before(form: str) -> None:
    shown, text = rows(form, ["Lena", "Omar"]), equal(form, 3, 200)
    finding = first(text, prompt=shown)
    assert finding is not None
    assert finding.mass / len(row(form, 50)) == pytest.approx(43 if form == BLOCK else 128, rel=0.1)
    assert first(text, prompt="My hosts:\n" + shown) is not None
    assert first(text, prompt=equal(form, 1, 2)) is None
    assert first(text, prompt="Go on with this list, only Ahmed:\n" + shown) is None
    assert first(text, prompt=shown + "\nUp to 180, please.") is None
    assert first("Here you are.\nIt is this:\n" + text, prompt=shown) is None


def test_a_request_may_end_within_a_row() -> None:
    form = FORMS["an address"]
    shown, text = rows(form, ["Lena", "Omar"]) + "10.0.0.3", "  Ahmed\n" + equal(form, 4, 200)
    assert first(text, prompt=shown) is not None
    assert first(text, prompt=shown.replace("Lena", "Ahmed").replace("Omar", "Ahmed")) is None


def test_numbers_may_take_turns() -> None:
    times = [f"{n // 2:02}:{n % 2 * 30:02}" for n in range(12, 200)]
    before = "".join(f"{time}  {name}\n" for time, name in zip(times, WAVERING, strict=False))
    finding = first(before + "".join(f"{time}  Ahmed\n" for time in times[12:]))
    assert finding is not None
    assert finding.unit.count("\n") == 1


def test_the_request_may_have_asked_for_so_many() -> None:
    form = FORMS["a row of a table"]
    text = rows(form, WAVERING) + equal(form, 13, 90)
    assert first(text) is not None
    assert first(text, prompt="A table of 100 rows, please.") is None


def test_a_file_that_a_tool_is_to_write_is_left_alone() -> None:
    text = rows(FORMS["an address"], WAVERING) + equal(FORMS["an address"], 13, 240)
    assert first(text) is not None
    assert first('{"content": "' + text.replace("\n", "\\n") + '"}', "tool:0") is None


@pytest.mark.parametrize("size", [1, 3, 64, 999, 100_000])
def test_the_verdict_does_not_depend_on_the_deltas(size: int) -> None:
    text = rows(FORMS["a price"], WAVERING) + equal(FORMS["a price"], 13, 100)
    assert first(text, size=size) == first(text) is not None
    shown, block = rows(BLOCK, ["Lena", "Omar"]), equal(BLOCK, 3, 60)
    assert first(block, size=size, prompt=shown) == first(block, prompt=shown) is not None
