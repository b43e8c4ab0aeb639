"""One client response in OpenAI's chat or completions form, over one or more upstream attempts.

Keeps the identity of the answer (id, created, model, system_fingerprint) that the client knows, and what it
has of each choice; what is written here goes on from that. For a client that did not ask for a stream the
same chunks are collected into one body.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from ollama_guard.events import Channel, Done, Event, Finish, Text, ToolDelta, UpstreamError, Usage
from ollama_guard.wire import jsontext, sse
from ollama_guard.wire.dialect import Request
from ollama_guard.wire.frame import Frame
from ollama_guard.wire.openai_choices import Choices, counts, listed, write_usage
from ollama_guard.wire.openai_chunks import IDENTITY, Form, chunk_events, error_event, frame_events
from ollama_guard.wire.openai_whole import Whole

_GENERATED = (Text, ToolDelta)


class OpenAISession:
    """See `ollama_guard.wire.dialect.Session`. `at` is the wall clock in seconds since 1970."""

    def __init__(self, form: Form, request: Request, at: float) -> None:
        self._form = form
        self._request = request
        self._at = at
        self._attempts = 0
        self._model: str | None = None  # as the first attempt wrote it
        self._seen: dict[str, Any] | None = None  # identity of the attempt being read
        self._identity: dict[str, Any] | None = None  # identity the client knows
        self._invented = False  # ... by a frame of ours alone
        self._choices = Choices(form)
        self._done = False
        self._tokens = 0  # of all attempts: about one a frame
        self._counted = False  # the client has been told the usage
        self._whole = Whole(form)
        self._last: tuple[Frame | None, Any] = (None, None)

    def begin_attempt(self) -> None:
        self._attempts += 1
        self._seen = None
        self._choices.begin_attempt()

    def read(self, frame: Frame) -> Sequence[Event]:
        chunk, events = frame_events(self._form, frame)
        self._last = (frame, chunk)
        if self._seen is None and chunk is not None and chunk.get("model"):
            self._seen = _identity(chunk)
            if self._model is None and self._attempts <= 1:
                self._model = chunk["model"]
        for event in events:
            if type(event) in _GENERATED:
                self._tokens += 1
                break
        return events

    def passed(self, frame: Frame, events: Sequence[Event]) -> None:
        if self._identity is not None and not self._invented and self._plain(events):
            return
        chunk = self._chunk(frame)
        if chunk is not None:
            if (self._identity is None or self._invented) and chunk.get("model"):
                self._identity = _identity(chunk)
                self._invented = False
            self._choices.passed(chunk)
        for event in events:
            if isinstance(event, ToolDelta):
                self._choices.tools.given(event.choice, event.index)
            elif isinstance(event, Finish):
                self._choices.finished.add(event.choice)
            elif isinstance(event, Usage):
                self._counted = True
            elif isinstance(event, Done):
                self._done = True

    def splice(self, frame: Frame, events: Sequence[Event]) -> bytes:
        if any(isinstance(event, Done) for event in events):
            self._done = True
            return sse.DONE
        chunk, news = self._rewrite(frame, events)
        return sse.event(jsontext.dumps(chunk), frame.event) if news else b""

    def text(self, delta: Text) -> bytes:
        box: dict[str, Any] = {self._form.content: ""}
        if delta.channel is Channel.CONTENT:
            box[self._form.content] = delta.text
        elif self._form.nested:
            box[self._choices.reasoning] = delta.text
        else:
            return b""  # completions have no place for a thought
        return self._own([self._choices.own(delta.choice, box)])

    def heartbeat(self, *, data: bool) -> bytes:
        if self._done:
            return b""
        if not data:
            return sse.COMMENT
        box = {self._form.content: ""}
        # No role here: the upstream's own first frame has it.
        choice = {"index": 0, "delta": box} if self._form.nested else {**box, "index": 0}
        return self._own([{**choice, "finish_reason": None}])

    def error(self, kind: str, message: str) -> bytes:
        if self._done:
            return b""
        self._done = True
        return error_event(kind, message)

    def ending(self, reason: str, usage: Usage | None = None) -> bytes:
        """`usage` is written where the client asked for it by `stream_options.include_usage`, and in a whole
        body. A cut attempt tells none: prompt tokens are then estimated as Ollama does on other routes, by
        characters / 4, and completion tokens are counted in frames, of which Ollama writes one a token."""
        if self._done:
            return b""
        out = []
        for index in self._choices.open():
            quiet = self._form.nested and index in self._choices.begun
            box = {} if quiet else {self._form.content: ""}
            ended = self._choices.reason(Finish(reason, index))
            out.append(self._own([self._choices.own(index, box, ended)]))
            self._choices.finished.add(index)
        if self._wants_usage() and not self._counted:
            used = usage or Usage(len(self._request.body) // 4, self._tokens)
            out.append(self._own([], usage=counts(used)))
        self._done = True
        return b"".join(out) + sse.DONE

    def collect(self, frame: Frame, events: Sequence[Event]) -> None:
        if not frame.data:  # text of the guard's own
            self._whole.say(events)
            return
        chunk, _ = self._rewrite(frame, events)
        if chunk:
            self._whole.add(chunk)

    def body(self) -> bytes:
        return self._whole.body(self._known(), self._choices.reasoning)

    def _wants_usage(self) -> bool:
        options = self._request.fields.get("stream_options")
        asked = isinstance(options, dict) and options.get("include_usage") is True
        return asked or not self._request.stream

    def _plain(self, events: Sequence[Event]) -> bool:
        """Whether this is only more text of choices that have begun: nothing to remember."""
        begun = self._choices.begun
        for event in events:
            if type(event) is not Text or event.choice not in begun:
                return False
        return bool(events)

    def _chunk(self, frame: Frame) -> dict[str, Any] | None:
        known, chunk = self._last
        if known is not frame:
            chunk, _ = frame_events(self._form, frame)
        return chunk if isinstance(chunk, dict) else None

    def _rewrite(self, frame: Frame, events: Sequence[Event]) -> tuple[dict[str, Any], bool]:
        """The chunk of a frame as it goes to the client, and whether it says anything."""
        found = self._chunk(frame)
        if found is None:
            return {}, False
        own = chunk_events(self._form, found)
        chunk = dict(found)
        if self._identity is None:
            self._identity = _identity(chunk) | {"model": self._model or self._request.model}
        for key in IDENTITY:
            if key in self._identity:
                chunk[key] = self._identity[key]
            else:
                chunk.pop(key, None)
        news = "choices" not in chunk or any(isinstance(event, UpstreamError) for event in own)
        if "choices" in chunk:
            taken = self._choices.taken(listed(chunk))
            choices = [self._choices.rewrite(choice, events) for choice in taken]
            news = any(said for _, said in choices) or news
            chunk["choices"] = [choice for choice, _ in choices] + self._choices.left_behind(events)
        counted = write_usage(chunk, own, events)
        self._counted = self._counted or counted
        return chunk, counted or news

    def _own(self, choices: list[dict[str, Any]], **more: Any) -> bytes:
        """A chunk of ours under the identity that the client knows, or will know."""
        head = self._known()
        first = {"id": head["id"]} if "id" in head else {}
        chunk = {**first, "object": self._form.object, **head, "choices": choices, **more}
        if not self._request.stream:
            self._whole.add(chunk)
        return sse.event(jsontext.dumps(chunk))

    def _known(self) -> dict[str, Any]:
        """The identity of the answer: the client's, else that of a frame it does not have yet, else ours."""
        if self._identity is None:
            self._invented = self._seen is None
            self._identity = dict(self._seen or self._invent())
            self._identity["model"] = self._model or self._request.model
        return self._identity

    def _invent(self) -> dict[str, Any]:
        """An identity as Ollama's are: a number below 999, here drawn from the request itself."""
        number = int.from_bytes(hashlib.sha256(self._request.body).digest()[:4]) % 999
        return {
            "id": f"{self._form.prefix}{number}",
            "created": int(self._at),
            "model": self._request.model,
            "system_fingerprint": "fp_ollama",
        }


def _identity(chunk: Mapping[str, Any]) -> dict[str, Any]:
    return {key: chunk[key] for key in IDENTITY if key in chunk}
