"""What the frames of POST /v1/responses say, one attempt at a time.

Read are Ollama's own streams (ollama openai/responses.go) and those of servers that use more of the API:
summary parts, `reasoning_text`, custom tools, `response.incomplete`, `response.failed`.
Items are told apart by their id: Ollama gives a call the `output_index` of the message before it.
"""

from dataclasses import dataclass

from ollama_guard.events import Channel, Done, Event, Finish, Text, ToolDelta, UpstreamError, Usage
from ollama_guard.wire.peek import Payload, error_message, number, part, string
from ollama_guard.wire.responses_items import CALLS
from ollama_guard.wire.toolcalls import complete

TEXTS = {
    "response.output_text.delta": Channel.CONTENT,
    "response.reasoning_summary_text.delta": Channel.REASONING,
    "response.reasoning_text.delta": Channel.REASONING,
}


@dataclass(slots=True)
class Call:
    """A call that is being written: its number, and how many characters of its arguments came."""

    number: int
    length: int = 0
    whole: bool = False


class ResponsesReader:
    """`limit` is the token limit of the client's request; a re-issue's own is in the answer's echo of it."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._calls: dict[str, Call] = {}

    def events(self, payload: Payload) -> list[Event]:
        """The news of one payload, in order; [] for what is not known."""
        kind = string(payload, "type")
        if kind in TEXTS:
            text = string(payload, "delta")
            return [Text(TEXTS[kind], text)] if text else []
        match kind:
            case "response.output_item.added":
                return self._added(part(payload, "item"), whole=False)
            case "response.output_item.done":
                return self._added(part(payload, "item"), whole=True)
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                return self._delta(payload)
            case "response.function_call_arguments.done" | "response.custom_tool_call_input.done":
                return self._whole(self._calls.get(string(payload, "item_id")), payload)
            case "response.completed" | "response.incomplete":
                return self._ending(part(payload, "response"))
            case "response.failed":
                return [UpstreamError(error_message(part(payload, "response")))]
            case "error":
                return [UpstreamError(string(payload, "message") or error_message(payload))]
        return [UpstreamError(error_message(payload))] if not kind and "error" in payload else []

    def _added(self, item: Payload, *, whole: bool) -> list[Event]:
        name = CALLS.get(string(item, "type"))
        if name is None:
            return []
        call = self._calls.get(string(item, "id"))
        if call is not None:
            return self._whole(call, item) if whole else []
        arguments = string(item, name)
        call = Call(len(self._calls), len(arguments), whole)
        self._calls[string(item, "id")] = call
        return [ToolDelta(call.number, string(item, "name"), arguments, whole=whole)]

    def _delta(self, payload: Payload) -> list[Event]:
        call, arguments = self._calls.get(string(payload, "item_id")), string(payload, "delta")
        if call is None or not arguments:
            return []
        # Ollama writes a call in one piece, so that only a first piece is tried; trying each would cost the
        # square of its length. The end of one in several pieces is its `done`.
        if not call.length and string(payload, "type").startswith("response.function_call"):
            call.whole = complete(arguments)
        call.length += len(arguments)
        return [ToolDelta(call.number, None, arguments, whole=call.whole)]

    @staticmethod
    def _whole(call: Call | None, payload: Payload) -> list[Event]:
        if call is None or call.whole:
            return []
        call.whole = True
        rest = (string(payload, "arguments") or string(payload, "input"))[call.length :]
        call.length += len(rest)
        return [ToolDelta(call.number, None, rest, whole=True)]

    def _ending(self, response: Payload) -> list[Event]:
        usage = part(response, "usage")
        prompt, completion = number(usage, "input_tokens"), number(usage, "output_tokens")
        events: list[Event] = [Finish(self._reason(response, completion or 0))]
        if completion is not None:
            events.append(Usage(prompt or 0, completion))
        return [*events, Done()]

    def _reason(self, response: Payload, completion: int) -> str:
        incomplete = string(part(response, "incomplete_details"), "reason")
        # Ollama says "completed" also when the limit ended it (protocol facts A.5).
        limit = number(response, "max_output_tokens") or self._limit
        if incomplete == "max_output_tokens" or (limit and completion >= limit):
            return "length"
        return incomplete or ("tool_calls" if self._calls else "stop")
