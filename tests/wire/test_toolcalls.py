"""Which call is which."""

from ollama_guard.events import ToolDelta
from ollama_guard.wire.toolcalls import Indexes, argument_text, complete, pair

A = ToolDelta(0, "a", "{}", whole=True)
B = ToolDelta(1, "b", "{}", whole=True)


def test_pieces_keep_an_index_and_whole_calls_take_new_ones() -> None:
    indexes = Indexes()
    indexes.given(0, 2)
    assert indexes.used(0)
    assert not indexes.used(1)
    indexes.begin_attempt()
    assert indexes.place(ToolDelta(0, "f", "")) == 3
    assert indexes.place(ToolDelta(0, None, "{}")) == 3
    assert indexes.place(A) == 4
    assert indexes.place(A) == 5
    assert indexes.place(ToolDelta(0, "f", "", choice=1)) == 0


def test_pieces_of_a_call_that_was_begun_as_it_came_keep_its_index() -> None:
    indexes = Indexes()
    indexes.given(0, 0)
    assert indexes.place(ToolDelta(0, None, "x")) == 0


def test_calls_pair_by_order_unless_some_were_taken_out() -> None:
    changed = ToolDelta(0, "a", '{"x":1}', whole=True)
    assert pair([A, B], [changed, B]) == [changed, B]
    assert pair([A, B], [B]) == [None, B]
    assert pair([A, A], [A]) == [A, None]
    assert pair([A, B], []) == [None, None]
    assert pair([], [A]) == []


def test_arguments_are_text_to_be_looked_at() -> None:
    assert argument_text('{"a": 1}') == '{"a": 1}'
    assert argument_text({"a": "\u2028é"}) == '{"a":"\u2028é"}'
    assert argument_text(None) == argument_text(3) == ""


def test_arguments_are_complete_when_they_are_an_object() -> None:
    assert complete('{"a":1} ')
    assert not any(map(complete, ["", "{", '{"a":"}', "[]", '"}"', "}"]))
