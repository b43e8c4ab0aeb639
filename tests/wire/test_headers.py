"""Header policy, RFC 9110 §7.6.1."""

import pytest

from ollama_guard.wire.headers import end_to_end, for_client, for_upstream

HOP = [b"Connection", b"Keep-Alive", b"Proxy-Connection", b"Proxy-Authenticate", b"Proxy-Authorization"]
HOP += [b"TE", b"Trailer", b"Transfer-Encoding", b"Upgrade"]


@pytest.mark.parametrize("name", [case(name) for name in HOP for case in (bytes, bytes.lower, bytes.upper)])
def test_hop_by_hop_headers_are_dropped_in_any_case(name: bytes) -> None:
    assert end_to_end([(b"a", b"1"), (name, b"x"), (b"b", b"2")]) == [(b"a", b"1"), (b"b", b"2")]


def test_what_connection_names_is_dropped_too() -> None:
    headers = [
        (b"X-One", b"1"),
        (b"connection", b"close, x-one"),
        (b"Connection", b" X-Two ,"),
        (b"x-two", b"2"),
    ]
    assert end_to_end([*headers, (b"x-three", b"3")]) == [(b"x-three", b"3")]


def test_order_duplicates_and_case_are_kept() -> None:
    headers = [(b"Set-Cookie", b"a"), (b"X", b"1"), (b"set-cookie", b"b"), (b"X", b"1")]
    assert end_to_end(headers) == headers


def test_a_guarded_request_asks_for_plain_bytes_and_leaves_the_length_to_the_caller() -> None:
    client = [
        (b"Host", b"guard:11435"),
        (b"Accept-Encoding", b"gzip"),
        (b"Content-Length", b"5"),
        (b"Origin", b"http://x"),
    ]
    client += [(b"Expect", b"100-continue"), (b"Via", b"1.1 nginx"), (b"Authorization", b"Bearer k")]
    assert for_upstream(client, b"127.0.0.1:11434", guarded=True) == [
        (b"host", b"127.0.0.1:11434"),
        (b"Origin", b"http://x"),
        (b"Via", b"1.1 nginx"),
        (b"Authorization", b"Bearer k"),
        (b"accept-encoding", b"identity"),
        (b"via", b"1.1 ollama-guard"),
    ]


def test_a_relayed_request_keeps_its_length_and_encodings() -> None:
    client = [(b"host", b"g"), (b"content-length", b"5"), (b"accept-encoding", b"gzip"), (b"host", b"evil")]
    assert for_upstream(client, b"[::1]:11434", guarded=False) == [
        (b"host", b"[::1]:11434"),
        (b"content-length", b"5"),
        (b"accept-encoding", b"gzip"),
        (b"via", b"1.1 ollama-guard"),
    ]


def test_a_guarded_answer_has_no_length_and_is_not_to_be_buffered() -> None:
    upstream = [
        (b"Content-Type", b"text/event-stream"),
        (b"Content-Length", b"9"),
        (b"Transfer-Encoding", b"chunked"),
    ]
    upstream += [(b"X-Accel-Buffering", b"yes"), (b"X-Ollama-Guard", b"forged")]
    assert for_client(upstream, [(b"x-ollama-guard", b"steer")]) == [
        (b"Content-Type", b"text/event-stream"),
        (b"x-accel-buffering", b"no"),
        (b"x-ollama-guard", b"steer"),
    ]
