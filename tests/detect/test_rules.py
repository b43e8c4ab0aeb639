from dataclasses import replace

import pytest

from ollama_guard.detect.rules import BALANCED, STRICT, Band, OwnTable, preset, with_spans


def test_presets_are_found_by_name() -> None:
    assert preset("balanced") is BALANCED
    assert preset("strict") is STRICT


def test_an_unknown_preset_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ValueError, match=r"'bold'.*balanced, strict"):
        preset("bold")


def test_spans_are_set_for_each_channel_apart() -> None:
    rules = with_spans(BALANCED, repeat_span_min=50)
    assert rules.reasoning.span_min == 50
    assert rules.content == BALANCED.content
    assert with_spans(BALANCED, content_repeat_span_min=70).content.span_min == 70
    assert with_spans(BALANCED) == BALANCED


@pytest.mark.parametrize("value", [1, 0, -5])
def test_a_span_that_cannot_repeat_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="at least 2"):
        with_spans(BALANCED, repeat_span_min=value)


def test_channels_have_their_own_rules() -> None:
    assert BALANCED.channel("reasoning") is BALANCED.reasoning
    assert BALANCED.channel("content") is BALANCED.content
    assert BALANCED.channel("tool:7") is BALANCED.tool


def test_the_window_holds_twice_the_longest_period() -> None:
    assert BALANCED.window >= 25_000
    assert BALANCED.window > 2 * BALANCED.max_period


def test_an_own_table_is_one_like_any_other_and_hashed_once() -> None:
    rows = tuple(Band(length, length % 7, 0) for length in range(1, 5000))
    table = OwnTable(rows)
    assert table == rows
    assert hash(table) == hash(rows)
    assert len({replace(BALANCED.content, text=table), replace(BALANCED.content, text=rows)}) == 1
