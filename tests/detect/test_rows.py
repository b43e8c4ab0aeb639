"""Lines that are equal but for a counter."""

from dataclasses import replace

import pytest

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.rules import BALANCED
from ollama_guard.detect.watch import Watch
from tests.detect.material import deltas, first, words


def rows(form: str, count: int, start: int = 100) -> str:
    return "".join(form.format(n=n) for n in range(start, start + count))


STAMPS = {
    "an item that is a date": "{n}. 2014-09-13 13:08:00\n",
    "a line with its number": "#{n}: 2022-08-22 12:32:22.192.1.1.1\n",
}
RECORDS = {
    "a tuple": "({n}, 'Saw', 14.40),\n",
    "a row of CSV": "{n},John Miller,New York,31\n",
    "a row of a table": "| {n} | John Miller | New York |\n",
}
OTHERS = {
    "a JSON object": '  {{"id": {n}, "name": "row"}},\n',
    "a statement": "INSERT INTO t (id, name) VALUES ({n}, 'item');\n",
    "a form": "{n}. Name and date of birth: ______\n",
}
ALL = STAMPS | RECORDS | OTHERS
FEWEST = {name: 50 if name in STAMPS else 310 if name in RECORDS else 520 for name in ALL}


BY_NATURE = [
    "{n}\n",
    "{n}, ",
    "x = {n}; y = {n};\n",
    "({n}, 'User {n}', 'active'),\n",
    "({n}, 'user{n}', 'active'),\n",
    "{n}. Item {n} of the list\n",
    "2024-01-{n} the server is up and running\n",
    "10.0.0.{n} the host is up\n",
    "12:{n} the host is up\n",
    "https://example.com/page/{n}/index the page\n",
    "define_pin({n}, PIN_NAME)\n",
    '"{n}",FALSE,FALSE,FALSE,TRUE\n',
    "<tr><td>{n}</td><td>nothing</td></tr>\n",
]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("fence", [False, True])
def test_rows_in_which_nothing_but_the_count_changes_are_a_verdict_at_last(name: str, fence: bool) -> None:
    before = words(300) + "\n\n" + ("```\n" if fence else "")
    text = before + rows(ALL[name], 800)
    finding = first(text)
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    size = len(ALL[name].format(n=100))
    assert finding.onset == len(before) + size
    assert finding.mass == finding.at - finding.onset
    assert finding.mass >= 1500
    assert FEWEST[name] <= finding.repeats <= max(FEWEST[name] + 2, 1500 / size + 2)
    assert finding.unit == text_of(text, finding)


def text_of(text: str, finding: Finding) -> str:
    """The last row before the verdict."""
    return text[: finding.at].splitlines()[-1]


@pytest.mark.parametrize("name", ALL)
def test_as_many_as_people_ask_for_are_left_alone(name: str) -> None:
    assert first(rows(ALL[name], FEWEST[name] - 1, start=1)) is None


@pytest.mark.parametrize("form", BY_NATURE)
def test_what_counts_by_nature_is_left_alone(form: str) -> None:
    assert first(rows(form, 900, start=1)) is None


def test_values_that_vary_are_data() -> None:
    text = "".join(f"{n},John Miller,New York,{n * n % 97}\n" for n in range(100, 900))
    assert first(text) is None


def test_rows_that_skip_a_number_or_begin_anew_now_and_then_are_a_run_all_the_same() -> None:
    text, n = "", 10
    for turn in range(500):
        n += 1 if turn % 14 else -9
        text += f"{n},John Miller,New York,{1000 + turn}\n"
    assert first(text) is not None


def test_a_row_of_another_kind_ends_the_run() -> None:
    blocks = [rows(RECORDS["a tuple"], 200, start) for start in range(100, 900, 200)]
    assert first("INSERT INTO t VALUES\n".join(blocks)) is None
    assert first("".join(blocks)) is not None


def test_blank_lines_between_rows_do_not_end_it() -> None:
    assert first(rows(RECORDS["a tuple"] + "\n  \n", 400)) is not None


def test_hexadecimal_counters_count() -> None:
    assert first("".join(f"0x{n:08x} is the next address.\n" for n in range(900, 1500))) is not None


def test_the_request_may_have_asked_for_as_many() -> None:
    text = rows(RECORDS["a tuple"], 500)
    for asked in ("500 rows", "25 rows of 20 seats", "25 × 20 seats", "the numbers 1001 to 1500", "500行"):
        assert first(text, prompt=f"Write test data: {asked}.") is None
    assert first(text, prompt="Write a few rows of test data.") is not None
    assert first(rows(RECORDS["a tuple"], 700), prompt="Write 500 rows of test data.") is not None


def test_a_number_in_the_request_excuses_equal_items_for_a_while_only() -> None:
    prompt = "List 100 fruits."
    assert first(rows(STAMPS["an item that is a date"], 100, 1), prompt=prompt) is not None
    assert first(rows("{n}. Empty line\n", 500, 1), prompt="Write 500 lines.") is None


