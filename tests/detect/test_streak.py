"""Streaks of tool calls: what is one, what is not, and what looking costs."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.streak import Streak, StreakRules, canonical, find
from ollama_guard.history import Call, Result, Round, Said

RULES = StreakRules()


def step(
    name: str = "read", arguments: object = '{"path":"a"}', result: str = "same", **more: object
) -> Round:
    return Round((Call(name, arguments, "c1"),), (Result(result, id="c1", **more),))  # type: ignore[arg-type]


def look(*newest_last: Round | Said, rules: StreakRules = RULES) -> Streak | None:
    return find(reversed(newest_last), rules)


def test_three_equal_steps_warn() -> None:
    found = look(Said("read a"), *[step()] * 3)
    assert found is not None
    assert (found.count, found.warns, found.blocks) == (3, True, False)


def test_the_fifth_call_is_blocked() -> None:
    found = look(*[step()] * 4)
    assert found is not None
    assert found.blocks
    assert found.goes_on(Call("read", {"path": "a"}))
    assert not found.goes_on(Call("read", {"path": "b"}))


def test_two_equal_steps_are_nothing() -> None:
    assert look(*[step()] * 2) is None


@pytest.mark.parametrize(
    "last",
    [
        step(arguments='{"path":"b"}'),
        step(result="another"),
        step(name="write"),
        step(error=True),
        step(images=("iVBOR",)),
    ],
)
def test_any_difference_resets_it(last: Round) -> None:
    assert look(*[step()] * 3, last) is None


def test_polling_is_no_streak() -> None:
    assert look(*[step("status", "{}", f"{percent} %") for percent in range(20)]) is None


def test_paging_is_no_streak() -> None:
    assert look(*[step("list", {"page": page}) for page in range(20)]) is None


def test_a_new_message_of_the_user_begins_anew() -> None:
    assert look(*[step()] * 2, Said("again, please"), *[step()] * 2) is None


def test_parallel_calls_are_one_step() -> None:
    batch = Round(
        tuple(Call("read", "{}", str(n)) for n in range(9)), tuple(Result("x", id=str(n)) for n in range(9))
    )
    assert look(batch, batch) is None
    found = look(batch, batch, batch)
    assert found is not None
    assert found.count == 3


def test_a_call_without_a_result_is_no_step() -> None:
    assert look(*[step()] * 3, Round((Call("read", "{}"),), ())) is None


def test_ignored_tools_and_ignored_errors_are_no_streak() -> None:
    assert look(*[step("poll")] * 9, rules=StreakRules(ignored_tools=frozenset({"poll"}))) is None
    assert look(*[step(error=True)] * 9, rules=StreakRules(ignore_errors=True)) is None
    assert look(*[step()] * 9, rules=StreakRules(enabled=False)) is None


@pytest.mark.parametrize("size", [2, 3, 4])
def test_alternating_calls_are_a_cycle(size: int) -> None:
    steps = [step("read", {"path": str(n)}) for n in range(size)]
    found = look(*steps * 3)
    assert found is not None
    assert (len(found.calls), found.count) == (size, 3)
    assert found.goes_on(steps[0].calls[0])
    assert not found.goes_on(steps[1].calls[0])


def test_a_cycle_seen_from_its_middle_expects_the_right_call() -> None:
    a, b = step("read", {"path": "a"}), step("read", {"path": "b"})
    found = look(a, *[b, a] * 4)
    assert found is not None
    assert found.goes_on(b.calls[0])


def test_a_cycle_of_five_is_not_seen() -> None:
    assert look(*[step("read", {"path": str(n)}) for n in range(5)] * 6) is None


def test_cycles_can_be_switched_off() -> None:
    two = [step("read", {"path": "a"}), step("read", {"path": "b"})]
    assert look(*two * 6, rules=StreakRules(cycles=False)) is None


def test_volatile_fields_do_not_make_a_result_another() -> None:
    steps = [step(result=json.dumps({"ok": False, "at": n, "log": [{"took": n}]})) for n in range(4)]
    assert look(*steps) is None
    assert look(*steps, rules=StreakRules(volatile=frozenset({"at", "took"}))) is not None
    texts = [step(result=f"failed, took: {n}ms") for n in range(4)]
    assert look(*texts, rules=StreakRules(volatile=frozenset({"took"}))) is not None


def test_the_walk_goes_no_further_than_needed() -> None:
    seen = 0

    def history() -> Iterator[Round | Said]:
        nonlocal seen
        for number in range(10_000):
            seen += 1
            yield step(arguments={"path": str(number)})

    assert find(history(), RULES) is None
    assert seen <= 2 * RULES.max_cycle


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1,"b":{"c":2,"d":3}}', '{ "b": {"d":3, "c":2}, "a":1 }'),
        ('{"n":1}', '{"n":1.0}'),
        ('{"n":1000}', '{"n":1e3}'),
        ('{"n":1}', {"n": 1}),
        ("", "{}"),
        ("not json", "not json"),
    ],
)
def test_spellings_of_the_same_arguments_are_equal(one: object, other: object) -> None:
    assert canonical(Call("f", one)) == canonical(Call("f", other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"n":1}', '{"n":"1"}'),
        ('{"n":1}', '{"n":true}'),
        ("[1,2]", "[2,1]"),
        ('{"n":null}', "{}"),
        ("a b", "a  b"),
    ],
)
def test_different_arguments_stay_different(one: str, other: str) -> None:
    assert canonical(Call("f", one)) != canonical(Call("f", other))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=5), st.randoms(use_true_random=False))
def test_key_order_and_white_space_never_matter(arguments: dict[str, object], random: object) -> None:
    items = list(arguments.items())
    random.shuffle(items)  # type: ignore[attr-defined]
    shuffled = json.dumps(dict(items), indent=2)
    assert canonical(Call("f", json.dumps(arguments))) == canonical(Call("f", shuffled))


def test_arguments_of_any_depth_are_spelled() -> None:
    deep = '{"a":' * 5000 + "1" + "}" * 5000
    assert canonical(Call("f", deep)) == canonical(Call("f", deep))
