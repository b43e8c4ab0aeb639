"""One client response in Ollama's own chat or generate form, over one or more upstream attempts.

Each line stands for itself, so little has to be remembered: the model's name, the time that was last
seen, tool call indexes, and whether the last line was written.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from ollama_guard.events import Channel, Done, Event, Finish, Text, ToolDelta, UpstreamError, Usage
from ollama_guard.wire import jsontext
from ollama_guard.wire.dialect import Request
from ollama_guard.wire.frame import Frame
from ollama_guard.wire.ollama_lines import ENDING, Form, failure, line_events, tool_deltas
from ollama_guard.wire.ollama_whole import Whole
from ollama_guard.wire.textparts import joined, write_texts
from ollama_guard.wire.toolcalls import Indexes, pair

_IDENTITY = ("model", "remote_model", "remote_host")
_GENERATED = (Text, ToolDelta)


class OllamaSession:
    """See `ollama_guard.wire.dialect.Session`. `at` is the wall clock in seconds since 1970."""

    def __init__(self, form: Form, request: Request, at: float) -> None:
        self._form = form
        self._request = request
        self._created_at: str = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
        self._attempts = 0
        self._identity: dict[str, Any] | None = None  # as the first attempt wrote it, or the client knows it
        self._calls: set[int] = set()  # indexes read in this attempt
        self._tools = Indexes()
        self._done = False
        self._tokens = 0  # of all attempts: about one a line
        self._whole = Whole(form)
        self._last: tuple[Frame | None, Any] = (None, None)

    def begin_attempt(self) -> None:
        self._attempts += 1
        self._calls.clear()
        self._tools.begin_attempt()

    def read(self, frame: Frame) -> Sequence[Event]:
        line = jsontext.loads(frame.data) if frame.data else None
        self._last = (frame, line)
        if not isinstance(line, dict):
            return []
        created = line.get("created_at")
        if isinstance(created, str):
            self._created_at = created
        if self._identity is None and self._attempts <= 1 and line.get("model"):
            self._identity = {key: line[key] for key in _IDENTITY if key in line}
        events = line_events(self._form, line)
        kinds = {type(event) for event in events}
        self._tokens += not kinds.isdisjoint(_GENERATED)
        if ToolDelta in kinds:
            return [self._numbered(event) if isinstance(event, ToolDelta) else event for event in events]
        return events

    def passed(self, frame: Frame, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, ToolDelta):
                self._tools.given(0, event.index)
            elif isinstance(event, Done | UpstreamError):  # nothing may follow an error line either
                self._done = True
        if self._identity is None:
            line = self._line(frame)
            if line is not None and line.get("model"):
                self._identity = {key: line[key] for key in _IDENTITY if key in line}

    def splice(self, frame: Frame, events: Sequence[Event]) -> bytes:
        line, news = self._rewrite(frame, events)
        return jsontext.dumps(line) + b"\n" if news else b""

    def text(self, delta: Text) -> bytes:
        key = self._form.content if delta.channel is Channel.CONTENT else "thinking"
        return self._own({self._form.content: "", key: delta.text})

    def heartbeat(self, *, data: bool) -> bytes:  # noqa: ARG002  blank lines and comments break clients: facts E.2
        return b"" if self._done else self._own({self._form.content: ""})

    def error(self, kind: str, message: str) -> bytes:
        if self._done:
            return b""
        self._done = True
        return failure(kind, message) + b"\n"

    def ending(self, reason: str, usage: Usage | None = None) -> bytes:
        """`usage` fills the token counts of the last line. A cut attempt tells none: prompt tokens are then
        estimated by characters / 4, and the others counted in lines, of which Ollama writes one a token."""
        if self._done:
            return b""
        self._done = True
        used = usage or Usage(len(self._request.body) // 4, self._tokens)
        counts = {"prompt_eval_count": used.prompt, "eval_count": used.completion}
        reason = "stop" if reason == "tool_calls" else reason  # Ollama has no word of its own for calls
        return self._own({self._form.content: ""}, done=True, done_reason=reason, **counts)

    def collect(self, frame: Frame, events: Sequence[Event]) -> None:
        if not frame.data:  # text of the guard's own
            self._whole.say(events)
            return
        line, _ = self._rewrite(frame, events)
        if line:
            self._whole.add(line)

    def body(self) -> bytes:
        return self._whole.body(self._spoken({self._form.content: ""}, done=False))

    def _rewrite(self, frame: Frame, events: Sequence[Event]) -> tuple[dict[str, Any], bool]:
        """The line of a frame as it goes to the client, and whether it says anything."""
        found = self._line(frame)
        if found is None:
            return {}, False
        if any(isinstance(event, UpstreamError) for event in line_events(self._form, found)):
            self._done = True
            return found, True
        line = dict(found)
        known = self._known()
        for key in _IDENTITY:
            if key in known:
                line[key] = known[key]
            else:
                line.pop(key, None)
        said = self._write(line, events)
        ended = self._end(line, events)
        return line, bool(said or ended or line.get("logprobs"))

    def _line(self, frame: Frame) -> dict[str, Any] | None:
        known, line = self._last
        if known is not frame:
            line = jsontext.loads(frame.data) if frame.data else None
        return line if isinstance(line, dict) else None

    def _known(self) -> dict[str, Any]:
        """The identity of the answer; where no attempt has shown one, the name the client asked for."""
        if self._identity is None:
            self._identity = {"model": self._request.model}
        return self._identity

    def _numbered(self, delta: ToolDelta) -> ToolDelta:
        """Each call is whole, so an index that is read again, or was not written, is another call's."""
        index = delta.index
        while index in self._calls:
            index += 1
        self._calls.add(index)
        return delta if index == delta.index else replace(delta, index=index)

    def _write(self, line: dict[str, Any], events: Sequence[Event]) -> bool:
        """Make the line say what the events say; true if that is anything."""
        box = self._form.box(line)
        if box is None:
            return True  # not a line we know: it goes through
        if self._form.nested:
            box = line["message"] = dict(box)
        thought, answer = (joined(events, channel, 0) for channel in Channel)
        if write_texts(box, self._form.content, "thinking", thought, answer):
            line.pop("logprobs", None)  # they are of the tokens that were there
        return bool(self._write_calls(box, events) or thought or answer)

    def _write_calls(self, box: dict[str, Any], events: Sequence[Event]) -> bool:
        if "tool_calls" not in box:
            return False
        own = tool_deltas(box)
        entries = [each for each in box["tool_calls"] or () if _is_call(each)] if own else []
        wanted = [event for event in events if isinstance(event, ToolDelta)]
        kept = []
        for entry, said, delta in zip(entries, own, pair(own, wanted), strict=True):
            if delta is None:
                continue
            function = dict(entry["function"])
            index = self._tools.place(delta)
            if "index" in function:
                function["index"] = index
            if (said.name, said.arguments) != (delta.name, delta.arguments):
                value = jsontext.loads(delta.arguments.encode("utf-8", "surrogatepass"))
                function |= {"name": delta.name, "arguments": {} if value is None else value}
            kept.append({**entry, "function": function})
        if kept:
            box["tool_calls"] = kept
        else:
            del box["tool_calls"]
        return bool(kept)

    def _end(self, line: dict[str, Any], events: Sequence[Event]) -> bool:
        """Write the ending that the events have, or make the line one of the middle; true if it ends."""
        if not any(isinstance(event, Done) for event in events):
            if line.get("done") is True:
                line["done"] = False
                for key in ENDING:
                    line.pop(key, None)
            return False
        self._done = True
        for event in events:
            if isinstance(event, Finish) and event.reason != (line.get("done_reason") or "stop"):
                line["done_reason"] = event.reason
            elif isinstance(event, Usage):
                line |= {"prompt_eval_count": event.prompt, "eval_count": event.completion}
        return True

    def _own(self, box: dict[str, Any], *, done: bool = False, **more: Any) -> bytes:
        """A line of ours, with all the fields that strict clients ask for."""
        line = self._spoken(box, done=done) | more
        if not self._request.stream:
            self._whole.add(line)
        return jsontext.dumps(line) + b"\n"

    def _spoken(self, box: dict[str, Any], *, done: bool) -> dict[str, Any]:
        place = {"message": {"role": "assistant", **box}} if self._form.nested else box
        return {**self._known(), "created_at": self._created_at, **place, "done": done}


def _is_call(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("function"), dict)
