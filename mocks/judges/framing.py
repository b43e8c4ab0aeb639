"""Strict framing: NDJSON lines and SSE events out of a whole body, with everything that is off noted."""

from typing import Any

from mocks.judges.report import Report, decoded

Frame = tuple[str, dict[str, Any] | None]


def lines_of(report: Report, body: bytes) -> list[Frame]:
    """NDJSON: each line one object, none blank, the last one whole; blanks before it are heartbeats."""
    found: list[Frame] = []
    *lines, rest = body.split(b"\n")
    if rest:
        report.problems.append(f"the last line is not whole: {rest[:60]!r}")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            report.problems.append(f"line {number} is blank")  # ollama-python crashes on it
            continue
        report.heartbeats += line.startswith(b" ")
        value = decoded(line.decode("utf-8", "replace"))
        if value is None:
            report.problems.append(f"line {number} is not one JSON object: {line[:60]!r}")
        else:
            found.append(("", value))
    return found


def events_of(report: Report, body: bytes) -> list[Frame]:
    """SSE: an event is one `data:` line (None: [DONE]), after its `event:` line; comments are heartbeats."""
    found: list[Frame] = []
    *blocks, rest = body.split(b"\n\n")
    if rest.strip(b"\n") and any(line and not line.startswith(b":") for line in rest.split(b"\n")):
        report.problems.append(f"the last event is not whole: {rest[:60]!r}")
    report.heartbeats += rest.startswith(b":")
    for block in blocks:
        name, data = "", []
        for line in block.decode("utf-8", "replace").split("\n"):
            field_name, _, given = line.partition(":")
            if line.startswith(":"):
                report.heartbeats += 1
            elif field_name == "data":
                data.append(given.removeprefix(" "))
            elif field_name == "event":
                name = given.removeprefix(" ")
            elif line:
                report.problems.append(f"not an SSE field: {line[:60]!r}")
        if len(data) > 1:
            report.problems.append(f"two data lines in one event: {block[:60]!r}")
        for payload in data:
            value = None if payload == "[DONE]" else decoded(payload)
            if value is None and payload != "[DONE]":
                report.problems.append(f"data is not one JSON object: {payload[:60]!r}")
            else:
                found.append((name, value))
    return found
