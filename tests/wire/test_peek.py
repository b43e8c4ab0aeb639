"""Decoded JSON of which nothing is certain."""

import pytest

from ollama_guard.wire.peek import error_message, number, part, string


def test_a_wrong_type_reads_as_nothing() -> None:
    payload = {"part": [1], "number": "3", "string": 3, "flag": True}
    assert part(payload, "part") == {}
    assert number(payload, "number") is None
    assert number(payload, "flag") is None
    assert string(payload, "string") == ""


def test_a_right_type_is_given() -> None:
    payload = {"part": {"a": 1}, "number": 3, "string": "x"}
    assert (part(payload, "part"), number(payload, "number"), string(payload, "string")) == ({"a": 1}, 3, "x")


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"error": "out of memory"}, "out of memory"),
        ({"error": {"type": "api_error", "message": "busy"}}, "busy"),
        ({"error": {"message": None}}, ""),
        ({"error": None}, ""),
        ({}, ""),
    ],
)
def test_both_forms_of_an_error_are_read(payload: dict[str, object], message: str) -> None:
    assert error_message(payload) == message
