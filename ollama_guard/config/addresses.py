"""Where the guard listens and where Ollama is: loopback or not, one and the same or not.

Names are not resolved here; `upstream.resolve` does that once, at start. `ollama_host` follows the rules of
Ollama's own `envconfig.Host` and `ConnectableHost` (envconfig/config.go): quotes and blanks are trimmed, the
port is 11434 unless a scheme is given (then 80 or 443), a port that is none falls back to that, and an
address that only a server can bind (0.0.0.0, ::, none) means loopback.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


def _ip(host: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(host.strip("[]").split("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


def is_loopback(host: str) -> bool:
    """Whether this host can only be this machine. `localhost` and names below it are (RFC 6761 §6.3)."""
    ip = _ip(host)
    name = host.rstrip(".").lower()
    return ip.is_loopback if ip else name == "localhost" or name.endswith(".localhost")


def is_wildcard(host: str) -> bool:
    """Whether this host means every address of this machine: good for listening, not for dialling."""
    ip = _ip(host)
    return ip.is_unspecified if ip else not host


def is_remote_ip(host: str) -> bool:
    """Whether this is an address (not a name) that is not loopback."""
    return _ip(host) is not None and not is_loopback(host)


def authority(url: str) -> tuple[str, int]:
    """Host (no brackets) and port of an http or https URL. Raises ValueError on a port that is none."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port if parts.port is not None else _PORTS.get(parts.scheme, 0)


def is_ourselves(url: str, host: str, port: int) -> bool:
    """Whether a connection to `url` would reach what listens on `host` and `port`."""
    there, its_port = authority(url)
    if port == 0 or port != its_port:
        return False
    if is_loopback(there):
        return is_loopback(host) or is_wildcard(host)
    return there == host.lower()


@dataclass(frozen=True, slots=True)
class OllamaHost:
    """What a value of OLLAMA_HOST means to Ollama's clients. `bad_port`: written there, but not taken."""

    url: str
    bad_port: str = ""


def ollama_host(value: str) -> OllamaHost | None:
    """Read a value of OLLAMA_HOST; None if it says nothing."""
    text = value.strip().strip("\"'").strip()
    if not text:
        return None
    scheme, found, rest = text.partition("://")
    scheme, rest = (scheme, rest) if found else ("http", text)
    default = str(_PORTS.get(scheme, 11434)) if found else "11434"
    rest, slash, path = rest.partition("/")
    host, written = _split(rest)
    bad = written if written is not None and not _is_port(written) else ""
    port = default if written is None or not _is_port(written) else written
    host = ("::1" if ":" in host else "127.0.0.1") if is_wildcard(host) else host
    host = f"[{host}]" if ":" in host else host
    return OllamaHost(f"{scheme}://{host}:{port}{slash if path else ''}{path}", bad)


def _split(text: str) -> tuple[str, str | None]:
    """Host without brackets, and port as it is written, if one is."""
    bare = text.strip("[]")
    if ":" in bare and _ip(bare) and not (text.startswith("[") and not text.endswith("]")):
        return bare, None
    host, colon, port = text.rpartition(":")
    if not colon or port.endswith("]"):
        return bare, None
    return host.strip("[]"), port


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= 65535
