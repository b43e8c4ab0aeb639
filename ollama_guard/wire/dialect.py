"""What every dialect offers. A dialect is one API's way of asking for and streaming a generation.

A `Dialect` is stateless. Reading a request gives a `Request`; a `Request` opens a `Session`, which is the
one client response being written in this dialect, over one or more upstream attempts. Both are pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ollama_guard.events import Event, Text
from ollama_guard.history import Call, Round, Said, Talk
from ollama_guard.wire.frame import Frame, Framing
from ollama_guard.wire.talk import talk


@dataclass(frozen=True, slots=True)
class Sampler:
    """Values for the sampler of a re-issue; None leaves a value as the client set it."""

    temperature: float | None = None
    top_p: float | None = None
    repeat_penalty: float | None = None
    frequency_penalty: float | None = None
    seed: int | None = None


MOVED = Sampler(temperature=0.9, top_p=0.95, repeat_penalty=1.15)
"""Away from what looped."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A tool call that was not delivered to the client, and what the model is told instead of its result."""

    call: Call
    message: str


@dataclass(frozen=True, slots=True)
class Reissue:
    """How the client's request is changed for the next attempt. Always applied to the original request.

    steer:        text of a user message, appended at the very end of the conversation; None for none.
    partial:      clean answer text that the client already has; it becomes an assistant turn before `steer`.
    prefill:      the partial assistant turn comes last and is to be continued in place (then no `steer`).
    no_think:     thinking off, in the dialect's own way.
    sampler:      sampler values to set where the dialect has them; others are dropped silently.
    token_factor: the token limit, where the request has one, is multiplied by this ...
    token_cap:    ... and clamped to this.
    model:        another model to ask, or None.
    refused:      calls that were refused, oldest first: each becomes an assistant turn with that call and a
                  result for it, in the dialect's own form, before `partial` and `steer`.
    last:         this is the last attempt that the budgets allow: `keep_alive: 0` stays as it is.
    """

    steer: str | None = None
    partial: str = ""
    prefill: bool = False
    no_think: bool = False
    sampler: Sampler | None = None
    token_factor: int = 1
    token_cap: int = 1_000_000
    model: str | None = None
    last: bool = False
    refused: tuple[Refused, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """The client's generation request, as far as the guard needs it.

    body:   the very bytes of the client. fields: the same, decoded; never changed.
    tools:  whether the request offers tools (a silent gap may then be a call being written).
    format: whether the answer is JSON by request (`format`, `response_format`).
    thinking: whether thinking is asked for explicitly (True), off (False) or left open (None).
    prompt: what the user said, for a repetition that was asked for; "" when not extracted.
    """

    body: bytes
    fields: Mapping[str, Any]
    model: str
    stream: bool
    tools: bool = False
    format: bool = False
    thinking: bool | None = None
    prompt: str = field(default="", repr=False)

    def talk(self) -> Talk:
        """All that is said in the request. Read anew each time: few answers ever need it."""
        return talk(self.fields)


class Session(Protocol):
    """One client response over its attempts. Reads upstream frames, and writes what is not upstream's own.

    The engine calls `begin_attempt` before an attempt's frames, `read` once for each frame in order, and
    then exactly one of `passed` (the frame's raw bytes went to the client), `splice` (a later attempt's
    frame is re-rendered to go on from what the client has) or nothing (the frame was dropped). Several
    frames may be read before they are passed or spliced (hold-back), always in order.
    """

    def begin_attempt(self) -> None:
        """Forget what belongs to one attempt only (open blocks of the upstream, partial tool calls)."""

    def read(self, frame: Frame) -> Sequence[Event]:
        """Events of one frame, in order; () for what is not known or not JSON. Never raises."""

    def passed(self, frame: Frame, events: Sequence[Event]) -> None:
        """The client has been given `frame.raw`: remember id, model, created, role, indexes, open blocks."""

    def splice(self, frame: Frame, events: Sequence[Event]) -> bytes:
        """The same news as a continuation of what the client has: its first id, model and created, no second
        role or message start, tool and block indexes that go on. `events` may differ from what `read` gave
        (text trimmed at the joint, usage summed): they win over the frame. May be b"" ."""

    def text(self, delta: Text) -> bytes:
        """A frame (or frames) with this text, valid at this point of the client's stream."""

    def heartbeat(self, *, data: bool) -> bytes:
        """Whole frames that say nothing. `data`: one that also resets timers above the SSE parser, where the
        dialect has such a form; else the cheapest that is safe (protocol facts E.1, E.2)."""

    def error(self, kind: str, message: str) -> bytes:
        """The error in the dialect's mid-stream form (`type` = kind), and the terminator if it has one."""

    def ending(self, reason: str) -> bytes:
        """A normal end as the model's own (`stop`, `length`), terminator included; closes open blocks."""

    def collect(self, frame: Frame, events: Sequence[Event]) -> None:
        """For a client that asked for no stream, in place of `passed` and `splice`: keep what `body` needs.
        Called over all attempts; like in `splice`, `events` win over the frame, which is empty for text
        of the guard's own."""

    def body(self) -> bytes:
        """The one JSON body that Ollama would have sent for what was collected. Complete after a finish event
        was collected; after `ending(reason)` was called it is the body of an answer that ended so."""


class Dialect(Protocol):
    """One API: which path, how it is framed, how a request is read and rebuilt."""

    name: str
    path: str
    framing: Framing
    media_type: str
    """The content type of a streamed answer."""
    single_type: str
    """The content type of an answer that is not streamed."""

    def request(self, body: bytes) -> Request | None:
        """Read a request; None for what is not a generation to be guarded (not a JSON object, no model, no
        messages or prompt = load/unload, `_debug_render_only`): it is relayed untouched. Never raises."""

    def session(self, request: Request, *, at: float = 0.0) -> Session:
        """A fresh client response for this request. `at`: wall clock seconds, for stamps of our own."""

    def history(self, request: Request) -> Iterator[Round | Said]:
        """The conversation from its end: rounds of tool calls and the user's messages, newest first, lazily.
        Other messages are passed over. A trailing call without a result gives a Round with no results."""

    def rebuild(self, request: Request, plan: Reissue) -> bytes:
        """The JSON body of the next attempt. What the plan does not name stays as the client sent it."""

    def failure(self, status: int, kind: str, message: str) -> bytes:
        """The JSON body of an error response before the stream began (`status` is sent by the caller)."""
