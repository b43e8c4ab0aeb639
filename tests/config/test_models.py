from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.config.models import could_meet, for_model, is_cloud, matches, override_key
from ollama_guard.config.schema import Override, Settings


@pytest.mark.parametrize(
    ("pattern", "model"),
    [
        ("qwen3*", "qwen3:8b"),
        ("qwen3*", "Qwen3-Coder:30b"),
        ("QWEN3:?b", "qwen3:8b"),
        ("qwen3:[48]b", "qwen3:4b"),
        ("*", ""),
        ("qwen3", "qwen3"),
        ("qwen3", "qwen3:latest"),
        ("qwen3:latest", "qwen3"),
        ("hf.co/me/m:*", "hf.co/me/m"),
        ("*-cloud", "gpt-oss:120b-cloud"),
    ],
)
def test_a_pattern_is_for_the_models_it_matches(pattern: str, model: str) -> None:
    assert matches(pattern, model)


@pytest.mark.parametrize(
    ("pattern", "model"),
    [("qwen3", "qwen3:8b"), ("qwen3:?b", "qwen3:14b"), ("qwen", "qwen3"), ("3*", "qwen3")],
)
def test_a_pattern_is_not_for_others(pattern: str, model: str) -> None:
    assert not matches(pattern, model)


def test_later_patterns_win_key_by_key() -> None:
    settings = Settings(
        models=(
            Override("qwen3*", {"stall.gap_sec": 1.0, "streak.warn": 2}),
            Override("*:8b", {"stall.gap_sec": 2.0}),
            Override("llama*", {"stall.gap_sec": 3.0}),
        )
    )
    there = for_model(settings, "qwen3:8b")
    assert (there.stall.gap_sec, there.streak.warn) == (2.0, 2)
    assert for_model(settings, "qwen3:4b").stall.gap_sec == 1.0
    assert for_model(settings, "mistral") == settings


def test_a_value_deep_inside_leaves_its_neighbours_alone() -> None:
    settings = Settings(models=(Override("*", {"detect.channels.tool.scale": 3.0}),))
    there = for_model(settings, "any").detect
    assert there.channels.tool.scale == 3.0
    assert there.channels.content == settings.detect.channels.content
    assert there.window == settings.detect.window


@pytest.mark.parametrize(
    ("model", "cloud"),
    [
        ("gpt-oss:120b-cloud", True),
        ("kimi:CLOUD", True),
        ("qwen3:8b", False),
        ("cloudy:8b", False),
        ("my-cloud:8b", False),
    ],
)
def test_cloud_models_are_known_by_their_tag(model: str, cloud: bool) -> None:
    assert is_cloud(model) is cloud


def test_a_setting_of_some_models_goes_by_the_name_it_has_in_a_file() -> None:
    assert override_key('a"b*', "stall.gap_sec") == 'models."a\\"b*".stall.gap_sec'
    assert override_key("a", "") == 'models."a"'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("*", ""),
        ("qwen3*", "*:8b"),
        ("qwen3*", "qwen3:8b"),
        ("qwen?:*", "qwen[34]:8b"),
        ("a*b*c", "ab*"),
        ("[!]a]", "b"),
        ("[", "["),
        ("QWEN*", "qwen3"),
    ],
)
def test_patterns_that_one_name_can_match_can_meet(one: str, other: str) -> None:
    assert could_meet(one, other)
    assert could_meet(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("qwen3*", "llama*"),
        ("*:8b", "*:4b"),
        ("qwen?", "qwen"),
        ("qwen[34]", "qwen5"),
        ("", "a"),
        ("[!]a]", "a"),
    ],
)
def test_patterns_that_no_name_can_match_both_of_cannot(one: str, other: str) -> None:
    assert not could_meet(one, other)
    assert not could_meet(other, one)


@st.composite
def name_and_two_patterns(draw: st.DrawFn) -> tuple[str, str, str]:
    name = draw(st.text(alphabet="ab:-", max_size=6))

    def pattern() -> str:
        ways = [["%s", "?", "*", "[%s]", "[!c]", "[]%s]", "*%s", "%s**", "[a-b:!-]"][i] for i in draw(picks)]
        return "".join(way.replace("%s", char) for way, char in zip(ways, name, strict=True))

    picks = st.lists(st.integers(0, 8), min_size=len(name), max_size=len(name))
    return name, pattern(), pattern()


@given(name_and_two_patterns())
def test_two_patterns_that_a_name_matches_always_meet(given_: tuple[str, str, str]) -> None:
    name, one, other = given_
    assert fnmatchcase(name, one)
    assert fnmatchcase(name, other)
    assert could_meet(one, other)


def test_long_patterns_are_no_trouble() -> None:
    assert could_meet("a*" * 500, "*a" * 500)
