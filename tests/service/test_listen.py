"""Binding: the right addresses, and failures that say what to do."""

import socket
import sys
from pathlib import Path

import pytest

from ollama_guard.service.listen import CannotListen, authority, endpoint, exposed, inherit, listen, reachable


def close(sockets: list[socket.socket]) -> None:
    for each in sockets:
        each.close()


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_port_0_gives_a_free_port_that_takes_connections() -> None:
    sockets = listen("127.0.0.1", 0)
    host, port = endpoint(sockets[0])
    assert host == "127.0.0.1"
    assert port > 0
    socket.create_connection((host, port), timeout=5).close()
    close(sockets)


def test_a_name_is_bound_on_all_its_addresses_and_on_one_port() -> None:
    sockets = listen("localhost", 0)
    assert endpoint(sockets[0])[0] == "127.0.0.1"
    assert len({endpoint(each)[1] for each in sockets}) == 1
    assert exposed(sockets) == []
    close(sockets)


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 here")
def test_ipv6_loopback_is_listened_on() -> None:
    sockets = listen("::1", 0)
    host, port = endpoint(sockets[0])
    assert authority(host, port) == f"[::1]:{port}"
    socket.create_connection(("::1", port), timeout=5).close()
    close(sockets)


def test_a_taken_port_names_the_remedy() -> None:
    holder = listen("127.0.0.1", 0)
    port = endpoint(holder[0])[1]
    with pytest.raises(CannotListen, match=rf"127\.0\.0\.1:{port} is taken.*\n.*--port {port + 1}"):
        listen("127.0.0.1", port)
    close(holder)


def test_a_taken_default_port_mentions_the_macos_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    holder = listen("127.0.0.1", 0)
    port = endpoint(holder[0])[1]
    monkeypatch.setattr("ollama_guard.service.listen.DEFAULT_PORT", port)
    with pytest.raises(CannotListen, match="macOS"):
        listen("127.0.0.1", port)
    close(holder)


@pytest.fixture
def two_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that stands for two addresses, as localhost does where IPv6 is on."""
    if sys.platform != "linux":
        pytest.skip("127.0.0.2 is not an address here")
    pairs = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "127.0.0.2")]
    monkeypatch.setattr("ollama_guard.service.listen._addresses", lambda *_: pairs)


@pytest.mark.usefixtures("two_addresses")
def test_the_second_address_gets_the_port_of_the_first() -> None:
    first, second = listen("localhost", 0)
    assert endpoint(second) == ("127.0.0.2", endpoint(first)[1])
    close([first, second])


@pytest.mark.usefixtures("two_addresses")
def test_a_port_in_use_on_the_second_address_leaves_no_socket_behind() -> None:
    with socket.create_server(("127.0.0.2", 0)) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(CannotListen, match="is taken"):
            listen("localhost", port)
        listen_again = socket.create_server(("127.0.0.1", port))
        listen_again.close()


@pytest.mark.parametrize("host", ["no-such-name.invalid", "192.0.2.7"])
def test_an_address_that_is_not_ours_is_named(host: str) -> None:
    with pytest.raises(CannotListen) as caught:
        listen(host, 0)
    assert host in str(caught.value)
    assert "--host 127.0.0.1" in str(caught.value)


def test_an_open_door_is_seen_on_what_is_really_bound() -> None:
    sockets = listen("0.0.0.0", 0)
    assert exposed(sockets) == ["0.0.0.0"]
    close(sockets)


@pytest.mark.parametrize(
    ("bound", "seen"), [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("127.0.0.1", "127.0.0.1")]
)
def test_a_wildcard_is_reached_over_loopback(bound: str, seen: str) -> None:
    assert reachable(bound) == seen


def test_an_inherited_unix_socket_is_refused(tmp_path: Path) -> None:
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    door.bind(str(tmp_path / "door"))
    with pytest.raises(CannotListen, match="no TCP socket"):
        inherit([door.detach()])


def test_an_inherited_descriptor_that_is_no_socket_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file, pytest.raises(CannotListen, match="is no socket"):
        inherit([file.fileno()])


def test_an_inherited_listener_is_not_passed_on_to_children() -> None:
    import os

    first = listen("127.0.0.1", 0)[0]
    descriptor = first.detach()
    os.set_inheritable(descriptor, True)
    (again,) = inherit([descriptor])
    assert not os.get_inheritable(again.fileno())
    socket.create_connection(endpoint(again), timeout=5).close()
    again.close()


def test_what_is_accepted_writes_small_pieces_at_once() -> None:
    """asyncio sets TCP_NODELAY only where the socket names its protocol."""
    [listener] = listen("127.0.0.1", 0)
    with listener:
        assert listener.proto == socket.IPPROTO_TCP
