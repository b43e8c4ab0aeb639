"""Listening sockets, bound by us so that a failure names its cause and its remedy.

A socket that is not loopback is never used without a token, however it came here (setting, or systemd).
"""

import errno
import ipaddress
import os
import socket
import sys
from collections.abc import Sequence

BACKLOG = 2048
ADDRESS_ABSENT = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
TAKEN = {errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", errno.EADDRINUSE)}
DENIED = {errno.EACCES, errno.EPERM, getattr(errno, "WSAEACCES", errno.EACCES)}
DEFAULT_PORT = 11435


class CannotListen(Exception):
    """There is no socket to serve on. The message has the cause and the remedy."""


def listen(host: str, port: int) -> list[socket.socket]:
    """Bind every address that `host` stands for (`localhost` is two of them), all on one port.

    Port 0 takes a free one. Raises CannotListen.
    """
    sockets: list[socket.socket] = []
    absent: OSError | None = None
    try:
        for family, address in _addresses(host, port):
            try:
                sockets.append(_bind(family, address, sockets[0].getsockname()[1] if sockets else port, host))
            except OSError as error:
                # one of the two families of `localhost` is often switched off; that is no reason to fail
                if error.errno not in ADDRESS_ABSENT:
                    raise
                absent = error
        if not sockets and absent is not None:
            raise absent
    except OSError as error:
        for each in sockets:
            each.close()
        raise CannotListen(_explain(host, port, error)) from error
    return sockets


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, str]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    pairs = [(family, str(address[0])) for family, _, _, _, address in found]
    # IPv4 first: it is what people type, and what the greeting shows
    return sorted(dict.fromkeys(pairs), key=lambda pair: pair[0] != socket.AF_INET)


def _bind(family: socket.AddressFamily, address: str, port: int, host: str) -> socket.socket:
    # With the protocol named, asyncio sets TCP_NODELAY on what is accepted; without, small writes wait 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform == "win32":
            # SO_REUSEADDR on Windows would let two processes share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(host != "::"))
        listener.bind((address, port))
        # at once, so that a port which is taken is found out here and not inside the server
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _explain(host: str, port: int, error: OSError) -> str:
    where = authority(host, port)
    if error.errno in TAKEN:
        return (
            f"{where} is taken: another program listens there, perhaps a second ollama-guard"
            + (
                ", or the Ollama app of macOS, whose gateway uses 127.0.0.1:11435"
                if port == DEFAULT_PORT
                else ""
            )
            + f".\nEnd it (`ollama-guard stop`), or choose another port: ollama-guard serve --port {port + 1}"
        )
    if error.errno in DENIED:
        return f"{where} is not allowed here ({error.strerror}). Ports below 1024 need rights: --port 11435."
    if error.errno in ADDRESS_ABSENT:
        return f"{where}: this machine has no such address ({error.strerror}). Take --host 127.0.0.1."
    if isinstance(error, socket.gaierror):
        return f"{host!r} is no address and no known name ({error.strerror}). Take --host 127.0.0.1."
    return f"{where} cannot be listened on: {error.strerror or error}"


def authority(host: str, port: int) -> str:
    """Host and port as in a URL, IPv6 in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def endpoint(listener: socket.socket) -> tuple[str, int]:
    """Address and port the socket is bound to."""
    name = listener.getsockname()
    return str(name[0]), int(name[1])


def reachable(host: str) -> str:
    """The address a client on this machine uses for a server bound to `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound


def exposed(sockets: Sequence[socket.socket]) -> list[str]:
    """The bound addresses that other machines may reach."""
    hosts = [endpoint(each)[0] for each in sockets]
    return [host for host in hosts if not ipaddress.ip_address(host.partition("%")[0]).is_loopback]


def inherit(descriptors: Sequence[int]) -> list[socket.socket]:
    """Sockets from descriptors that systemd handed over. Raises CannotListen for what is not TCP."""
    sockets = []
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - positional only
        try:
            listener = socket.socket(fileno=descriptor)
        except OSError as error:
            raise CannotListen(
                f"descriptor {descriptor} from systemd is no socket: {error.strerror}"
            ) from error
        if listener.family not in (socket.AF_INET, socket.AF_INET6) or listener.type != socket.SOCK_STREAM:
            listener.close()
            raise CannotListen(
                f"descriptor {descriptor} from systemd is no TCP socket; use ListenStream=127.0.0.1:11435"
            )
        sockets.append(listener)
    return sockets
