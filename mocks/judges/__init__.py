"""Strict readers of a streamed answer: what a demanding client would choke on is a problem here.

    report = judge("/v1/chat/completions", body)
    assert report.problems == []
    assert report.content == "..."

Checked for every dialect: each frame whole and valid JSON of its own (nothing glued), exactly one ending and
nothing after it, one id, model and `created`, one role, indexes without gaps. Heartbeats are counted. The
shapes are those of the public API documents; no client library is used.
"""

from collections.abc import Callable

from mocks.judges.anthropic import Messages
from mocks.judges.framing import events_of, lines_of
from mocks.judges.native import Native
from mocks.judges.openai import Chat, Completions
from mocks.judges.report import Reader, Report, decoded
from mocks.judges.responses import Responses

_READERS: dict[str, Callable[[Report], Reader]] = {
    "/api/chat": Native,
    "/api/generate": Native,
    "/v1/chat/completions": Chat,
    "/v1/completions": Completions,
    "/v1/messages": Messages,
    "/v1/responses": Responses,
}

__all__ = ["Report", "judge"]


def judge(path: str, body: bytes, *, ended: bool = True) -> Report:
    """Read a streamed answer of the path's dialect. `ended` False: it may lack its ending (a cut stream)."""
    report = Report()
    reader = _READERS[path](report)
    for frame in lines_of(report, body) if path.startswith("/api/") else events_of(report, body):
        if report.endings:
            report.wrong("something after the ending")
        report.frames.append(frame[1])
        reader.read(*frame)
    for name, values in report.identity.items():
        if len(values) > 1:
            report.problems.append(f"{name} changed: {sorted(map(str, values))}")
    _check_calls(report)
    if ended and report.endings != 1 and not report.errors:
        report.problems.append(f"{report.endings} endings")
    return report


def _check_calls(report: Report) -> None:
    if sorted(report.calls) != list(range(len(report.calls))):
        report.problems.append(f"tool indexes have gaps: {sorted(report.calls)}")
    for index, call in report.calls.items():
        if not call["name"]:
            report.problems.append(f"tool call {index} has no name")
        if decoded(call["arguments"]) is None:
            report.problems.append(f"tool call {index} has broken arguments")
