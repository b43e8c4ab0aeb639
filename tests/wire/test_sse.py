"""Writing events."""

from ollama_guard.wire import sse
from ollama_guard.wire.frame import Frame, Framing
from ollama_guard.wire.framing import Framer


def test_an_event_is_read_back() -> None:
    for data, name in ((b"{}", ""), (b"{}", "message_stop"), (b"a\nb", "x")):
        assert [(f.data, f.event) for f in Framer(Framing.SSE).feed(sse.event(data, name))] == [(data, name)]


def test_no_event_line_without_a_name() -> None:
    assert sse.event(b"{}") == b"data: {}\n\n"


def test_the_comment_is_one_line_that_continue_does_not_take_for_an_end() -> None:
    assert Framer(Framing.SSE).feed(sse.COMMENT) == [Frame(sse.COMMENT)]
    assert not sse.COMMENT.startswith(b": ping")
    assert sse.COMMENT.count(b"\n") == 1