@pytest.mark.parametrize("form", BY_NATURE)
def test_two_or_three_thousand_rows_are_a_verdict_whatever_counts_in_them(form: str) -> None:
    finding = first(rows(form, 3700, start=1))
    assert finding is not None
    assert 2000 <= finding.repeats <= 3300
    call = '{"content": "' + rows(form, 3400, start=1).replace('"', '\\"').replace("\n", "\\n") + '"}'
    assert first(call, "tool:0") is None


def test_rows_of_nothing_but_their_count_are_a_verdict_in_thought_only() -> None:
    text = rows("- {n}. \n", 900)
    assert first(text) is None
    finding = first(text, "reasoning")
    assert finding is not None
    assert 250 < finding.repeats < 300


def test_numbers_that_count_on_and_on_in_a_line_of_thought_are_a_verdict() -> None:
    text = ", ".join(map(str, range(1, 1500)))
    assert first(text, "reasoning") is not None
    asked = ", ".join(map(str, range(1, 1001)))
    assert first(asked, "reasoning", prompt="Count to one thousand.") is None
    assert first(asked) is None


def test_rows_that_take_turns_are_a_unit() -> None:
    text = "".join(f"{n}. 2014-09-13 13:08{':00' * (n % 2)}\n" for n in range(1, 200))
    finding = first(text)
    assert finding is not None
    assert finding.unit.count("\n") == 1
    asked = "".join(f"| {n} | {('Knit', 'Purl')[n % 2]} the row |\n" for n in range(1, 900))
    assert first(asked, prompt="Write a pattern of 900 rows.") is None
    assert first(asked) is not None


def test_a_tool_call_is_given_more() -> None:
    text = '{"content": "' + rows(RECORDS["a tuple"], 1000).replace("\n", "\\n") + '"}'
    content, call = first(rows(RECORDS["a tuple"], 1000)), first(text, "tool:0")
    assert content is not None
    assert call is not None
    assert call.kind is Kind.DRIFT
    assert call.mass == pytest.approx(2 * content.mass, rel=0.1)


@pytest.mark.parametrize("size", [1, 3, 64, 999, 100_000])
def test_the_verdict_does_not_depend_on_the_deltas(size: int) -> None:
    text = words(200) + "\r\n" + rows(STAMPS["an item that is a date"].replace("\n", "\r\n"), 200)
    assert first(text, size=size) == first(text) is not None
    call = '{"content": "' + rows(RECORDS["a tuple"], 700).replace("\n", "\\n")
    assert first(call, "tool:0", size=size) == first(call, "tool:0") is not None


def test_rows_behind_a_line_without_end_keep_their_places() -> None:
    before = "word " * 7 + words(5000) + " 12 " + words(3001) + "\n"
    finding = first(before + rows(STAMPS["a line with its number"], 200))
    assert finding is not None
    assert finding.onset == len(before) + len("#100: 2022-08-22 12:32:22.192.1.1.1\n")


def test_no_row_is_a_verdict_where_code_is_left_out() -> None:
    rules = replace(BALANCED, content=replace(BALANCED.content, code=0.0))
    assert first("```\n" + rows(RECORDS["a tuple"], 400), rules=rules) is None
    assert first(rows(RECORDS["a row of CSV"], 400), rules=rules) is None  # it is data
    assert first(rows(RECORDS["a row of CSV"], 400)) is not None


def test_it_is_suspicious_before_it_is_certain() -> None:
    watch, text = Watch(BALANCED), rows(STAMPS["an item that is a date"], 60)
    assert all(watch.feed("content", delta) is None for delta in deltas(text, 5))
    assert watch.suspect("content")
    watch.feed("content", words(200) + "\n" + words(100))
    assert not watch.suspect("content")


def test_drift_can_be_switched_off() -> None:
    assert first(rows(RECORDS["a tuple"], 400), rules=replace(BALANCED, drift=False)) is None


CASES = "".join(
    f"   - For x = {x}, |x| = {x} and |y| = 100, so ({x}, 100) is a solution.\n" for x in range(2, 200, 2)
)


@pytest.mark.parametrize("prompt", ["", "Find all solutions of x^2 - 5y^2 = 4 with |x|,|y| < 100."])
def test_cases_with_the_same_conclusion_are_a_verdict_early(prompt: str) -> None:
    finding = first("The cases:\n" + CASES, prompt=prompt)
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert finding.mass <= 1600


def test_as_many_cases_are_let_go_as_the_request_names() -> None:
    text = "".join(f"- If n = {n}, then m = {n}, so {n} is fixed.\n" for n in range(1, 51))
    assert first(text, prompt="Show for n = 1 to 50 that n is a fixed point.") is None
    assert first(text, prompt="Is n a fixed point?") is not None


def test_a_figure_in_front_of_things_is_a_count_though_each_case_has_it() -> None:
    text = "".join(f"- With a = {n}, b = {n} of 60 tickets, so {n} is sold.\n" for n in range(1, 61))
    assert first(text, prompt="Go through the 60 tickets.") is None
    assert first(text, prompt="Go through the tickets.") is not None
