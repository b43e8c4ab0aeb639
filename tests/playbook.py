"""Inputs in, outputs out: drives one exchange by hand, with a clock that only tests move.

    play = Play("openai-chat")
    play.begin()
    play.headers()
    play.say("Blue")            # what the upstream streams, in the dialect's own form
    play.finish()
    assert play.sent == play.upstream_bytes

`play.log` holds every output in order; `play.sent` the bytes for the client; `play.bodies` each request body.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ollama_guard.engine.messages import (
    Abort,
    Begin,
    Bytes,
    ClientGone,
    Closed,
    Cut,
    Drain,
    End,
    Failed,
    Forget,
    GoOn,
    Headers,
    Input,
    Open,
    Output,
    Record,
    Send,
    Start,
    Tick,
    Trouble,
    Wake,
)
from ollama_guard.engine.policy import Policy
from ollama_guard.engine.states import State
from ollama_guard.engine.streaks import BlockCounts
from ollama_guard.engine.stream import Exchange
from ollama_guard.wire.table import DIALECTS

QUESTION = [{"role": "user", "content": "Why is the sky blue?"}]


def loop(unit: str = "The sky is blue because it is blue. ", copies: int = 40) -> str:
    """Text that every preset takes for a loop."""
    return unit * copies


class OpenAIForm:
    """How Ollama writes /v1/chat/completions."""

    media = b"text/event-stream"

    def request(self, **more: Any) -> bytes:
        return json.dumps({"model": "demo:8b", "stream": True, "messages": QUESTION, **more}).encode()

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **top: Any) -> bytes:
        chunk = {
            "id": "chatcmpl-417",
            "object": "chat.completion.chunk",
            "created": 1790000000,
            "model": "demo:8b",
            "system_fingerprint": "fp_ollama",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        } | top
        return b"data: " + json.dumps(chunk, separators=(",", ":")).encode() + b"\n\n"

    def role(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def content(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def reasoning(self, text: str) -> bytes:
        return self._chunk({"content": "", "reasoning": text})

    def tool(self, name: str, arguments: str) -> bytes:
        call = {
            "id": "call_q7r2m0xd",
            "index": 0,
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        return self._chunk({"content": "", "tool_calls": [call]})

    def end(self, reason: str) -> bytes:
        usage = {"prompt_tokens": 31, "completion_tokens": 54, "total_tokens": 85}
        return self._chunk({}, reason) + self._chunk({}, choices=[], usage=usage) + b"data: [DONE]\n\n"

    def dead(self) -> bytes:
        return self._chunk({"content": ""}, model="")


class OllamaForm:
    """How Ollama writes /api/chat."""

    media = b"application/x-ndjson"

    def request(self, **more: Any) -> bytes:
        return json.dumps({"model": "demo:8b", "messages": QUESTION, **more}).encode()

    def _line(self, message: dict[str, Any], *, done: bool = False, **top: Any) -> bytes:
        line = {
            "model": "demo:8b",
            "created_at": "2026-08-22T10:00:00.12Z",
            "message": {"role": "assistant", "content": "", **message},
            "done": done,
        } | top
        return json.dumps(line, separators=(",", ":")).encode() + b"\n"

    def role(self) -> bytes:
        return self._line({})

    def content(self, text: str) -> bytes:
        return self._line({"content": text})

    def reasoning(self, text: str) -> bytes:
        return self._line({"thinking": text})

    def tool(self, name: str, arguments: str) -> bytes:
        function = {"index": 0, "name": name, "arguments": json.loads(arguments)}
        return self._line({"tool_calls": [{"id": "call_q7r2m0xd", "function": function}]})

    def end(self, reason: str) -> bytes:
        return self._line({}, done=True, done_reason=reason, prompt_eval_count=31, eval_count=54)

    def dead(self) -> bytes:
        return json.dumps({"error": "an error was encountered while running the model"}).encode() + b"\n"


FORMS: dict[str, Any] = {"openai-chat": OpenAIForm(), "ollama-chat": OllamaForm()}


@dataclass
class Play:
    """One exchange under test."""

    name: str
    policy: Policy = field(default_factory=Policy)
    ask: dict[str, Any] = field(default_factory=dict)
    now: float = 1000.0
    memory: dict[str, bool] = field(default_factory=lambda: {"demo:8b": False})
    blocks: BlockCounts | None = None
    log: list[Output] = field(default_factory=list)
    upstream_bytes: bytes = b""

    def __post_init__(self) -> None:
        self.form = FORMS[self.name]
        self.dialect = next(d for d in DIALECTS if d.name == self.name)
        request = self.dialect.request(self.form.request(**self.ask))
        assert request is not None
        self.request = request
        self.exchange = Exchange(self.dialect, request, self.policy, memory=self.memory, blocks=self.blocks)
        self.attempt = 0
        self._wake: float | None = None

    # --- inputs ---

    def step(self, happened: Input) -> list[Output]:
        outputs = self.exchange.step(happened)
        while self.exchange.busy:
            outputs += self.exchange.step(GoOn(self.now))
        for output in outputs:
            if isinstance(output, Open):
                self.attempt = output.attempt
            elif isinstance(output, Wake):
                self._wake = output.at
        self.log += outputs
        return outputs

    def begin(self) -> "Play":
        self.step(Begin(self.now))
        return self

    def headers(self, status: int = 200, media: bytes | None = None) -> "Play":
        kind = (b"content-type", media or self.form.media)
        self.step(Headers(self.attempt, status, [kind], self.now))
        return self

    def data(self, data: bytes) -> list[Output]:
        self.upstream_bytes += data
        return self.step(Bytes(self.attempt, data, self.now))

    def role(self) -> None:
        self.data(self.form.role())

    def say(self, text: str, size: int = 7) -> None:
        self._stream(self.form.content, text, size)

    def think(self, text: str, size: int = 7) -> None:
        self._stream(self.form.reasoning, text, size)

    def _stream(self, form: Callable[[str], bytes], text: str, size: int) -> None:
        attempt = self.attempt
        for at in range(0, len(text), size):
            if self.exchange.state is not State.GUARDING or self.attempt != attempt:
                return  # the upstream was cut
            self.data(form(text[at : at + size]))

    def call(self, name: str, arguments: str = '{"path":"a.txt"}') -> None:
        self.data(self.form.tool(name, arguments))

    def finish(self, reason: str = "stop") -> None:
        attempt = self.attempt
        self.data(self.form.end(reason))
        if attempt == self.attempt:
            self.close()

    def close(self) -> None:
        self.step(Closed(self.attempt, self.now))

    def fail(self, trouble: Trouble = Trouble.RESET, message: str = "it broke") -> None:
        self.step(Failed(self.attempt, trouble, message, self.now))

    def gone(self) -> None:
        self.step(ClientGone(self.now))

    def drain(self) -> None:
        self.step(Drain(self.now))

    def wait(self, seconds: float) -> None:
        """Let time pass; every tick that was asked for is given."""
        until = self.now + seconds
        while self._wake is not None and self._wake <= until:
            self.now, self._wake = max(self._wake, self.now), None
            self.step(Tick(self.now))
        self.now = until

    def answer(self, text: str = "Because of Rayleigh scattering.") -> None:
        """A healthy attempt from headers to end."""
        self.headers()
        self.role()
        self.say(text)
        self.finish()

    # --- outputs ---

    def of(self, kind: type) -> list[Any]:
        return [output for output in self.log if isinstance(output, kind)]

    @property
    def sent(self) -> bytes:
        return b"".join(output.data for output in self.of(Send))

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(output.body) for output in self.of(Open)]

    @property
    def cuts(self) -> list[int]:
        return [output.attempt for output in self.of(Cut)]

    @property
    def status(self) -> int | None:
        starts = self.of(Start)
        assert len(starts) <= 1
        return starts[0].status if starts else None

    @property
    def end(self) -> type | None:
        terminals = [output for output in self.log if isinstance(output, End | Abort | Forget)]
        assert len(terminals) <= 1
        assert not terminals or self.log[-1] is terminals[0]
        return type(terminals[0]) if terminals else None

    @property
    def rows(self) -> list[Record]:
        return self.of(Record)

    @property
    def outcome(self) -> str:
        (row,) = [row for row in self.rows if row.event == "exchange"]
        return str(row.fields["outcome"])

    @property
    def rungs(self) -> list[str]:
        return [str(row.fields["rung"]) for row in self.rows if row.event == "verdict"]

    # --- what the client read ---

    def frames(self) -> list[dict[str, Any]]:
        """Every data-bearing frame for the client, parsed strictly; `[DONE]` is left out."""
        if self.name == "ollama-chat":
            assert not self.sent or self.sent.endswith(b"\n")
            assert b"\n\n" not in self.sent
            return [json.loads(line) for line in self.sent.splitlines()]
        frames = []
        for event in self.sent.split(b"\n\n")[:-1]:
            lines = [line for line in event.split(b"\n") if not line.startswith(b":")]
            assert len(lines) <= 1, f"glued: {event!r}"
            if lines and lines != [b"data: [DONE]"]:
                frames.append(json.loads(lines[0].removeprefix(b"data: ")))
        return frames

    def text(self, field: str = "content") -> str:
        """The client's accumulated answer (or `reasoning`)."""
        if self.name == "ollama-chat":
            key = "thinking" if field == "reasoning" else field
            return "".join(f.get("message", {}).get(key, "") for f in self.frames())
        deltas = [c["delta"] for f in self.frames() for c in f.get("choices", [])]
        return "".join(delta.get(field) or "" for delta in deltas)

    def error_type(self) -> str | None:
        for frame in self.frames():
            if "error" in frame:
                return str(frame["type"] if self.name == "ollama-chat" else frame["error"]["type"])
        return None

    def endings(self) -> int:
        """How many endings the client was given."""
        if self.name == "ollama-chat":
            return sum(1 for f in self.frames() if f.get("done"))
        return self.sent.count(b"data: [DONE]")
