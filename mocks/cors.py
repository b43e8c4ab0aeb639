"""What Ollama tells a browser about an allowed web page (gin-contrib/cors with Ollama's settings)."""

from collections.abc import Sequence

from mocks.http1 import Header, Request

PREFLIGHT: Sequence[Header] = (
    ("Access-Control-Allow-Headers", "Authorization,Content-Type,User-Agent,Accept,X-Requested-With"),
    ("Access-Control-Allow-Methods", "GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS"),
    ("Access-Control-Max-Age", "43200"),
)


def for_pages(request: Request) -> Sequence[Header]:
    """Headers of every answer to this request; none for a page of Ollama's own address."""
    origin = request.header("origin")
    host = request.header("host")
    if origin is None or origin in (f"http://{host}", f"https://{host}"):
        return ()
    return (("Access-Control-Allow-Origin", origin), ("Vary", "Origin"))


def is_preflight(request: Request) -> bool:
    """Any OPTIONS of another origin: it never gets as far as the routes."""
    return request.method == "OPTIONS" and bool(for_pages(request))
