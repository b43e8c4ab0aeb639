"""The client's side of an exchange: what has been begun, shown and said, and when it last heard anything.

Everything for the client goes through here, so that "one start, whole frames, one end" is held in one place.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ollama_guard.engine.messages import Abort, End, Forget, Header, Output, Send, Start
from ollama_guard.engine.states import EngineError
from ollama_guard.events import Channel, Event, Text, ToolDelta
from ollama_guard.wire.dialect import Dialect, Request, Session
from ollama_guard.wire.frame import Frame, Framing
from ollama_guard.wire.headers import for_client

SHOWN_KEPT = 1 << 20
"""Characters of shown answer kept for going on from it; of a longer answer the end is kept."""

OF_THE_STREAM = frozenset({b"content-type", b"cache-control", b"connection", b"x-accel-buffering"})
"""Headers that belong to the stream which the guard asked for, not to the single body that the client did."""

NO_LIMITS: Mapping[Channel, int | None] = MappingProxyType({})


class ShownText:
    """Answer text that the client has of one attempt."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._base = 0
        self.length = 0

    def add(self, text: str) -> None:
        """Append what was just shown."""
        self._parts.append(text)
        self.length += len(text)
        if self.length - self._base > 2 * SHOWN_KEPT:
            kept = "".join(self._parts)[-SHOWN_KEPT:]
            self._parts = [kept]
            self._base = self.length - len(kept)

    def text(self, start: int) -> str:
        """The text from an offset on (code points from the attempt's start), as far as it is kept."""
        return "".join(self._parts)[max(0, start - self._base) :]


