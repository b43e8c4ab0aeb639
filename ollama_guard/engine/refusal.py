"""An upstream that answers a later attempt with an error status: what it says, and whether to ask again."""

import msgspec

KEPT_BYTES = 1 << 16
RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
FINAL_WORDS = ("usage limit", "subscription", "not support")
"""Texts of refusals that no further asking changes (Ollama Cloud's limits, missing capabilities)."""


class Refusal:
    """Status and body of a refusal; the body is kept up to a bound."""

    def __init__(self, status: int) -> None:
        self.status = status
        self._body = bytearray()

    def add(self, data: bytes) -> None:
        """Body bytes."""
        self._body += data[: KEPT_BYTES - len(self._body)]

    def message(self) -> str:
        """The upstream's own message, out of any of its error shapes; else the text as it is."""
        text = bytes(self._body).decode("utf-8", "replace").strip()
        try:
            body = msgspec.json.decode(self._body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return text[:500]
        error = body.get("error") if isinstance(body, dict) else None
        if isinstance(error, dict):
            error = error.get("message")
        return error if isinstance(error, str) else text[:500]

    def retryable(self) -> bool:
        """Whether the same request may well be answered a little later."""
        message = self.message().lower()
        return self.status in RETRYABLE and not any(words in message for words in FINAL_WORDS)
