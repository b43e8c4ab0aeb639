"""The one object of a client that did not ask for a stream, made from the lines of a stream."""

from collections.abc import Mapping, Sequence
from typing import Any

from ollama_guard.events import Channel, Event, Text
from ollama_guard.wire import jsontext
from ollama_guard.wire.ollama_lines import Form
from ollama_guard.wire.textparts import REASONING_KEYS, joined, read_texts


class Whole:
    """Lines in (as rewritten for the client), one object out: the last line with all that was said."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._texts: list[Event] = []
        self._calls: list[Any] = []
        self._logprobs: list[Any] = []
        self._last: Mapping[str, Any] | None = None

    def add(self, line: Mapping[str, Any]) -> None:
        """Take in the next line."""
        self._last = line
        box = self._form.box(line)
        if box is not None:
            read_texts(box, self._form.content, 0, self._texts)
            self._calls += box.get("tool_calls") or ()
        probabilities = line.get("logprobs")
        if isinstance(probabilities, list):
            self._logprobs += probabilities

    def say(self, events: Sequence[Event]) -> None:
        """Take in text that came in no line."""
        self._texts += [event for event in events if isinstance(event, Text)]

    def body(self, empty: Mapping[str, Any]) -> bytes:
        """The object; `empty` is a line that says nothing, for when there was none."""
        line = dict(empty if self._last is None else self._last)
        box = self._form.box(line) or {}
        said: dict[str, Any] = {self._form.content: joined(self._texts, Channel.CONTENT, 0)}
        if thought := joined(self._texts, Channel.REASONING, 0):
            said["thinking"] = thought
        if self._calls:
            said["tool_calls"] = self._calls
        spoken = (*REASONING_KEYS, self._form.content, "tool_calls")
        rest = {key: value for key, value in box.items() if key not in spoken}
        if self._form.nested:
            line["message"] = {"role": "assistant", **rest, **said}
        else:
            line = {**rest, **said}
        line.pop("logprobs", None)
        if self._logprobs:
            line["logprobs"] = self._logprobs
        return jsontext.dumps(line)