class ClientSide:
    """Writes to the client through outputs that `take` hands over."""

    def __init__(
        self, dialect: Dialect, request: Request, session: Session, own_headers: Sequence[Header] = ()
    ) -> None:
        """`own_headers` go with a response that the guard begins before the upstream, or instead of it."""
        self.session = session
        self._own_headers = own_headers
        self.whole = not request.stream
        self.piped = False  # what comes is not ours to read, and goes through as it is
        self.started = False
        self.ended = False
        self.inside_frame = False
        self.spoke_first = False  # before any frame of the upstream's
        self._passed = False
        self.told = False  # any frame of ours or the upstream's: later attempts go on from it
        self.called = False
        self.thought = False
        self.sent_bytes = 0
        self.heartbeats = 0
        self.last_sent = 0.0
        self.shown = ShownText()  # of the attempt that runs
        self._last_data = 0.0
        self._headers: Sequence[Header] = ()
        self._waiting: list[tuple[Frame, Sequence[Event]]] = []
        self._dialect = dialect
        self._parts: list[bytes] = []
        self._outputs: list[Output] = []

    def take(self) -> list[Output]:
        """The outputs since the last call; bytes that follow each other are one `Send`."""
        self._flush()
        outputs, self._outputs = self._outputs, []
        return outputs

    def put(self, output: Output) -> None:
        """Queue an output that is not for the client, in its place among the others."""
        self._flush()
        self._outputs.append(output)

    def before_the_end(self, output: Output) -> None:
        """Put an output right before the terminal one, which is the last so far."""
        self._outputs.insert(len(self._outputs) - 1, output)

    def start(self, status: int, headers: Sequence[Header], now: float) -> None:
        """Begin the response."""
        if self.started:
            raise EngineError("a response was to be started twice")
        self.started = True
        self.last_sent = self._last_data = now
        self.put(Start(status, headers))

    def start_stream(self, extra: Sequence[Header], now: float) -> None:
        """Begin the response before the upstream has: 200 and what the client asked for."""
        kind = self._dialect.single_type if self.whole else self._dialect.media_type
        self.start(200, [(b"content-type", kind.encode()), *extra, *self._own_headers], now)

    def begin(self, status: int, headers: Sequence[Header], extra: Sequence[Header], now: float) -> None:
        """The upstream's stream has begun, and the client's with it, unless it waits for a whole."""
        if self.whole:
            self._headers = [h for h in for_client(headers, extra) if h[0].lower() not in OF_THE_STREAM]
        elif not self.started:
            self.start(status, for_client(headers, extra), now)

    def next_attempt(self) -> None:
        """What is shown from now on belongs to another attempt."""
        self.shown = ShownText()

    def restart(self, session: Session) -> None:
        """Nothing of what was collected is kept."""
        self._waiting.clear()
        self.session = session

    def settle(self, limits: Mapping[Channel, int | None] = NO_LIMITS) -> None:
        """What a client that waits for a whole has of this attempt: all, or each channel up to a length."""
        left = dict(limits)
        for frame, events in self._waiting:
            self.session.collect(
                frame, [kept for event in events if (kept := _within(event, left)) is not None]
            )
        self._waiting.clear()

    def raw(self, data: bytes, now: float) -> None:
        """Bytes that are not ours to read."""
        self._send(data, now)

    def passed(self, frame: Frame, events: Sequence[Event], now: float) -> None:
        """Forward a frame as it came."""
        self._shown(events)
        if self.whole:
            self._waiting.append((frame, events))
            return
        self.session.passed(frame, events)
        self.inside_frame = not frame.whole
        self._send(frame.raw, now)
        self.told = self._passed = True

    def spliced(self, frame: Frame, events: Sequence[Event], now: float) -> None:
        """Forward a later attempt's frame as the continuation of what the client has."""
        self._shown(events)
        if self.whole:
            self._waiting.append((frame, events))
            return
        data = self.session.splice(frame, events)
        if data:
            self._send(data, now)
            self.told = self._passed = True

    def text(self, text: str, now: float) -> None:
        """Answer text of our own."""
        delta = Text(Channel.CONTENT, text)
        self._shown([delta])
        if self.whole:
            self.settle()
            self.session.collect(Frame(b""), [delta])
        else:
            self._send(self.session.text(delta), now)
            self.told = True

    def heartbeat(self, data_sec: float, now: float) -> None:
        """Say nothing, in a whole frame; to one that waits for JSON, a blank in front of it (RFC 8259 §2)."""
        data = now - self._last_data >= data_sec
        beat = b" " if self.whole else self.session.heartbeat(data=data)
        self._send(beat, now, data_bearing=data)
        self.heartbeats += 1
        # With no frame of the upstream's before it, its identity is made up, and all that comes must have it.
        self.spoke_first |= data and not self._passed
        self.told = True

    def error(self, status: int, kind: str, message: str, now: float) -> None:
        """Tell the failure, by status if the response has not begun and in a frame if it has; then end."""
        if not self.started:
            self.refuse(status, kind, message, now)
        elif self.whole:
            self.abort(now)  # 200 is said, and half a body: only a broken connection is understood now
        else:
            self._send(self._closing_frame() + self.session.error(kind, message), now)
            self.end(now)

    def refuse(
        self, status: int, kind: str, message: str, now: float, headers: Sequence[Header] = ()
    ) -> None:
        """An error response of our own, instead of a stream."""
        body = self._dialect.failure(status, kind, message)
        own = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        self.start(status, [*own, *headers, *self._own_headers], now)
        self._send(body, now)
        self._terminal(End())

    def ending(self, reason: str, note: str, now: float) -> None:
        """End as the model's own end would, with a note as the last of the answer (calls take none)."""
        if note and not self.called:
            self.text(note, now)
        self.settle()
        closing = self._closing_frame() + self.session.ending(reason)
        if not self.whole:
            self._send(closing, now)
        self.end(now)

    def end(self, now: float) -> None:
        """End as HTTP says; one that waits for a whole gets it now."""
        if self.whole and not self.piped:
            self.settle()
            body = self.session.body()
            if not self.started:
                length = (b"content-length", str(len(body)).encode())
                kind = (b"content-type", self._dialect.single_type.encode())
                self.start(200, [kind, *self._headers, length], now)
            self._send(body, now)
        self._terminal(End())

    def abort(self, now: float) -> None:
        """Close the connection without an ending."""
        if not self.started:
            self.start_stream((), now)  # a server can only break off what has begun
        self._terminal(Abort())

    def forget(self) -> None:
        """The client is gone."""
        self._parts.clear()
        self._terminal(Forget())

    def _closing_frame(self) -> bytes:
        # A frame that broke off is ended first, so that no two events are ever glued together.
        if not self.inside_frame:
            return b""
        return b"\n\n" if self._dialect.framing is Framing.SSE else b"\n"

    def _terminal(self, output: Output) -> None:
        if self.ended:
            raise EngineError("an exchange was to be ended twice")
        self.ended = True
        self.put(output)

    def _shown(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Text) and event.choice == 0:
                if event.channel is Channel.CONTENT:
                    self.shown.add(event.text)
                else:
                    self.thought = True
            elif isinstance(event, ToolDelta):
                self.called = True

    def _send(self, data: bytes, now: float, *, data_bearing: bool = True) -> None:
        if self.ended:
            raise EngineError("something was to be sent after the end")
        self._parts.append(data)
        self.sent_bytes += len(data)
        self.last_sent = now
        if data_bearing:
            self._last_data = now

    def _flush(self) -> None:
        if self._parts:
            self._outputs.append(Send(b"".join(self._parts)))
            self._parts.clear()


def _within(event: Event, left: dict[Channel, int | None]) -> Event | None:
    """The event as far as its channel's length allows; what is left of that is counted down."""
    if not isinstance(event, Text) or event.choice:
        return event
    limit = left.get(event.channel)
    if limit is None:
        return event
    left[event.channel] = max(0, limit - len(event.text))
    kept = event.text[:limit]
    return Text(event.channel, kept) if kept else None
