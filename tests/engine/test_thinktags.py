"""Tags in the answer: what is thought, what is answered, in every chunking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.engine.thinktags import TAGS, ThinkTags
from ollama_guard.events import Channel


def split(text: str, size: int = 1) -> tuple[str, str, int]:
    """Thought and answered text, and where the answer begins."""
    tags = ThinkTags()
    pieces = [piece for at in range(0, len(text), size) for piece in tags.split(text[at : at + size])]
    pieces += tags.rest()
    thought = "".join(text for channel, text in pieces if channel is Channel.REASONING)
    answered = "".join(text for channel, text in pieces if channel is Channel.CONTENT)
    return thought, answered, tags.answer_at


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize(("opening", "closing"), TAGS.items())
def test_a_block_that_opens_the_answer_is_thought(opening: str, closing: str, size: int) -> None:
    text = f"\n{opening}Hm.{closing}\n\nBlue."
    assert split(text, size) == ("Hm.", "\n\nBlue.", len(text) - len("\n\nBlue."))


@pytest.mark.parametrize(
    "text", ["Blue.", "Use <think> in HTML.", "< 5", "  \n Blue", "<th>cell</th>", "a</think>b"]
)
def test_everything_else_is_answer(text: str) -> None:
    assert split(text) == ("", text, 0)


def test_an_open_block_stays_open() -> None:
    tags = ThinkTags()
    tags.split("<think>Hm, </thi")
    assert tags.inside == "</think>"
    assert tags.rest() == [(Channel.REASONING, "</thi")]


def test_two_blocks_in_a_row_are_both_thought() -> None:
    assert split("<think>a</think> <think>b</think>c")[:2] == ("ab", "c")


@given(st.text("<>/thinkab \n", max_size=60), st.integers(1, 9))
def test_the_pieces_do_not_depend_on_the_chunking(text: str, size: int) -> None:
    assert split(text, size) == split(text, 1000)
