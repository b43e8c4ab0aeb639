"""Which headers go from one side to the other (RFC 9110 §7.6.1). Pure: lists in, new lists out.

Order, duplicates and the case of names are kept. Names and values are bytes, as ASGI and httpx have them.
"""

from collections.abc import Iterable, Sequence

Header = tuple[bytes, bytes]

VIA = b"1.1 ollama-guard"

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)


def end_to_end(headers: Iterable[Header]) -> list[Header]:
    """Without what is meant for one connection: the fixed list and what any Connection header names."""
    headers = list(headers)
    dropped = set(_HOP_BY_HOP)
    for name, value in headers:
        if name.lower() == b"connection":
            dropped.update(token.strip().lower() for token in value.split(b","))
    return [header for header in headers if header[0].lower() not in dropped]


def for_upstream(headers: Iterable[Header], authority: bytes, *, guarded: bool) -> list[Header]:
    """Request headers for the upstream at `authority` (host, or host:port).

    Host is replaced, Expect dropped (the body is there already), Via appended. A guarded request asks for no
    compression, for its answer is read, and has no Content-Length, for its body may be rebuilt: the caller
    adds the right one.
    """
    dropped = {b"host", b"expect"} | ({b"accept-encoding", b"content-length"} if guarded else set())
    kept = without(end_to_end(headers), dropped)
    plain = [(b"accept-encoding", b"identity")] if guarded else []
    return [(b"host", authority), *kept, *plain, (b"via", VIA)]


def for_client(headers: Iterable[Header], extra: Sequence[Header] = ()) -> list[Header]:
    """Response headers of a guarded stream: no length, since it may grow, and no buffering on the way.

    `extra` headers take the place of those of the same name.
    """
    added = [(b"x-accel-buffering", b"no"), *extra]
    dropped = {b"content-length"} | {name.lower() for name, _ in added}
    return [*without(end_to_end(headers), dropped), *added]


def without(headers: Iterable[Header], names: Iterable[bytes]) -> list[Header]:
    """All headers but those of these (lower-case) names."""
    dropped = frozenset(names)
    return [header for header in headers if header[0].lower() not in dropped]
