"""The stream of POST /v1/messages to the client: one message, over one or more attempts.

Promised is one `message_start`, block indexes without a gap, every block closed before the next opens, one
`message_delta` and one `message_stop`. A block that a cut attempt left open is gone on with when the next
attempt continues in the same kind of block, else it is closed.
"""

from collections.abc import Sequence
from hashlib import sha256

from ollama_guard.events import Channel, Event, Finish, Text, Usage
from ollama_guard.wire import sse
from ollama_guard.wire.anthropic_body import MessageBody
from ollama_guard.wire.anthropic_reader import REASONS, MessagesReader
from ollama_guard.wire.dialect import Request
from ollama_guard.wire.frame import Frame
from ollama_guard.wire.jsontext import dumps, loads
from ollama_guard.wire.peek import Payload, number, part, string

STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
KINDS = {Channel.REASONING: "thinking", Channel.CONTENT: "text"}
TEXT_KINDS = frozenset(KINDS.values())


class MessagesSession:
    """One message, being written to the client."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._reader = MessagesReader()
        self._parsed: tuple[Frame, Payload] | None = None
        self._started = False
        self._finished = False  # `message_delta` with a stop reason was shown
        self._done = False
        self._next = 0
        self._open: tuple[int, str] | None = None  # index and kind of the client's open block
        self._called = False
        self._ids: set[str] = set()
        self._deltas = 0
        self._prompt = 0
        self._shown_at: dict[int, int] = {}  # this attempt's block index -> the client's
        self._kinds: dict[int, str] = {}
        self._joined = False  # the open block has words of more than one attempt
        self._stopped = (
            False  # the upstream's block is at its end; the client's is open until something follows
        )
        self._whole = None if request.stream else MessageBody()

    def begin_attempt(self) -> None:
        """The upstream begins again at block 0."""
        self._reader = MessagesReader()
        self._parsed = None
        self._shown_at.clear()
        self._kinds.clear()
        self._joined = self._open is not None
        self._stopped = False

    def read(self, frame: Frame) -> Sequence[Event]:
        """Events of one frame."""
        payload = self._payload(frame)
        return self._reader.events(payload) if payload else ()

    def passed(self, frame: Frame, events: Sequence[Event]) -> None:
        """The client has the upstream's own bytes: its indexes are the client's."""
        payload = self._payload(frame)
        kind = payload.get("type")
        if kind == "content_block_delta":  # nearly every frame
            self._deltas += 1
            return
        match kind:
            case "message_start":
                self._started = True
                self._prompt = number(part(part(payload, "message"), "usage"), "input_tokens") or 0
            case "content_block_start":
                index, block = number(payload, "index") or 0, part(payload, "content_block")
                self._opened(index, block)
                self._kinds[index] = string(block, "type")
                self._shown_at[index] = index
            case "content_block_stop":
                self._open = None
            case "message_delta":
                self._finished = self._finished or any(isinstance(event, Finish) for event in events)
            case "message_stop":
                self._done = True

    def splice(self, frame: Frame, events: Sequence[Event]) -> bytes:
        """A frame of a later attempt, gone on with from what the client has."""
        if not frame.data:
            return frame.raw if frame.whole else b""  # a comment is nobody's; half a frame is of no use
        payload = self._payload(frame)
        match payload.get("type"):
            case "message_start":
                return self._splice_start(payload)
            case "content_block_start":
                return self._splice_block(payload, events)
            case "content_block_delta":
                return self._splice_delta(payload, events)
            case "content_block_stop":
                return self._texts(events) + self._splice_stop(number(payload, "index") or 0)
            case "message_delta":
                return self._texts(events) + self._splice_ending(payload, events)
            case "message_stop":
                return self._stop()
        return frame.raw if frame.whole else b""

    def text(self, delta: Text) -> bytes:
        """A delta, in the open block if it is of this kind, else in a new one."""
        kind = KINDS[delta.channel]
        start = b"" if self._is_open(kind) else self._start_block({"type": kind, kind: ""})
        self._deltas += 1
        return start + self._delta({"type": f"{kind}_delta", kind: delta.text})

    def heartbeat(self, *, data: bool) -> bytes:
        """A ping, which is valid everywhere; `data`: an empty delta where a block is open, since the SDKs
        swallow pings and only a delta reaches the timers above them."""
        if data and self._open is not None:
            kind = self._open[1]
            if kind in TEXT_KINDS:
                return self._delta({"type": f"{kind}_delta", kind: ""})
            if kind == "tool_use":
                return self._delta({"type": "input_json_delta", "partial_json": ""})
        return self._write({"type": "ping"})

    def error(self, kind: str, message: str) -> bytes:
        """`event: error`, as the Anthropic API ends a stream that fails; valid also as the first event."""
        self._done = True
        return self._write({"type": "error", "error": {"type": kind, "message": message}})

    def ending(self, reason: str) -> bytes:
        """Close the open block, give stop reason and usage, and stop. A cut attempt tells no usage: the
        completion is counted in deltas, of which Ollama writes one a token."""
        payload = {
            "type": "message_delta",
            "delta": {"stop_reason": self._stop_reason(reason), "stop_sequence": None},
            "usage": {"input_tokens": self._prompt, "output_tokens": self._deltas},
        }
        start = b"" if self._started else self._start_message()
        return start + (b"" if self._finished else self._finish(payload)) + self._stop()

    def collect(self, frame: Frame, events: Sequence[Event]) -> None:
        """What a stream would be given, kept for the one body; the guard's own text comes without a frame."""
        if frame.data:
            self.splice(frame, events)
            return
        for event in events:
            if isinstance(event, Text):
                self.text(event)

    def body(self) -> bytes:
        """The message; `{}` for a request that asked for a stream."""
        return dumps(self._whole.message()) if self._whole is not None else b"{}"

    # --- later attempts ---------------------------------------------------------------------------------

    def _splice_start(self, payload: Payload) -> bytes:
        if self._started:
            return b""
        message = dict(part(payload, "message"))
        self._prompt = number(part(message, "usage"), "input_tokens") or 0
        self._started = True
        return self._write({**payload, "message": {**message, "model": self._request.model}})

    def _splice_block(self, payload: Payload, events: Sequence[Event]) -> bytes:
        index, block = number(payload, "index") or 0, part(payload, "content_block")
        self._kinds[index] = kind = string(block, "type")
        if kind in TEXT_KINDS:
            # Opened by its first words: a block whose words are all dropped leaves nothing behind.
            before = self._close_block() if self._stopped and self._is_open(kind) else b""
            return before + self._texts(events)
        said = self._texts(events)
        self._shown_at[index] = self._next
        ident = string(block, "id")
        if ident and ident in self._ids:  # an answer to the call could not say which one it means
            block = {**block, "id": f"{ident}_{self._next}"}
        return said + self._start_block(block)

    def _splice_delta(self, payload: Payload, events: Sequence[Event]) -> bytes:
        index, delta = number(payload, "index") or 0, part(payload, "delta")
        said = self._texts(events)
        if delta.get("type") in ("text_delta", "thinking_delta"):
            return said
        if delta.get("type") == "signature_delta" and self._joined:
            return said  # it signs words of which the client has only some
        at = self._place(index)
        return said if at is None else said + self._write({**payload, "index": at})

    def _splice_stop(self, index: int) -> bytes:
        if self._open is None or self._open[0] != self._place(index):
            return b""
        # Words may follow late: a joint is undecided until the answer goes on, or ends.
        self._stopped = self._open[1] in TEXT_KINDS
        return b"" if self._stopped else self._close_block()

    def _place(self, index: int) -> int | None:
        """The client's index for this attempt's block, where it has one."""
        kind = self._kinds.get(index)
        if kind not in TEXT_KINDS:
            return self._shown_at.get(index)
        return self._open[0] if self._open and self._open[1] == kind else None

    def _splice_ending(self, payload: Payload, events: Sequence[Event]) -> bytes:
        finish = next((event for event in events if isinstance(event, Finish)), None)
        usage = next((event for event in events if isinstance(event, Usage)), None)
        delta = dict(part(payload, "delta"))
        given = string(delta, "stop_reason")
        if self._finished or (finish is None and (given or usage is None)):
            return b""
        if finish is not None:
            kept = given if REASONS.get(given, given) == finish.reason else finish.reason
            delta["stop_reason"] = self._stop_reason(kept)
        tokens = dict(part(payload, "usage"))
        if usage is not None:
            tokens |= {"input_tokens": usage.prompt, "output_tokens": usage.completion}
        return self._finish({**payload, "delta": delta, "usage": tokens})

    def _texts(self, events: Sequence[Event]) -> bytes:
        return b"".join(self.text(event) for event in events if isinstance(event, Text))

    # --- what the client is given ------------------------------------------------------------------------

    def _start_message(self) -> bytes:
        self._started = True
        self._prompt = len(self._request.body) // 4  # Ollama's own estimate, too, is characters / 4
        message: Payload = {
            "id": f"msg_{sha256(self._request.body).hexdigest()[:24]}",
            "type": "message",
            "role": "assistant",
            "model": self._request.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": self._prompt, "output_tokens": 0},
        }
        return self._write({"type": "message_start", "message": message})

    def _start_block(self, block: Payload) -> bytes:
        before = (b"" if self._started else self._start_message()) + self._close_block()
        index = self._next
        self._opened(index, block)
        return before + self._write({"type": "content_block_start", "index": index, "content_block": block})

    def _opened(self, index: int, block: Payload) -> None:
        kind = string(block, "type")
        self._open = (index, kind)
        self._ids.add(string(block, "id"))
        self._stopped = False
        self._next = max(self._next, index + 1)
        self._called = self._called or kind == "tool_use"
        self._joined = False

    def _is_open(self, kind: str | None) -> bool:
        return self._open is not None and self._open[1] == kind

    def _delta(self, delta: Payload) -> bytes:
        index = self._open[0] if self._open else 0
        return self._write({"type": "content_block_delta", "index": index, "delta": delta})

    def _close_block(self) -> bytes:
        if self._open is None:
            return b""
        index, self._open = self._open[0], None
        return self._write({"type": "content_block_stop", "index": index})

    def _finish(self, payload: Payload) -> bytes:
        self._finished = True
        return self._close_block() + self._write(payload)

    def _stop(self) -> bytes:
        if self._done:
            return b""
        self._done = True
        return self._write({"type": "message_stop"})

    def _write(self, payload: Payload) -> bytes:
        if self._whole is not None:
            self._whole.add(payload)
        return sse.event(dumps(payload), string(payload, "type"))

    def _stop_reason(self, reason: str) -> str:
        reason = STOP_REASONS.get(reason, reason)
        # A call that was shown is to be run, also when the attempt that came after it said nothing of it.
        return "tool_use" if self._called and reason in ("end_turn", "stop_sequence") else reason

    def _payload(self, frame: Frame) -> Payload:
        if self._parsed is None or self._parsed[0] is not frame:
            value = loads(frame.data) if frame.data else None
            self._parsed = (frame, value if isinstance(value, dict) else {})
        return self._parsed[1]
