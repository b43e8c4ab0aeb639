"""What a browser needs on the guard's own answers, so that an allowed web page can read them (Fetch §3.3).

Ollama gives these headers on its answers, which pass as they are. Only behind the gate, or with its word:
nothing here asks whether an Origin is allowed.
"""

from collections.abc import Iterable

from starlette.responses import Response
from starlette.types import Scope

from ollama_guard.wire.headers import Header

METHODS = b"GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"
REMEMBERED_SEC = b"5"
"""Ollama's own answer to the next preflight counts again as soon as it is back."""


def own_headers(headers: Iterable[Header]) -> list[Header]:
    """The headers to add to an answer of the guard's own; none unless the request names one Origin."""
    origins = [value for name, value in headers if name.lower() == b"origin"]
    if len(origins) != 1:
        return []
    return [(b"access-control-allow-origin", origins[0]), (b"vary", b"Origin")]


def is_preflight(scope: Scope) -> bool:
    """Whether a browser asks beforehand if a page may make a request. It never carries credentials."""
    names = {name.lower() for name, _ in scope["headers"]}
    return scope["method"] == "OPTIONS" and {b"origin", b"access-control-request-method"} <= names


def preflight(scope: Scope) -> Response:
    """Yes. For the guard's own paths, and when Ollama cannot say it: the request itself then tells why."""
    asked = [value for name, value in scope["headers"] if name.lower() == b"access-control-request-headers"]
    allowed = [(b"access-control-allow-headers", b", ".join(asked))] if asked else []
    methods = (b"access-control-allow-methods", METHODS)
    return readable(
        Response(status_code=204), [methods, *allowed, (b"access-control-max-age", REMEMBERED_SEC)]
    )


def readable(response: Response, headers: Iterable[Header]) -> Response:
    """The response with these headers too."""
    response.raw_headers.extend(headers)
    return response
