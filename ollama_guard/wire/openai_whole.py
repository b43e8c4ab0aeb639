"""The one body of a client that did not ask for a stream, made from the chunks of a stream."""

from collections.abc import Mapping, Sequence
from typing import Any

from ollama_guard.events import Channel, Event, Text
from ollama_guard.wire import jsontext
from ollama_guard.wire.openai_chunks import IDENTITY, Form, choice_index
from ollama_guard.wire.textparts import joined, read_texts
from ollama_guard.wire.toolcalls import argument_text

_PLACED = frozenset({*IDENTITY, "object", "choices", "usage"})
_NO_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


class _Choice:
    """One alternative, as it grows."""

    def __init__(self) -> None:
        self.texts: list[Event] = []
        self.calls: dict[int, dict[str, Any]] = {}
        self.logprobs: list[Any] = []
        self.reason: Any = None

    def add(self, form: Form, choice: Mapping[str, Any]) -> None:
        box = choice.get("delta") if form.nested else choice
        if isinstance(box, dict):
            read_texts(box, form.content, 0, self.texts)
            for call in box.get("tool_calls") or ():
                self._call(call)
        probabilities = choice.get("logprobs")
        if isinstance(probabilities, dict) and isinstance(probabilities.get("content"), list):
            self.logprobs += probabilities["content"]
        self.reason = choice.get("finish_reason") or self.reason

    def _call(self, piece: Mapping[str, Any]) -> None:
        """The first piece of a call has its id and name, later ones more of its arguments."""
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        known = self.calls.get(piece["index"])
        if known is None:
            self.calls[piece["index"]] = {**piece, "function": {**function}}
        else:
            joined_up = (argument_text(each.get("arguments")) for each in (known["function"], function))
            known["function"]["arguments"] = "".join(joined_up)


class Whole:
    """Chunks in (as rewritten for the client: one identity, its own tool indexes), one completion out."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._choices: dict[int, _Choice] = {}
        self._usage: dict[str, Any] = _NO_USAGE
        self._more: dict[str, Any] = {}

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take in the next chunk."""
        for choice in chunk.get("choices") or ():
            self._choices.setdefault(choice_index(choice), _Choice()).add(self._form, choice)
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._usage = usage
        self._more |= {key: value for key, value in chunk.items() if key not in _PLACED}

    def say(self, events: Sequence[Event]) -> None:
        """Take in text that came in no chunk."""
        for event in events:
            if isinstance(event, Text):
                self._choices.setdefault(event.choice, _Choice()).texts.append(
                    Text(event.channel, event.text)
                )

    def body(self, identity: Mapping[str, Any], reasoning: str) -> bytes:
        """The completion. `reasoning` is the name for a thought."""
        found = self._choices or {0: _Choice()}
        choices = [self._written(index, choice, reasoning) for index, choice in sorted(found.items())]
        head = {"id": identity["id"]} if "id" in identity else {}
        value = {**head, "object": self._form.object.removesuffix(".chunk"), **identity, "choices": choices}
        return jsontext.dumps({**value, "usage": self._usage, **self._more}) + b"\n"

    def _written(self, index: int, choice: _Choice, reasoning: str) -> dict[str, Any]:
        answer = joined(choice.texts, Channel.CONTENT, 0)
        thought = joined(choice.texts, Channel.REASONING, 0)
        more = {"logprobs": {"content": choice.logprobs}} if choice.logprobs else {}
        if not self._form.nested:
            return {self._form.content: answer, "index": index, "finish_reason": choice.reason, **more}
        message: dict[str, Any] = {"role": "assistant", self._form.content: answer}
        if thought:
            message[reasoning] = thought
        if choice.calls:
            message["tool_calls"] = [call for _, call in sorted(choice.calls.items())]
        return {"index": index, "message": message, "finish_reason": choice.reason, **more}
