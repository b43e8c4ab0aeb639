"""Framing: any split of the bytes gives the same frames, and the frames give the bytes back."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.wire.frame import Frame, Framing
from ollama_guard.wire.framing import Framer


def cut(data: bytes, at: list[int]) -> list[bytes]:
    points = sorted({min(point, len(data)) for point in at})
    return [data[a:b] for a, b in zip([0, *points], [*points, len(data)], strict=True)]


def frames(framing: Framing, pieces: list[bytes], limit: int = 1 << 20) -> list[Frame]:
    framer = Framer(framing, limit=limit)
    out = [frame for piece in pieces for frame in framer.feed(piece)]
    return out + framer.close()


def sse(data: bytes, limit: int = 1 << 20) -> list[Frame]:
    return frames(Framing.SSE, [data], limit)


def ndjson(data: bytes) -> list[Frame]:
    return frames(Framing.NDJSON, [data])


BITS = [
    b"data:",
    b"data: ",
    b"event: x",
    b"id: 1",
    b"retry",
    b":",
    b": hb",
    b" ",
    b"{}",
    b"[DONE]",
    b"\n",
    b"\r",
]
BITS += [b"\r\n", b"\n\n", b"\xef\xbb\xbf", "\u2028\u0085é".encode(), b"\x0b\x0c", b"\x00", b"\xff", b"data"]
streams = st.lists(st.sampled_from(BITS), max_size=30).map(b"".join)


@given(streams, st.lists(st.integers(0, 200), max_size=12), st.sampled_from(Framing))
def test_any_split_gives_the_same_frames_and_all_bytes(data: bytes, at: list[int], framing: Framing) -> None:
    whole = frames(framing, [data])
    split = frames(framing, cut(data, at))
    assert split == whole
    assert b"".join(frame.raw for frame in split) == data


@given(streams, st.lists(st.integers(0, 200), max_size=12), st.sampled_from(Framing), st.integers(3, 40))
def test_a_bound_changes_no_bytes_and_no_data(
    data: bytes, at: list[int], framing: Framing, limit: int
) -> None:
    unbounded = frames(framing, [data])
    kept = [(f.data, f.event) if len(f.raw) <= limit else (b"", "") for f in unbounded if f.whole]
    split = frames(framing, cut(data, at), limit)
    assert b"".join(frame.raw for frame in split) == data
    assert [(f.data, f.event) for f in split if f.whole] == kept
    assert all(frame.raw for frame in split)
    assert all(len(f.raw) <= max(limit + 1, len(piece)) for f in split for piece in [data] if f.data)


@given(streams)
def test_one_byte_at_a_time_is_no_different(data: bytes) -> None:
    for framing in Framing:
        single = frames(framing, [bytes([byte]) for byte in data])
        assert single == frames(framing, [data])


@pytest.mark.parametrize(
    ("stream", "payloads"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\n\ndata: b\n\r\n", [b"a", b"b"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data\ndata: b\n\n", [b"\nb"]),
        (b"id: 7\nretry: 10\nfoo: bar\ndata: a\n: note\n\n", [b"a"]),
        (b"data: {\xe2\x80\xa8\xc2\x85\x0b}\n\n", ["{\u2028\u0085\x0b}".encode()]),
    ],
)
def test_an_event_is_read_as_the_standard_says(stream: bytes, payloads: list[bytes]) -> None:
    assert [frame.data for frame in sse(stream) if frame.data] == payloads


def test_the_event_name_is_the_last_one_given() -> None:
    (frame,) = sse(b"event: a\nevent:message_stop\ndata: {}\n\n")
    assert (frame.event, frame.data) == ("message_stop", b"{}")


def test_a_byte_order_mark_counts_only_at_the_start() -> None:
    assert [frame.data for frame in sse(b"data: a\n\n\xef\xbb\xbfdata: b\n\n")] == [b"a", b""]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_lone_comment_line_is_handed_out_before_its_blank_line(end: bytes) -> None:
    framer = Framer(Framing.SSE)
    assert framer.feed(b": hb" + end) == [Frame(b": hb" + end)]
    assert framer.feed(b": hb" + end + end) == [Frame(b": hb" + end), Frame(end)]


def test_a_comment_inside_an_event_stays_in_it() -> None:
    assert [frame.raw for frame in sse(b"data: a\n: hb\n\n")] == [b"data: a\n: hb\n\n"]


def test_an_event_that_ends_with_lf_is_handed_out_at_once() -> None:
    framer = Framer(Framing.SSE)
    assert framer.feed(b"data: a\r\n\r") == []
    assert [frame.raw for frame in framer.feed(b"\n")] == [b"data: a\r\n\r\n"]
    assert [frame.raw for frame in framer.feed(b"data: b\r\n\r\n")] == [b"data: b\r\n\r\n"]


def test_an_event_that_ends_with_cr_waits_for_the_next_byte_or_the_end() -> None:
    framer = Framer(Framing.SSE)
    assert framer.feed(b"data: a\r\r") == []
    assert [frame.raw for frame in framer.feed(b"d")] == [b"data: a\r\r"]
    assert framer.feed(b"ata: b\r\r") == []
    assert framer.close() == [Frame(b"data: b\r\r", b"b")]


def test_an_event_the_stream_ends_in_is_a_fragment_without_data() -> None:
    assert sse(b"data: a\n\ndata: {}\n") == [Frame(b"data: a\n\n", b"a"), Frame(b"data: {}\n", whole=False)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b'{"a":1}\n{"b":2}\r\n', [Frame(b'{"a":1}\n', b'{"a":1}'), Frame(b'{"b":2}\r\n', b'{"b":2}')]),
        (b' {"a":1}\n', [Frame(b' {"a":1}\n', b'{"a":1}')]),
        (b"\n \r\n", [Frame(b"\n"), Frame(b" \r\n")]),
        (b'{"a":"\r"}\n', [Frame(b'{"a":"\r"}\n', b'{"a":"\r"}')]),
        (
            '{"a":"\u2028\u0085"}\n'.encode(),
            [Frame('{"a":"\u2028\u0085"}\n'.encode(), '{"a":"\u2028\u0085"}'.encode())],
        ),
        (b'{"error":"x"}', [Frame(b'{"error":"x"}', b'{"error":"x"}', whole=False)]),
        (b'{"error":"x', [Frame(b'{"error":"x', whole=False)]),
    ],
)
def test_lines_end_with_lf_alone(stream: bytes, expected: list[Frame]) -> None:
    assert ndjson(stream) == expected


def test_a_frame_over_the_bound_passes_in_fragments_and_its_last_piece_is_whole() -> None:
    framer = Framer(Framing.SSE, limit=16)
    assert framer.feed(b"data: " + b"x" * 20) == [Frame(b"data: " + b"x" * 20, whole=False)]
    assert framer.feed(b"y\n") == [Frame(b"y\n", whole=False)]
    assert framer.feed(b"\ndata: b\n\n") == [Frame(b"\n"), Frame(b"data: b\n\n", b"b")]
    framer = Framer(Framing.NDJSON, limit=16)
    assert framer.feed(b"{" + b" " * 20) == [Frame(b"{" + b" " * 20, whole=False)]
    assert framer.feed(b'}\n{"a":1}\n') == [Frame(b"}\n"), Frame(b'{"a":1}\n', b'{"a":1}')]


def test_a_frame_over_the_bound_keeps_back_a_cr_that_may_be_its_end() -> None:
    framer = Framer(Framing.SSE, limit=16)
    assert framer.feed(b"data: " + b"x" * 20 + b"\r\r") == [Frame(b"data: " + b"x" * 20 + b"\r", whole=False)]
    assert framer.feed(b"data: b") == [Frame(b"\r")]


def test_a_frame_over_the_bound_that_comes_at_once_has_no_data() -> None:
    assert sse(b"data: " + b"x" * 20 + b"\n\n", limit=16) == [Frame(b"data: " + b"x" * 20 + b"\n\n")]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_work_is_linear_in_the_bytes_of_a_frame_that_comes_in_pieces(end: bytes) -> None:
    def cost(pieces: int) -> float:
        best = float("inf")
        for _ in range(5):
            framer = Framer(Framing.SSE)
            start = time.process_time()
            for _ in range(pieces):
                framer.feed(b"data: " + b"x" * 200 + end)
            (frame,) = framer.feed(end + b"x")
            best = min(best, time.process_time() - start)
            assert len(frame.data) == pieces * 201 - 1
        return best

    assert cost(8000) < 40 * cost(500)  # 16 times the bytes; a rescan would make it 256 times the work


def test_many_short_lines_with_cr_alone_are_searched_once() -> None:
    framer = Framer(Framing.SSE)
    start = time.process_time()
    assert len(framer.feed(b"data: a\r\r" * 100_000)) == 99_999
    assert time.process_time() - start < 10  # searching the rest for a LF at each line would take minutes
