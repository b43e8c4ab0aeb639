"""/v1/messages: message_start, blocks one after the other, message_delta, message_stop."""

from typing import Any

from mocks.judges.report import Report

_BLOCK_OF = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}


class Messages:
    def __init__(self, report: Report) -> None:
        self.report = report
        self._started = False
        self._open: int | None = None
        self._type = ""
        self._next = 0

    def read(self, name: str, frame: dict[str, Any] | None) -> None:
        report, kind = self.report, str((frame or {}).get("type", ""))
        if frame is None or kind != name:
            report.wrong(f"event {name!r} with type {kind!r}")
        elif kind == "ping":
            report.heartbeats += 1
        elif kind == "error":
            report.errors.append(frame["error"])
        elif kind == "message_start":
            if self._started:
                report.wrong("a second message_start")
            self._started = True
            report.note(frame["message"], "id", "model")
        elif not self._started:
            report.wrong(f"{kind} before message_start")
        elif step := getattr(self, f"_{kind}", None):
            step(frame)
        else:
            report.wrong(f"unknown event {kind}")

    def _content_block_start(self, frame: dict[str, Any]) -> None:
        if self._open is not None:
            self.report.wrong("a block starts inside another")
        if frame["index"] != self._next:
            self.report.wrong(f"block index {frame['index']} instead of {self._next}")
        block = frame["content_block"]
        self._open, self._type, self._next = frame["index"], block["type"], frame["index"] + 1
        if block["type"] == "tool_use":
            self.report.call(len(self.report.calls), id=block["id"], name=block["name"])

    def _content_block_delta(self, frame: dict[str, Any]) -> None:
        report, piece = self.report, frame["delta"]
        if frame["index"] != self._open:
            report.wrong("a delta for a block that is not open")
        if _BLOCK_OF.get(piece["type"], self._type) != self._type:
            report.wrong(f"{piece['type']} in a {self._type} block")
        report.content += piece.get("text", "")
        report.reasoning += piece.get("thinking", "")
        if "partial_json" in piece:
            report.call(max(0, len(report.calls) - 1), arguments=piece["partial_json"])
        report.heartbeats += not any(piece.get(name) for name in ("text", "thinking", "partial_json"))

    def _content_block_stop(self, frame: dict[str, Any]) -> None:
        if frame["index"] != self._open:
            self.report.wrong("a stop for a block that is not open")
        self._open = None

    def _message_delta(self, frame: dict[str, Any]) -> None:
        if self._open is not None:
            self.report.wrong("message_delta inside a block")
        self.report.finish.append(frame["delta"].get("stop_reason", ""))
        self.report.usage.append(frame.get("usage"))
        if len(self.report.finish) > 1:
            self.report.wrong("a second message_delta")

    def _message_stop(self, _frame: dict[str, Any]) -> None:
        if not self.report.finish:
            self.report.wrong("message_stop without a message_delta")
        self.report.endings += 1
