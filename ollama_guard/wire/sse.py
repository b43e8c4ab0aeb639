"""Writing server-sent events (WHATWG HTML §9.2)."""

DONE = b"data: [DONE]\n\n"
"""The terminator of OpenAI's chat and completions streams."""

COMMENT = b": hb\n"
"""A heartbeat that every known client skips. One newline only: openai-python and LiteLLM choke on a blank
line after an `id:` field, and Continue reads a line that begins with `: ping` as an end (facts E.1)."""


def event(data: bytes, name: str = "") -> bytes:
    """One event with its blank line. `name` is the `event:` field, left out when empty."""
    head = b"event: " + name.encode() + b"\n" if name else b""
    if b"\n" in data:
        return head + b"".join(b"data: " + line + b"\n" for line in data.split(b"\n")) + b"\n"
    return head + b"data: " + data + b"\n\n"
