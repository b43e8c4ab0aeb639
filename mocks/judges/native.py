"""/api/chat and /api/generate."""

import json
from typing import Any

from mocks.judges.report import Report


class Native:
    def __init__(self, report: Report) -> None:
        self.report = report

    def read(self, _name: str, line: dict[str, Any]) -> None:
        report = self.report
        if "error" in line:
            report.errors.append(line)
            report.endings += 1  # an error line is the last one
            return
        report.note(line, "model")
        for name in ("model", "created_at", "done"):
            if name not in line:
                report.wrong(f"no {name}")
        message = line.get("message")
        if message is None:
            said, thought, calls = line.get("response"), line.get("thinking", ""), line.get("tool_calls", ())
        else:
            said, thought, calls = (
                message.get("content"),
                message.get("thinking", ""),
                message.get("tool_calls", ()),
            )
            if message.get("role") != "assistant":
                report.wrong("message without role")
        if said is None:
            report.wrong("no text field")  # Zed and others need it, even empty
        report.content += said or ""
        report.reasoning += thought
        for call in calls:
            self._call(call)
        if line.get("done"):
            report.endings += 1
            report.finish.append(line.get("done_reason", ""))
            report.usage.append({
                "prompt": line.get("prompt_eval_count", 0),
                "completion": line.get("eval_count", 0),
            })  # fmt: skip
        elif not (said or thought or calls):
            report.heartbeats += 1

    def _call(self, call: dict[str, Any]) -> None:
        function = call["function"]
        index = function.get("index", len(self.report.calls))
        arguments = json.dumps(function["arguments"])
        self.report.call(index, id=call.get("id", ""), name=function["name"], arguments=arguments)
