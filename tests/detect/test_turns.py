"""Where something begins and ends by turns."""

from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.turns import Turns

PLACES = st.lists(st.integers(0, 60), unique=True, max_size=12).map(sorted)


def made(places: list[int]) -> Turns:
    turns = Turns()
    for number, place in enumerate(places):
        turns.turn(place, on=number % 2 == 0)
    return turns


@given(PLACES, st.integers(0, 70))
def test_a_place_is_inside_after_an_odd_number_of_turns(places: list[int], place: int) -> None:
    turns = made(places)
    before = [one for one in places if one <= place]
    assert turns.inside(place) is (len(before) % 2 == 1)
    assert turns.latest(place) == (before[-1] if before else None)


@given(PLACES, st.integers(0, 60), st.integers(1, 20))
def test_a_stretch_moves_where_a_turn_stands_in_it(places: list[int], begin: int, size: int) -> None:
    moved = made(places).moved(begin, begin + size)
    assert moved is any(begin <= one < begin + size for one in places)


@given(PLACES, st.integers(0, 60), st.integers(0, 20))
def test_what_is_forgotten_was_before(places: list[int], keep: int, more: int) -> None:
    turns, whole = made(places), made(places)
    turns.forget(keep)
    assert turns.inside(keep + more) is whole.inside(keep + more)
    assert turns.latest(keep + more) == whole.latest(keep + more)
