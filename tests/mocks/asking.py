"""One small request for each generation path."""

from typing import Any

from mocks.dialects import PATHS

ALL_PATHS = sorted(PATHS)
NATIVE = ("/api/chat", "/api/generate")
SSE = tuple(path for path in ALL_PATHS if path not in NATIVE)


def request(
    path: str, model: str, *, stream: bool = True, text: str = "Why is the sky blue?", **more: Any
) -> dict[str, Any]:
    """A minimal valid body for the path."""
    body: dict[str, Any] = {"model": model, "stream": stream}
    if path in ("/api/generate", "/v1/completions"):
        body["prompt"] = text
    elif path == "/v1/responses":
        body["input"] = text
    else:
        body["messages"] = [{"role": "user", "content": text}]
    if path == "/v1/messages":
        body["max_tokens"] = 1000
    return body | more
