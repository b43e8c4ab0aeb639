import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.regions import Region
from ollama_guard.detect.rules import BALANCED, STRICT, WatchRules
from ollama_guard.detect.shape import Shape
from ollama_guard.detect.suspicion import begins, earliest
from ollama_guard.detect.watch import Watch

PERIODS = st.integers(1, 5000)
VERDICTS = st.integers(2, 20_000)
KINDS = st.sampled_from(Shape)
REGIONS = st.sampled_from(Region)


@given(PERIODS, VERDICTS, KINDS, REGIONS)
def test_suspicion_comes_before_the_verdict(period: int, verdict: int, kind: Shape, region: Region) -> None:
    assert 0 < begins(period, verdict, kind, region) <= max(1, verdict // 2)


@given(PERIODS, VERDICTS, VERDICTS, KINDS, REGIONS)
def test_a_later_verdict_makes_no_suspicion_earlier(
    period: int, one: int, two: int, kind: Shape, region: Region
) -> None:
    assert begins(period, min(one, two), kind, region) <= begins(period, max(one, two), kind, region)


@given(PERIODS, VERDICTS, KINDS, REGIONS)
def test_nothing_is_suspicious_sooner_than_it_is_looked_at(
    period: int, verdict: int, kind: Shape, region: Region
) -> None:
    assert earliest(period, verdict) <= begins(period, verdict, kind, region)


def test_a_verdict_that_is_far_away_is_not_waited_for_from_the_first_words_on() -> None:
    assert begins(20, 8000) >= 8000 // 8
    assert begins(10, 8000, Shape.TEXT, Region.CODE) >= 8000 // 16


@pytest.mark.parametrize("period", [150, 500, 1200])
def test_a_block_of_code_is_suspicious_when_it_has_come_back_whole(period: int) -> None:
    copies = 3 if period <= 1000 else 2
    assert begins(period, copies * period, Shape.TEXT, Region.CODE) == period


def deltas_held(text: str, rules: WatchRules = BALANCED) -> int:
    watch, held = Watch(rules), 0
    for at in range(0, len(text), 4):
        assert watch.feed("content", text[at : at + 4]) is None
        held += watch.suspect("content")
    return held


def test_a_block_of_code_that_comes_once_more_in_part_is_not_held_back() -> None:
    one = "".join(
        f'{{"id": "{n:x}", "kind": "vessel", "port": {n * n}, "flag": "none"}},\n' for n in range(40)
    )
    assert deltas_held(f"```json\n{one}{one[: len(one) * 9 // 10]}\n```\n\nThese are all.\n") == 0


def test_short_words_said_again_are_held_back_by_their_third_copy() -> None:
    said = "It was late. " + "And then it rained. " * 4
    assert deltas_held(said[: 13 + 20 + 28]) == 0
    assert deltas_held(said) >= 3


def test_what_was_called_out_thrice_is_not_held_back() -> None:
    assert deltas_held("He cried: no, no, no! Never, never, never! And he left, and left, and left.") == 0


@pytest.mark.parametrize("rules", [BALANCED, STRICT])
def test_a_verdict_does_not_depend_on_who_asks_for_suspicion(rules: WatchRules) -> None:
    text = "They met at noon. " + "The sky is blue because it is blue. " * 20
    asking, silent = Watch(rules), Watch(rules)
    for at in range(0, len(text), 3):
        found = asking.feed("content", text[at : at + 3])
        asking.suspect("content")
        assert found == silent.feed("content", text[at : at + 3])
        if found is not None:
            return
    raise AssertionError("no verdict")
