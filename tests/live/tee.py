"""A plain TCP tap in front of the mock: forwards both ways, and keeps every byte that the upstream sent.

Two runs of one script differ in ids and times of day, so what "byte for byte" means can only be seen on one.
"""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class Taken:
    """One response as it left the upstream."""

    raw: bytearray = field(default_factory=bytearray)

    @property
    def head(self) -> bytes:
        return bytes(self.raw.partition(b"\r\n\r\n")[0])

    @property
    def status(self) -> int:
        return int(self.head.split(b" ", 2)[1])

    @property
    def headers(self) -> list[tuple[str, str]]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]

    @property
    def body(self) -> bytes:
        """The body, de-chunked if it was chunked. Raises ValueError for chunks that are none."""
        rest = bytes(self.raw.partition(b"\r\n\r\n")[2])
        if b"transfer-encoding: chunked" not in self.head.lower():
            return rest
        body = b""
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            length = int(size, 16)
            body, rest = body + rest[:length], rest[length + 2 :]
        return body


class Tap:
    """Listens on `url`. `taken` has one entry a connection, in the order in which they were opened."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self._upstream = (parts.hostname or "", parts.port or 80)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.taken: list[Taken] = []
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True, name="tap").start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(self._upstream)
            self._open += [near, far]
            taken = Taken()
            self.taken.append(taken)
            for source, sink, kept in ((near, far, None), (far, near, taken.raw)):
                arguments = (source, sink, kept)
                threading.Thread(target=self._pump, args=arguments, daemon=True, name="tap-pump").start()

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket, kept: bytearray | None) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if kept is not None:
                    kept += data
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close everything, and with it end every thread."""
        self._listener.close()
        for sock in self._open:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


@contextlib.contextmanager
def tapped(upstream: str) -> Iterator[Tap]:
    """A tap while the block runs."""
    tap = Tap(upstream)
    try:
        yield tap
    finally:
        tap.close()
