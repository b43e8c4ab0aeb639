"""/v1/responses: numbered events, items that are added, filled and done, one terminal event."""

from typing import Any

from mocks.judges.report import Report

_TERMINAL = {"response.completed", "response.failed", "response.incomplete"}
_OPENING = {"response.created", "response.in_progress"}


class Responses:
    def __init__(self, report: Report) -> None:
        self.report = report
        self._last = -1
        self._items: dict[str, int] = {}  # id -> output index
        self._done: set[str] = set()

    def read(self, name: str, frame: dict[str, Any] | None) -> None:
        report, kind = self.report, str((frame or {}).get("type", ""))
        if frame is None or kind != name:
            report.wrong(f"event {name!r} with type {kind!r}")
            return
        number = frame.get("sequence_number", -1)
        if number <= self._last:
            report.wrong(f"sequence number {number} after {self._last}")
        self._last = max(number, self._last)
        if "response" in frame:
            report.note(frame["response"], "id", "model", "created_at")
        if kind in _TERMINAL:
            self._end(frame["response"])
        elif kind == "error":
            report.errors.append(frame)
        elif kind == "keepalive":
            report.heartbeats += 1
        elif "item" in frame:
            self._item(kind, frame)
        elif "item_id" in frame:
            self._piece(kind, frame)
        elif kind not in _OPENING:
            report.wrong(f"unknown event {kind}")
        elif self._items:
            report.wrong(f"{kind} after output began")

    def _end(self, response: dict[str, Any]) -> None:
        self.report.endings += 1
        self.report.finish.append(response["status"])
        self.report.usage.append(response.get("usage"))
        if response.get("error"):
            self.report.errors.append(response["error"])

    def _item(self, kind: str, frame: dict[str, Any]) -> None:
        item = frame["item"]
        if kind == "response.output_item.done":
            if self._items.get(item["id"]) != frame["output_index"]:
                self.report.wrong("an item is done that was not added there")
            self._done.add(item["id"])
            return
        if item["id"] in self._items:
            self.report.wrong("an item is added twice")
        self._items[item["id"]] = frame["output_index"]
        if item["type"] == "function_call":
            self.report.call(len(self.report.calls), id=item["call_id"], name=item["name"])

    def _piece(self, kind: str, frame: dict[str, Any]) -> None:
        report, ident = self.report, frame["item_id"]
        if self._items.get(ident) != frame.get("output_index"):
            report.wrong(f"{kind} for an item that was not added there")
        elif ident in self._done:
            report.wrong(f"{kind} for an item that is done")
        if kind == "response.output_text.delta":
            report.content += frame["delta"]
        elif kind == "response.reasoning_summary_text.delta":
            report.reasoning += frame["delta"]
        elif kind == "response.function_call_arguments.delta":
            report.call(max(0, len(report.calls) - 1), arguments=frame["delta"])
