"""What single values cannot show: settings that do not go together, or would do harm.

Each message names the key and its value, what is wrong with it, and what to do.
"""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from ollama_guard.config.addresses import (
    authority,
    is_loopback,
    is_ourselves,
    is_remote_ip,
    is_wildcard,
)
from ollama_guard.config.catalogue import SETTINGS, value_of
from ollama_guard.config.schema import Settings
from ollama_guard.config.sources import Origin, complaint

_HOST = re.compile(r"[0-9A-Za-z_.:%-]+")
_ORIGIN = re.compile(r"\*|null|[A-Za-z][A-Za-z0-9+.-]*://[^\s/,]+")


def check(settings: Settings, origins: Mapping[str, Origin]) -> list[str]:
    """All that does not hold together, in the order of the settings; [] when it is sound."""
    found = [*_server(settings), *_upstream(settings), *_lists(settings), *_times(settings)]
    return [
        f"{complaint(SETTINGS[key], value_of(settings, key), origins.get(key, Origin()))}: {what}"
        for key, what in found
    ]


def valid_origin(origin: str) -> bool:
    """Whether this can be a web origin (RFC 6454 §6.2): scheme://host[:port], or "*", or "null"."""
    return _ORIGIN.fullmatch(origin) is not None


def _server(settings: Settings) -> Iterator[tuple[str, str]]:
    server = settings.server
    if not _HOST.fullmatch(server.host) or re.fullmatch(r"[^:]*:\d+", server.host):
        yield "server.host", "an IP address or a name, with no port; the port is server.port (--port)"
    elif not is_loopback(server.host) and not server.token:
        yield (
            "server.host",
            (
                "this opens Ollama to other machines, and anyone there could use it; set a token for them "
                "(server.token, OLLAMA_GUARD_TOKEN), or listen on 127.0.0.1"
            ),
        )
    if not re.fullmatch(r"[!-~]*", server.token):
        yield (
            "server.token",
            "a header carries it, so it may have printable ASCII characters only, and no blanks",
        )


def _upstream(settings: Settings) -> Iterator[tuple[str, str]]:
    url = settings.upstream.url
    try:
        parts = urlsplit(url)
        host, port = authority(url)
    except ValueError:
        yield "upstream.url", "not a URL; write it like http://127.0.0.1:11434"
        return
    if parts.scheme not in ("http", "https") or not host or not port:
        hint = f"; did you mean http://{url}?" if re.fullmatch(r"[\w.-]+(:\d+)?/?", url) else ""
        yield (
            "upstream.url",
            f"needs http:// or https://, a host and a port{hint or ', like http://127.0.0.1:11434'}",
        )
    elif parts.username is not None or parts.query or parts.fragment or parts.path not in ("", "/"):
        yield (
            "upstream.url",
            f"only scheme, host and port: {parts.scheme}://{parts.netloc.rpartition('@')[2]}",
        )
    elif is_wildcard(host):
        yield "upstream.url", f"this is an address to listen on; write {parts.scheme}://127.0.0.1:{port}"
    elif is_ourselves(url, settings.server.host, settings.server.port):
        yield (
            "upstream.url",
            (
                f"this is where the guard itself listens (server.port = {settings.server.port}); "
                "let it listen on another port (--port), or say where Ollama is (--upstream)"
            ),
        )
    elif is_remote_ip(host) and not settings.upstream.allow_remote:
        yield "upstream.url", "this is not this machine; if it is meant, set upstream.allow_remote = true"


def _lists(settings: Settings) -> Iterator[tuple[str, str]]:
    server = settings.server
    bad = [name for name in server.allowed_hosts if not _HOST.fullmatch(name.strip("[]"))]
    if bad:
        yield "server.allowed_hosts", f"{', '.join(map(ascii, bad))}: names or addresses only, like guard.lan"
    bad = [origin for origin in server.allowed_origins if not valid_origin(origin)]
    if bad:
        yield (
            "server.allowed_origins",
            f"{', '.join(map(ascii, bad))}: write origins like https://chat.example",
        )


def _times(settings: Settings) -> Iterator[tuple[str, str]]:
    beat, empty = settings.heartbeat, settings.empty
    if 0 < beat.data_sec < beat.heartbeat_sec:
        yield (
            "heartbeat.data_sec",
            f"must be at least heartbeat.heartbeat_sec ({beat.heartbeat_sec:g} seconds), or 0 for off",
        )
    if empty.pause_max_sec < empty.pause_sec:
        yield "empty.pause_max_sec", f"must be at least empty.pause_sec ({empty.pause_sec:g} seconds)"
