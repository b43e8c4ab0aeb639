import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.record.escape import LONGEST, escape, hidden, redact, safe

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.text(st.characters(codec=None), max_size=300))
def test_what_is_escaped_is_one_printable_line(text: str) -> None:
    assert escape(text).isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 中文 ✓", "plain 中文 ✓"),
        ("a\nb", "a\\nb"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\x9b31m", "\\x9b31m"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_spelled_out(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_a_long_text_is_cut_and_its_length_told() -> None:
    shown = escape("x" * 100_000)
    assert len(shown) < LONGEST + 40
    assert "100000 characters" in shown


@given(ANYTHING)
def test_any_value_becomes_json(value: Any) -> None:
    json.dumps(safe(value), allow_nan=False)


def test_depth_and_breadth_are_bounded() -> None:
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    assert len(json.dumps(safe(deep))) < 3000
    assert len(safe(list(range(10_000)))) == 100


def test_pieces_of_text_are_told_by_length_and_hash_and_equal_ones_look_equal() -> None:
    shown = redact({"unit": "Wait, let me think. ", "kind": "periodic"}, content=False)
    assert shown["kind"] == "periodic"
    assert shown["unit"] == hidden("Wait, let me think. ")
    assert "20 characters" in shown["unit"]
    assert "think" not in str(shown)


def test_pieces_of_text_are_shown_when_asked_for_and_secrets_never() -> None:
    row = {"unit": "abc", "Authorization": "Bearer s3cret", "nested": {"x-api-key": "s3cret", "prompt": "p"}}
    shown = redact(row, content=True)
    assert shown["unit"] == "abc"
    assert shown["nested"]["prompt"] == "p"
    assert "s3cret" not in str(shown)
    assert "s3cret" not in str(redact(row, content=False))


def test_what_is_private_and_no_text_is_hidden_whole() -> None:
    assert redact({"messages": [{"content": "hello"}]}, content=False) == {"messages": "[hidden]"}
