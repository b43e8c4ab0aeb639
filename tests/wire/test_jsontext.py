"""JSON on the wire: tolerant in reading, safe for line readers in writing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.wire import jsontext

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_what_is_written_is_read_back_by_any_reader(value: object) -> None:
    text = jsontext.dumps(value)
    assert json.loads(text) == value
    assert jsontext.loads(text) == value


@given(values)
def test_no_line_reader_tears_what_is_written(value: object) -> None:
    assert len(jsontext.dumps(value).decode().splitlines()) == 1


def test_other_characters_are_written_as_they_are() -> None:
    assert (
        jsontext.dumps({"b": "é\u2028\u2029\u0085<", "a": 1})
        == '{"b":"é\\u2028\\u2029\\u0085<","a":1}'.encode()
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"   ",
        b"{",
        b"nope",
        b"NaN",
        b"[NaN]",
        b'{"a":Infinity}',
        b"[1e999]",
        b'{"a":1} x',
        b"[" * 200_000,
    ],
)
def test_what_is_not_json_is_none(data: bytes) -> None:
    assert jsontext.loads(data) is None


def test_a_lone_surrogate_is_read_and_written() -> None:
    value = jsontext.loads(b'{"a":"\\ud83d"}')
    assert value == {"a": "\ud83d"}
    assert jsontext.dumps(value) == b'{"a":"\\ud83d"}'


def test_text_to_be_looked_at_has_no_needless_escapes() -> None:
    assert jsontext.text({"a": "é\u2028\u0085"}) == '{"a":"é\u2028\u0085"}'
    assert jsontext.text({"a": "\ud83d"}) == '{"a":"\\ud83d"}'


def test_a_number_out_of_range_is_refused_in_the_slow_reading_too() -> None:
    assert jsontext.loads(b'{"a":"\\ud83d","b":1.5}') == {"a": "\ud83d", "b": 1.5}
    assert jsontext.loads(b'{"a":"\\ud83d","b":1e999}') is None


def test_broken_utf8_is_read_as_go_reads_it() -> None:
    assert jsontext.loads(b'{"a":"x\xff"}') == {"a": "x\ufffd"}


def test_key_order_and_kinds_of_numbers_are_kept() -> None:
    text = b'{"z":1.0,"a":12345678901234567890123,"m":-0.5}'
    assert jsontext.dumps(jsontext.loads(text)) == text
