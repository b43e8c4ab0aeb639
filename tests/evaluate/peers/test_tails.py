from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.evaluate.peers.tails import Tails, longest_period

few = st.text("ab", max_size=80)


def masses(text: str, most: int) -> dict[int, int]:
    """By definition: how many characters at the end equal the one a period before."""
    found = {}
    for period in range(1, min(most, len(text) - 1) + 1):
        mass = 0
        while mass + period < len(text) and text[-1 - mass] == text[-1 - mass - period]:
            mass += 1
        if mass:
            found[period] = mass
    return found


@given(few, st.integers(1, 30))
def test_the_reversed_z_function_finds_what_repeats_at_the_end(text: str, most: int) -> None:
    assert {tail.period: tail.mass for tail in longest_period(text, most)} == masses(text, most)


@given(
    few, st.lists(st.integers(1, 7), max_size=40), st.integers(2, 6), st.integers(4, 20), st.integers(0, 3)
)
def test_following_runs_finds_the_first_that_is_long_enough(
    text: str, sizes: list[int], anchor: int, reach: int, factor: int
) -> None:
    def need(period: int) -> int:
        return max(anchor, factor * period)

    expected = next(
        (
            at
            for at in range(1, len(text) + 1)
            if any(mass >= need(period) for period, mass in masses(text[:at], reach).items())
        ),
        None,
    )
    tails, begin, hit = Tails(need, anchor=anchor, reach=reach), 0, None
    for size in [*sizes, len(text)]:
        hit = tails.feed(text[begin : begin + size])
        begin += size
        if hit is not None:
            assert tails.unit(hit) == text[hit.at - hit.period : hit.at]
            break
    assert (hit.at if hit else None) == expected


def test_nothing_is_joined_across_a_reset() -> None:
    tails = Tails(lambda period: 3 * period, anchor=3, reach=10)
    assert tails.feed("abcabc") is None
    tails.reset()
    assert tails.feed("abcabc") is None
    hit = tails.feed("abcabc")
    assert hit is not None
    assert hit.at == 18


def test_memory_stays_bounded() -> None:
    tails = Tails(lambda _: 1e9, anchor=4, reach=50)
    for number in range(3000):
        tails.feed(f"{number} ")
    assert len(tails._buffer) < 2000
