"""The two texts of a chunk."""

from typing import Any

import pytest

from ollama_guard.wire.textparts import reasoning_key, write_texts


@pytest.mark.parametrize(
    ("box", "thought", "answer", "changed", "expected"),
    [
        ({"content": "a"}, "", "a", False, {"content": "a"}),
        ({"content": "a"}, "", "b", True, {"content": "b"}),
        ({"content": "a"}, "", "", True, {"content": ""}),
        ({"content": None}, "", "", False, {"content": None}),
        ({}, "", "", False, {}),
        ({}, "t", "", True, {"reasoning": "t"}),
        ({"thinking": "t"}, "t", "", False, {"thinking": "t"}),
        ({"thinking": "t"}, "u", "", True, {"thinking": "u"}),
        ({"thinking": "t", "x": 1}, "", "", True, {"x": 1}),
        (
            {"reasoning": "t", "reasoning_content": "t"},
            "u",
            "",
            True,
            {"reasoning": "u", "reasoning_content": "u"},
        ),
    ],
)
def test_a_box_is_made_to_say_this_and_nothing_else(
    box: dict[str, Any], thought: str, answer: str, changed: bool, expected: dict[str, Any]
) -> None:
    assert write_texts(box, "content", "reasoning", thought, answer) is changed
    assert box == expected


def test_the_name_of_a_thought_is_found() -> None:
    assert reasoning_key({"thinking": "", "reasoning_content": "x"}) == "reasoning_content"
    assert reasoning_key({"content": "x"}) is None
