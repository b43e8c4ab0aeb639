"""The two small protocols of systemd: sd_notify(3) and sd_listen_fds(3). Standard library only.

Both are driven by the environment alone; without it every call does nothing.
"""

import logging
import os
import socket
from collections.abc import Mapping, MutableMapping

FIRST_DESCRIPTOR = 3  # SD_LISTEN_FDS_START
log = logging.getLogger("ollama_guard.service")


def inherited(environ: MutableMapping[str, str]) -> list[int]:
    """Descriptors that were handed to this very process (LISTEN_PID is ours), in their order.

    The variables are taken out, so that no child takes the descriptors for its own.
    """
    pid, count = environ.pop("LISTEN_PID", ""), environ.pop("LISTEN_FDS", "")
    environ.pop("LISTEN_FDNAMES", None)
    if pid != str(os.getpid()) or not count.isascii() or not count.isdigit():
        return []
    return list(range(FIRST_DESCRIPTOR, FIRST_DESCRIPTOR + int(count)))


class Notifier:
    """Tells systemd how the service stands. A message that cannot be sent is lost, and only logged."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        address = environ.get("NOTIFY_SOCKET", "")
        # "@" marks the abstract name space; AF_VSOCK forms are for virtual machines, not for us
        self._address = "\0" + address[1:] if address.startswith("@") else address
        if not self._address.startswith(("/", "\0")):
            self._address = ""

    def ready(self, status: str) -> None:
        """The sockets are bound and requests are answered."""
        self._send("READY=1", f"STATUS={status}")

    def stopping(self, status: str, seconds: float) -> None:
        """The end has begun and may take so many seconds, whatever TimeoutStopSec says."""
        self._send("STOPPING=1", f"STATUS={status}", f"EXTEND_TIMEOUT_USEC={int(seconds * 1_000_000)}")

    def status(self, status: str) -> None:
        """A line for `systemctl status`."""
        self._send(f"STATUS={status}")

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        # a line break inside a value would start a new assignment
        message = "\n".join(line.replace("\n", " ") for line in lines).encode()
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
                channel.setblocking(False)  # noqa: FBT003 - positional only
                channel.sendto(message, self._address)
        except OSError as error:
            log.debug("systemd was not told %r: %s", lines[0], error)
