"""/v1/chat/completions and /v1/completions."""

from typing import Any

from mocks.judges.report import Report


class Chat:
    def __init__(self, report: Report) -> None:
        self.report = report
        self._begun = False  # a role, or any text, was there

    def read(self, _name: str, chunk: dict[str, Any] | None) -> None:
        report = self.report
        if chunk is None:
            report.endings += 1
            return
        if "error" in chunk:
            report.errors.append(chunk["error"])
            return
        report.note(chunk, "id", "model", "created", "object")
        if any((chunk.get("usage") or {}).values()):
            report.usage.append(chunk["usage"])
        for choice in chunk.get("choices", ()):
            self._choice(choice)

    def _choice(self, choice: dict[str, Any]) -> None:
        report, delta = self.report, choice.get("delta", {})
        said, thought = delta.get("content") or "", delta.get("reasoning") or ""
        calls = delta.get("tool_calls") or ()
        if delta.get("role") and self._begun:
            report.wrong("the role came late, or twice")
        if report.finish and (said or thought or calls):
            report.wrong("text after the finish reason")
        self._begun = self._begun or bool(delta.get("role") or said or thought or calls)
        report.content += said
        report.reasoning += thought
        for call in calls:
            function = call.get("function", {})
            name, arguments = function.get("name", ""), function.get("arguments", "")
            report.call(call["index"], id=call.get("id", ""), name=name, arguments=arguments)
        if choice.get("finish_reason"):
            _finished(report, choice)
        elif not (said or thought or calls or delta.get("role")):
            report.heartbeats += 1


class Completions(Chat):
    def _choice(self, choice: dict[str, Any]) -> None:
        if self.report.finish and choice.get("text"):
            self.report.wrong("text after the finish reason")
        self.report.content += choice.get("text", "")
        if choice.get("finish_reason"):
            _finished(self.report, choice)

    def read(self, name: str, chunk: dict[str, Any] | None) -> None:
        # Ollama itself gives every chunk of this route a `created` of its own.
        super().read(name, chunk and {key: value for key, value in chunk.items() if key != "created"})


def _finished(report: Report, choice: dict[str, Any]) -> None:
    report.finish.append(choice["finish_reason"])
    if len(report.finish) > 1:
        report.wrong("a second finish reason")
