from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.config.lines import Lines

FILE = Path("c.toml")

TEXT = """\
[stall]
gap_sec = 1
[detect.channels . "tool"]  # a comment
scale = 2
[[intervene.ladder]]
name = "a"
[[intervene.ladder]]
name = "b"
[models."qwen2.5*"]
stall.gap_sec = 3
'streak'.warn = 2
[models.x]
detect = { window = 30000 }
intervene.ladder = [
  { name = "c" },
]
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("stall",), 1),
        (("stall", "gap_sec"), 2),
        (("detect", "channels", "tool"), 3),
        (("detect", "channels", "tool", "scale"), 4),
        (("intervene", "ladder"), 5),
        (("intervene", "ladder", "1"), 5),
        (("intervene", "ladder", "2", "name"), 8),
        (("detect",), 3),
        (("models",), 9),
        (("models", "qwen2.5*", "stall", "gap_sec"), 10),
        (("models", "qwen2.5*", "streak", "warn"), 11),
        (("models", "x", "detect", "window"), 13),
        (("models", "x", "intervene", "ladder", "1", "name"), 14),
    ],
)
def test_a_value_is_found_in_its_line_or_in_that_of_the_entry_it_is_part_of(
    path: tuple[str, ...], line: int
) -> None:
    assert Lines(FILE, TEXT).where(*path) == f"c.toml, line {line}"


def test_no_line_is_named_where_two_could_be_meant_or_none() -> None:
    assert Lines(FILE, 'a = """\na = 1\n"""').where("a") == "c.toml"
    assert Lines(FILE, "a = 1").where("b") == "c.toml"


@given(st.text(alphabet="[]{}\"'.=#\\ \n ab1", max_size=80))
def test_any_text_has_lines(text: str) -> None:
    assert Lines(FILE, text).where("a", "b").startswith("c.toml")
