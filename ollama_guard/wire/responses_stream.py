"""The stream of POST /v1/responses to the client: one response, over one or more attempts.

Promised is one `response.created`, item indexes and ids that go on, sequence numbers that never go back,
every item ended before the next begins, and a `response.completed` that holds all the client was shown.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from ollama_guard.events import Channel, Done, Event, Finish, Text, UpstreamError, Usage
from ollama_guard.wire import responses_object, sse
from ollama_guard.wire.dialect import Request
from ollama_guard.wire.frame import Frame
from ollama_guard.wire.jsontext import dumps, loads
from ollama_guard.wire.peek import Payload, number, part, string
from ollama_guard.wire.responses_items import FORMS, ITEMS, KINDS, Form
from ollama_guard.wire.responses_reader import ResponsesReader
from ollama_guard.wire.responses_shown import PARTS_ADDED, PARTS_DONE, Shown

CREATED, IN_PROGRESS = "response.created", "response.in_progress"
BEGUN = (CREATED, "response.queued", IN_PROGRESS)
USUAL = {Channel.REASONING: "summary_text", Channel.CONTENT: "output_text"}
ENDED = ("response.completed", "response.incomplete", "response.failed")


class ResponsesSession:
    """One response, being written to the client. `at`: seconds since 1970, for a beginning of our own."""

    def __init__(self, request: Request, at: float) -> None:
        self._request = request
        self._at = int(at)
        self._limit = number(request.fields, "max_output_tokens")
        self._reader = ResponsesReader(self._limit)
        self._parsed: tuple[Frame, Payload] | None = None
        self._response: Payload | None = None  # as `response.created` told it
        self._last: Payload | None = None
        self._begun: set[str] = set()
        self._done = False
        self._next = 0  # sequence number
        self._numbering = False  # whether the numbers are ours by now, and not the upstream's
        self._shown = Shown()
        self._announced: dict[str, Payload] = {}  # kind -> an upstream item, shown when it says something
        self._deltas = 0

    def begin_attempt(self) -> None:
        """The upstream begins again, with items of its own."""
        self._reader = ResponsesReader(self._limit)
        self._parsed = None
        self._shown.begin_attempt()
        self._announced.clear()
        self._numbering = bool(self._begun)  # no more of the upstream's bytes will pass as they are

    def read(self, frame: Frame) -> Sequence[Event]:
        """Events of one frame."""
        payload = self._payload(frame)
        return self._reader.events(payload) if payload else ()

    def passed(self, frame: Frame, events: Sequence[Event]) -> None:
        """The client has the upstream's own bytes: its numbers, indexes and ids are the client's."""
        payload = self._payload(frame)
        if not payload:
            return
        told = number(payload, "sequence_number")
        self._next = self._next + 1 if told is None else told + 1
        self._numbering = False
        self._deltas += bool(events)  # but for the ending, an event is a delta
        kind = string(payload, "type")
        if kind in BEGUN:
            self._begun.add(kind)
            if self._response is None:
                self._response = part(payload, "response")
        elif kind in ENDED:
            self._done = True
        else:
            self._shown.passed(payload)

    def splice(self, frame: Frame, events: Sequence[Event]) -> bytes:
        """A frame of a later attempt, gone on with from what the client has."""
        payload = self._payload(frame)
        if not payload:
            return frame.raw if frame.whole and (not frame.data or self._done) else b""
        kind = string(payload, "type")
        if kind in BEGUN:
            return self._splice_begun(kind, payload)
        if kind == "response.output_item.added":
            return self._splice_added(part(payload, "item"), events)
        said = self._texts(events, KINDS.get(kind))
        if kind in ENDED:
            return said + self._splice_ending(payload, events)
        if any(isinstance(event, UpstreamError) for event in events):
            return said + self._write([payload])
        if kind in KINDS:
            return said + self._splice_call(KINDS[kind], payload)
        return said + self._splice_item(kind, payload)

    def text(self, delta: Text) -> bytes:
        """A delta, in the open item if it is of this channel, else in a new one."""
        return self._say(delta)

    def heartbeat(self, *, data: bool) -> bytes:  # noqa: ARG002  there is one form
        """A `keepalive` event, as the OpenAI API has it; before `response.created` only a comment is safe.

        While the upstream's bytes pass as they are (in the first attempt), the event takes no number of its
        own but repeats the last one, so that numbers never go back.
        """
        if not self._begun:
            return sse.COMMENT
        if self._numbering:
            return self._write([{"type": "keepalive"}])
        return _event({"type": "keepalive", "sequence_number": max(0, self._next - 1)})

    def error(self, kind: str, message: str) -> bytes:
        """`response.failed`, with what was shown until then."""
        return self._finish(
            "response.failed", {"status": "failed", "error": {"code": kind, "message": message}}
        )

    def ending(self, reason: str) -> bytes:  # noqa: ARG002  Ollama ends with `completed` whatever the reason
        """The open item ended, then `response.completed`. A cut attempt tells no usage: prompt tokens are
        Ollama's usual estimate, characters / 4, and completion tokens are counted in deltas, one each."""
        usage = responses_object.usage(Usage(len(self._request.body) // 4, self._deltas), {})
        last = {"status": "completed", "completed_at": self._at, "usage": usage}
        return self._finish("response.completed", last)

    def collect(self, frame: Frame, events: Sequence[Event]) -> None:
        """What a stream would be given, kept for the one body; the guard's own text comes without a frame."""
        if frame.data:
            self.splice(frame, events)
            return
        for event in events:
            if isinstance(event, Text):
                self.text(event)

    def body(self) -> bytes:
        """The response, in the arrangement of one that was not streamed."""
        if self._last is None:
            self.ending("stop")
        return dumps(responses_object.single(self._last or {}, self._own_item(ITEMS[Channel.CONTENT])))

    # --- later attempts ---------------------------------------------------------------------------------

    def _splice_begun(self, kind: str, payload: Payload) -> bytes:
        if kind in self._begun or self._shown.items:
            return b""
        if self._response is None and kind == CREATED:
            # A fallback model's name is not the client's business.
            self._response = {**part(payload, "response"), "model": self._request.model}
        return self._write([{**payload, "response": self._response}] if self._response is not None else [])

    def _splice_call(self, kind: str, payload: Payload) -> bytes:
        item = self._shown.item(string(payload, "item_id"))
        if item is None or FORMS[kind].position:
            return b""  # a text: its words are in the events, and its end is written when the item ends
        begin = [] if item.parts else item.begin(kind)
        delta = string(payload, "type").endswith(".delta")
        new = string(payload, "delta") if delta else string(payload, kind)[len(item.parts[-1].text) :]
        return self._write([*begin, *([item.say(new)] if new else [])])

    def _splice_item(self, kind: str, payload: Payload) -> bytes:
        if kind in PARTS_ADDED or kind in PARTS_DONE:
            return self._splice_part(kind, FORMS.get(string(part(payload, "part"), "type")))
        if kind == "response.output_item.done":
            return self._splice_done(part(payload, "item"))
        if "item_id" not in payload and "output_index" not in payload:
            return self._write([payload])
        item = self._shown.item(string(payload, "item_id"))
        if item is None:
            return b""
        return self._write([{**payload, "item_id": item.body.get("id"), "output_index": item.index}])

    def _splice_part(self, kind: str, form: Form | None) -> bytes:
        # A part begins with its first words, and ends when another begins or its item ends: words may follow
        # late, since a joint is undecided until the answer goes on, or ends.
        item = self._shown.open(form.item) if form else None
        if item is None or item.part is None:
            return b""
        if kind in PARTS_ADDED:
            return self._write(item.end_part()) if item.part.stopped else b""
        item.part.stopped = True
        return b""

    def _splice_added(self, told: Payload, events: Sequence[Event]) -> bytes:
        kind = string(told, "type")
        if kind not in ITEMS.values():
            return self._texts(events) + self._add(told)
        # Written with its first words: an item whose words are all dropped leaves nothing behind.
        self._announced[kind] = told
        item = self._shown.open(kind)
        return self._write(item.end()) if item and item.told is not None else b""

    def _splice_done(self, told: Payload) -> bytes:
        kind = string(told, "type")
        text = kind in ITEMS.values()
        item = self._shown.open(kind) if text else self._shown.item(string(told, "id"))
        if text:
            self._announced.pop(kind, None)
        if item is None:
            return b""
        item.told = told
        return b"" if text else self._write(item.end())

    def _splice_ending(self, payload: Payload, events: Sequence[Event]) -> bytes:
        if not any(isinstance(event, Finish | Done | UpstreamError) for event in events):
            return b""
        last = part(payload, "response")
        usage = next((event for event in events if isinstance(event, Usage)), None)
        if usage is not None:
            last = {**last, "usage": responses_object.usage(usage, part(last, "usage"))}
        return self._finish(string(payload, "type"), last)

    def _texts(self, events: Sequence[Event], kind: str | None = None) -> bytes:
        """`kind`: the form of a new part, where the frame tells it."""
        texts = [event for event in events if isinstance(event, Text)]
        return b"".join(self._say(event, kind) for event in texts)

    # --- what the client is given ------------------------------------------------------------------------

    def _say(self, delta: Text, kind: str | None = None) -> bytes:
        name = ITEMS[delta.channel]
        if kind is None or FORMS[kind].item != name:
            kind = USUAL[delta.channel]
        before = b""
        item = self._shown.open(name)
        if item is None:
            told = self._announced.pop(name) if name in self._announced else self._own_item(name)
            before = self._add(told)
            item = self._shown.items[-1]
        self._deltas += 1
        begin = item.begin(kind) if item.part is None else []
        return before + self._write([*begin, item.say(delta.text)])

    def _add(self, told: Payload) -> bytes:
        ended = self._end_items()
        return ended + self._write([self._shown.new(told).added()])

    def _end_items(self) -> bytes:
        # Not only the last: Ollama leaves a message open when calls come after it.
        return b"".join(self._write(item.end()) for item in self._shown.items if not item.done)

    def _own_item(self, kind: str) -> Payload:
        name = f"{self._hash()}_{len(self._shown.items)}"
        if kind == ITEMS[Channel.REASONING]:
            return {"id": f"rs_{name}", "type": kind, "summary": []}
        return {
            "id": f"msg_{name}",
            "type": kind,
            "status": "in_progress",
            "role": "assistant",
            "content": [],
        }

    def _finish(self, kind: str, last: Payload) -> bytes:
        if self._done:
            return b""
        before = self._write([]) + (b"" if kind == "response.failed" else self._end_items())
        self._done = True
        output = [item.whole(status="incomplete") for item in self._shown.items]
        self._last = responses_object.ended(self._response or {}, last, output)
        return before + self._write([{"type": kind, "response": self._last}])

    def _write(self, payloads: Iterable[Payload]) -> bytes:
        """Number the payloads and write them, with the beginning of the response where that is missing."""
        if self._response is None:
            self._response = responses_object.begun(self._request, f"resp_{self._hash()}", self._at)
            beginning = [{"type": kind, "response": self._response} for kind in (CREATED, IN_PROGRESS)]
            payloads = [*beginning, *payloads]
        out = []
        for payload in payloads:
            if (kind := string(payload, "type")) in BEGUN:
                self._begun.add(kind)
            out.append(_event({**payload, "sequence_number": self._next}))
            self._next += 1
        self._numbering = self._numbering or bool(out)
        return b"".join(out)

    def _hash(self) -> str:
        return sha256(self._request.body).hexdigest()[:24]

    def _payload(self, frame: Frame) -> Payload:
        if self._parsed is None or self._parsed[0] is not frame:
            value = loads(frame.data) if frame.data else None
            self._parsed = (frame, value if isinstance(value, dict) else {})
        return self._parsed[1]


def _event(payload: Payload) -> bytes:
    return sse.event(dumps(payload), string(payload, "type"))
