"""The time limit of a request's head, over real sockets."""

import socket
import time
from collections.abc import Callable

import pytest

from tests.service.conftest import Running, rest, until

HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def service(start: Callable[..., Running]) -> Running:
    return start(STANDIN_HEAD_SEC="0.5")


def connected(service: Running) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", service.port), timeout=5)
    service.sockets.append(connection)
    return connection


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost:"])
def test_a_first_head_that_never_gets_whole_closes_the_connection(service: Running, begun: bytes) -> None:
    connection = connected(service)
    connection.sendall(begun)
    began = time.monotonic()
    rest(connection)
    assert 0.3 < time.monotonic() - began < 3


def test_a_head_that_trickles_in_is_no_reason_to_wait_for_longer(service: Running) -> None:
    connection = connected(service)
    began = time.monotonic()
    with pytest.raises(OSError):  # noqa: PT012 - one of the writes finds the connection closed
        for byte in HEAD * 10:
            connection.sendall(bytes([byte]))
            time.sleep(0.05)
    assert time.monotonic() - began < 3


def test_a_second_head_that_never_gets_whole_closes_the_connection(service: Running) -> None:
    connection = connected(service)
    connection.sendall(HEAD)
    until(connection, b"fine")
    connection.sendall(b"GET / HT")
    began = time.monotonic()
    rest(connection)
    assert time.monotonic() - began < 3


def test_half_a_head_sent_ahead_of_time_counts_from_the_end_of_the_answer(service: Running) -> None:
    connection = connected(service)
    connection.sendall(b"GET /stream?seconds=0.8 HTTP/1.1\r\nHost: x\r\n\r\nGET / HT")
    assert b"done\n" in rest(connection)


def test_a_long_answer_and_a_pause_between_requests_are_left_alone(service: Running) -> None:
    connection = connected(service)
    connection.sendall(b"GET /stream?seconds=1 HTTP/1.1\r\nHost: x\r\n\r\n")
    until(connection, b"0\r\n\r\n")
    time.sleep(0.8)
    connection.sendall(HEAD)
    until(connection, b"fine")
    time.sleep(0.8)
    connection.sendall(HEAD)
    until(connection, b"fine")
