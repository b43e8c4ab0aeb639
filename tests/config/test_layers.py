"""A threshold that is said in several places, in several ways."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.app.policies import policy_for
from ollama_guard.config.catalogue import value_of
from ollama_guard.config.layers import PLACES, effect
from ollama_guard.config.load import ConfigError, Loaded, in_force, load
from ollama_guard.config.models import for_model
from ollama_guard.config.schema import Override, Settings
from ollama_guard.detect.rules import BALANCED, ChannelRules


def loaded(
    tmp_path: Path, text: str = "", environ: Mapping[str, str] | None = None, **flags: object
) -> Loaded:
    (path := tmp_path / "c.toml").write_text(text)
    return load(file=path, environ=environ or {}, flags={k.replace("__", "."): v for k, v in flags.items()})


def rules(found: Loaded, channel: str = "content", model: str = "qwen3:8b") -> ChannelRules:
    return policy_for(found.settings, model).rules.channel(channel)


def repeats(found: Loaded, channel: str = "content", model: str = "qwen3:8b") -> float:
    """What units of any length need, the first copy included."""
    return rules(found, channel, model).text[-1].copies + 1


@pytest.mark.parametrize("general", ['table = "*:10"', 'policy = "a:b"', "repeat_span_min = 30"])
def test_a_model_may_be_told_its_threshold_in_another_way_than_the_rest(tmp_path: Path, general: str) -> None:
    found = loaded(tmp_path, f'[detect]\n{general}\n[models."qwen3*".detect]\nrepeats = 20\n')
    assert repeats(found) == repeats(found, "reasoning") == 20
    assert rules(found, "reasoning").span_min is None
    assert repeats(found, model="llama3") != 20


def test_of_two_patterns_the_later_one_says_how(tmp_path: Path) -> None:
    text = '[models."qwen3*".detect]\ntable = "*:6"\n[models."qwen3:8b".detect]\nrepeats = 20\n'
    found = loaded(tmp_path, text)
    assert (repeats(found), repeats(found, model="qwen3:4b")) == (20, 6)


def test_what_a_model_is_told_wins_over_what_a_channel_is_told_for_all(tmp_path: Path) -> None:
    general = "[detect.channels.content]\nrepeats = 4\nscale = 3.0\n[detect.channels.tool]\nspan_min = 30\n"
    found = loaded(tmp_path, general + '[models."qwen3*".detect]\ntable = "*:6"\nscale = 1.0\n')
    assert repeats(found) == repeats(found, "tool:0") == 6
    assert rules(found).scale == 1.0
    assert rules(found, "tool:0").span_min is None
    assert (repeats(found, model="llama3"), rules(found, model="llama3").scale) == (4, 3.0)


def test_what_a_model_is_told_for_a_channel_wins_over_all(tmp_path: Path) -> None:
    own = '[models."qwen3*".detect]\ntable = "*:6"\n[models."qwen3*".detect.channels.content]\nrepeats = 9\n'
    found = loaded(tmp_path, "[detect.channels.content]\nspan_min = 50\n" + own)
    assert (repeats(found), repeats(found, "reasoning")) == (9, 6)
    assert rules(found).span_min is None


def test_a_models_smallest_run_wins_over_a_table_in_its_channel_alone(tmp_path: Path) -> None:
    own = '[models."qwen3*".detect]\nrepeat_span_min = 30\nrepeat_core_min = 2\n'
    found = loaded(tmp_path, '[detect]\ntable = "*:6"\n[detect.channels.reasoning]\ncore_min = 9\n' + own)
    assert (rules(found, "reasoning").span_min, rules(found, "reasoning").core_min) == (30, 2)
    assert rules(found, "reasoning").text == BALANCED.reasoning.text
    assert repeats(found) == 6


def test_auto_undoes_its_own_key_and_no_other(tmp_path: Path) -> None:
    general = '[detect]\ntable = "*:6"\n[detect.channels.content]\nrepeats = 4\n'
    found = loaded(tmp_path, general + '[models."qwen3*".detect]\ntable = "auto"\n')
    assert repeats(found) == 4
    assert rules(found, "reasoning").text == BALANCED.reasoning.text
    found = loaded(tmp_path, general + '[models."qwen3*".detect]\nrepeats = "auto"\n')
    assert repeats(found, "reasoning") == 6


def test_a_later_source_says_how_too(tmp_path: Path) -> None:
    text = '[detect]\ntable = "*:6"\n[detect.channels.tool]\nspan_min = 30\n'
    environ = {"OLLAMA_GUARD_DETECT__REPEATS": "8", "OLLAMA_GUARD_DETECT__CHANNELS__TOOL__REPEATS": "9"}
    found = loaded(tmp_path, text, environ)
    assert (repeats(found), repeats(found, "tool:0")) == (8, 9)
    assert found.origins["detect.table"].kind == "default"
    found = loaded(tmp_path, text, environ, detect__table="*:7")
    assert repeats(found) == 7
    assert value_of(found.settings, "detect.repeats") is None


def test_a_smallest_run_on_the_command_line_wins_over_a_table_in_the_file(tmp_path: Path) -> None:
    found = loaded(tmp_path, '[detect]\ntable = "*:6"\n', detect__repeat_span_min="30")
    assert rules(found, "reasoning").span_min == 30
    assert repeats(found) == 6
    assert found.origins["detect.channels.reasoning.span_min"].kind == "flag"
    found = loaded(tmp_path, "[detect]\nrepeat_span_min = 30\n", detect__table="*:6")
    assert rules(found, "reasoning").span_min is None
    own = '[detect]\ntable = "*:6"\n[detect.channels.reasoning]\nrepeats = 5\n'
    assert repeats(loaded(tmp_path, own, detect__repeat_span_min="30"), "reasoning") == 5


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (
            {"detect__repeats": "4", "detect__table": "*:6"},
            "detect.repeats = 4 (flag --set): detect.table is set too",
        ),
        (
            {"models__q*__detect__repeats": "4", "models__q*__detect__table": "*:6"},
            'models."q*".detect.repeats = 4 (flag --set): models."q*".detect.table is set too',
        ),
    ],
)
def test_two_ways_in_one_place_are_an_error_of_what_was_said_there(
    tmp_path: Path, flags: dict[str, str], said: str
) -> None:
    with pytest.raises(ConfigError) as error:
        loaded(tmp_path, **flags)
    [problem] = error.value.problems
    assert problem == f"{said}, and says something else; keep one of them"


def test_two_places_on_the_command_line_are_none(tmp_path: Path) -> None:
    flags = {"detect__repeats": "4", "models__q*__detect__table": "*:6", "models__x*__detect__repeats": "5"}
    found = loaded(tmp_path, **flags)
    assert (repeats(found), repeats(found, model="x"), repeats(found, model="y")) == (6, 5, 4)


def test_an_empty_table_says_nothing(tmp_path: Path) -> None:
    assert repeats(loaded(tmp_path, '[detect]\ntable = ""\nrepeats = 4\n')) == 4


def test_what_a_model_does_without_comes_from_nowhere(tmp_path: Path) -> None:
    text = (
        '[detect]\ntable = "*:6"\n[models."qwen3*".detect]\nrepeats = 4\ncontent_repeat_span_min = "auto"\n'
    )
    there = in_force(loaded(tmp_path, text), "qwen3:8b")
    assert value_of(there.settings, "detect.table") is None
    assert there.origins["detect.table"].kind == "default"
    assert there.origins["detect.repeats"].where.endswith("line 4")


KEYS = sorted({key for keys in PLACES.values() for key in keys})


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), st.none() | st.just(5), max_size=4), max_size=4))
def test_the_latest_place_that_says_a_key_has_it_unless_a_later_one_says_otherwise(
    places: list[dict[str, int | None]],
) -> None:
    there = for_model(Settings(models=tuple(Override("*", values) for values in places)), "m")
    for key in KEYS:
        changes = [effect(values)[key] for values in places if key in effect(values)]
        assert value_of(there, key) == (changes[-1] if changes else None)
    for values in places[-1:]:
        assert all(value_of(there, key) == value for key, value in values.items())
