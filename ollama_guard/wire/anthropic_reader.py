"""What the frames of POST /v1/messages say, one attempt at a time.

Read are Ollama's own streams (ollama anthropic/anthropic.go) and those of servers that use more of the API:
pings, signatures, citations, server tools, and calls whose arguments come in pieces.
"""

from ollama_guard.events import Channel, Done, Event, Finish, Text, ToolDelta, UpstreamError, Usage
from ollama_guard.wire.jsontext import dumps
from ollama_guard.wire.peek import Payload, error_message, number, part, string
from ollama_guard.wire.toolcalls import complete

REASONS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls"}


class MessagesReader:
    """What one attempt's frames say. Tool calls are numbered by the upstream's block index."""

    def __init__(self) -> None:
        self._prompt = 0
        self._calls: dict[int, bool] = {}  # block index of a call -> whether its arguments have begun

    def events(self, payload: Payload) -> list[Event]:
        """The news of one payload, in order; [] for what is not known."""
        match payload.get("type"):
            case "message_start":
                self._prompt = number(part(part(payload, "message"), "usage"), "input_tokens") or 0
                return []
            case "content_block_start":
                return self._start(number(payload, "index") or 0, part(payload, "content_block"))
            case "content_block_delta":
                return self._delta(number(payload, "index") or 0, part(payload, "delta"))
            case "content_block_stop":
                return self._stop(number(payload, "index") or 0)
            case "message_delta":
                return self._ending(payload)
            case "message_stop":
                return [Done()]
        if "error" in payload:  # `type` is "error", or it is Ollama's native form
            return [UpstreamError(error_message(payload))]
        return []

    def _start(self, index: int, block: Payload) -> list[Event]:
        kind = block.get("type")
        if kind == "tool_use":
            given = block.get("input")
            arguments = dumps(given).decode() if given else ""
            if not arguments:
                self._calls[index] = False
            return [ToolDelta(index, string(block, "name"), arguments, whole=bool(arguments))]
        # Other servers may put the first words into the start.
        return (
            _said(Channel.CONTENT, block, "text")
            if kind == "text"
            else _said(Channel.REASONING, block, "thinking")
        )

    def _delta(self, index: int, delta: Payload) -> list[Event]:
        match delta.get("type"):
            case "text_delta":
                return _said(Channel.CONTENT, delta, "text")
            case "thinking_delta":
                return _said(Channel.REASONING, delta, "thinking")
            case "input_json_delta" if index in self._calls:
                return self._arguments(index, string(delta, "partial_json"))
        return []

    def _arguments(self, index: int, arguments: str) -> list[Event]:
        if not arguments:
            return []
        # Ollama writes a call in one piece, so that only a first piece is tried; the end of a call that comes
        # in several is its `content_block_stop`. Trying each would cost the square of its length.
        whole = not self._calls[index] and complete(arguments)
        if whole:
            del self._calls[index]
        else:
            self._calls[index] = True
        return [ToolDelta(index, None, arguments, whole=whole)]

    def _stop(self, index: int) -> list[Event]:
        return [ToolDelta(index, None, "", whole=True)] if self._calls.pop(index, None) is not None else []

    def _ending(self, payload: Payload) -> list[Event]:
        events: list[Event] = []
        reason = string(part(payload, "delta"), "stop_reason")
        if reason:
            events.append(Finish(REASONS.get(reason, reason)))
        usage = part(payload, "usage")
        completion = number(usage, "output_tokens")
        if completion is not None:
            prompt = number(usage, "input_tokens")
            events.append(Usage(self._prompt if prompt is None else prompt, completion))
        return events


def _said(channel: Channel, payload: Payload, key: str) -> list[Event]:
    text = string(payload, key)
    return [Text(channel, text)] if text else []
