"""Plays one script as one response: paces it, writes it, and stops at once when the client is gone."""

import json
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from mocks.ask import Ask
from mocks.dialects import STREAMED_ARGUMENTS, Call, Chunk, Meter, Part, error_body, voice
from mocks.dialects.base import call_id
from mocks.http1 import Response
from mocks.journal import FAULT, FINISHED, Entry
from mocks.script import Script, Step
from mocks.text import pieces

MAX_EVENTS = 100_000  # like num_predict: a generation that nobody cuts ends here, by length


class Break(Exception):
    """The script ends the response in its own way: a fault, or an error after the start."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(message or kind)
        self.kind = kind


class ClientLeft(Exception):
    """The client is gone; nothing more is generated."""


@dataclass
class Player:
    """One generation. `delay` is the pause between events where the script names none."""

    ask: Ask
    script: Script
    response: Response
    entry: Entry
    delay: float
    _events: int = 0
    _calls: int = 0
    _started: float = field(default_factory=time.monotonic)

    async def play(self) -> str:
        """Write the whole response; how it ended, in the journal's words."""
        if self.script.status:
            return await self._refuse(self.script.status, self.script.message, dict(self.script.headers))
        try:
            if self.ask.stream:
                await self._stream()
            else:
                await self._whole()
        except ClientLeft:
            return self.response.link.gone or "client_closed"
        except Break as broken:
            return await self._broken(broken)
        return FINISHED

    # --- how it is written ---

    async def _stream(self) -> None:
        speaker = voice(self.ask)
        squeeze = zlib.compressobj(wbits=31) if self.script.coding == "gzip" else None
        headers = dict(speaker.headers(stream=True))
        if squeeze:
            headers["Content-Encoding"] = "gzip"
        try:
            async for item in self._records():
                for data in speaker.stream(item) if isinstance(item, Chunk) else (item,):
                    await self._put(headers, _squeezed(squeeze, data), item)
        except Break as broken:
            if broken.kind != "error" or not self.response.status:
                raise
            for data in speaker.failed(str(broken)):
                await self._put(headers, _squeezed(squeeze, data), None)
        if not self.response.status:  # nothing at all was generated
            await self.response.start(200, tuple(headers.items()))
        if squeeze:
            await self.response.chunk(squeeze.flush())
        await self.response.end()

    async def _put(self, headers: dict[str, str], data: bytes, item: Any) -> None:
        if self.response.status:
            written = await self.response.chunk(data)
        else:
            written = await self.response.start(200, tuple(headers.items()), data)
        self.entry.status = self.response.status
        self.entry.wrote(len(item.think) + len(item.say) if isinstance(item, Chunk) else 0)
        if not written:
            raise ClientLeft

    async def _whole(self) -> None:
        said = Chunk()
        try:
            async for item in self._records():
                if isinstance(item, Chunk):
                    said = replace(item, think=said.think + item.think, say=said.say + item.say,
                                   calls=said.calls + item.calls)  # fmt: skip
                    self.entry.wrote(len(item.think) + len(item.say))
                if self.response.link.gone:
                    raise ClientLeft
        except Break as broken:
            if broken.kind != "eof":
                raise
        speaker = voice(self.ask)
        self.entry.status = 200
        if not await self.response.send(200, speaker.headers(stream=False), speaker.whole(said)):
            raise ClientLeft

    async def _broken(self, broken: Break) -> str:
        if broken.kind == "error":  # before the first byte: it still has a status
            return await self._refuse(500, str(broken), {})
        if broken.kind == "eof":
            await (self.response.end() if self.response.status else self._empty())
            return FINISHED
        if broken.kind == "reset":
            self.response.link.reset()
        else:
            self.response.link.close()
        return FAULT

    async def _empty(self) -> None:
        """200 and a content type, and not one event."""
        await self.response.start(200, voice(self.ask).headers(stream=True))
        self.entry.status = 200
        await self.response.end()

    async def _refuse(self, status: int, message: str, headers: dict[str, str]) -> str:
        own, body = error_body(self.ask.path, status, message)
        self.entry.status = status
        sent = await self.response.send(status, (*own, *headers.items()), body)
        return FINISHED if sent else self.response.link.gone or "client_closed"

    # --- what is generated ---

    async def _records(self) -> AsyncIterator[Chunk | bytes]:
        for step in self.script.steps:
            pause = self._pause(step)
            if step.kind == "wait":
                await self._wait(step.value)
            elif step.kind in ("error", "fault"):
                raise Break("error" if step.kind == "error" else step.value, str(step.value))
            elif step.kind == "raw":
                await self._wait(pause)
                yield self._raw(step.value)
            elif step.kind == "end":
                yield self._final(step.value, step)
                return
            else:
                for chunk in self._chunks(step):
                    # Without a pause the write itself lets others run; where nothing is written, this must.
                    if pause or chunk is None or not self.ask.stream:
                        await self._wait(pause)
                    self._events += 1
                    if chunk is not None:
                        yield chunk
                    if self._spent():
                        yield self._final("length")
                        return
        yield self._final("stop")

    def _raw(self, value: Any) -> bytes:
        if isinstance(value, dict):
            value = value["ndjson" if self.ask.path.startswith("/api/") else "sse"]
        return str(value).encode()

    def _pause(self, step: Step) -> float:
        for delay in (step.options.get("delay"), self.script.delay, self.delay):
            if delay is not None:
                return float(delay)
        return 0.0

    async def _wait(self, seconds: float | None) -> None:
        if not await self.response.link.pause(seconds):
            raise ClientLeft

    def _spent(self) -> bool:
        limit = self.ask.limit if self.script.limited else None
        return self._events >= min(MAX_EVENTS, limit or MAX_EVENTS)

    def _chunks(self, step: Step) -> Iterator[Chunk | None]:
        """The records of a step that generates; None where something is generated that no byte shows."""
        if step.kind == "call":
            yield Chunk(calls=self._made(step.value))
        elif step.kind == "arguments":
            yield from self._argued(step)
        elif step.kind == "say":
            yield from (Chunk(say=text) for text in pieces(step, self.ask))
        elif not (step.options.get("optional") and self.ask.thinking_off):
            yield from (Chunk(think=text) for text in pieces(step, self.ask))

    def _made(self, value: Any) -> tuple[Call, ...]:
        calls = value if isinstance(value, list) else [value]
        first, self._calls = self._calls, self._calls + len(calls)
        return tuple(
            Call(call["name"], call["arguments"], first + number) for number, call in enumerate(calls)
        )

    def _argued(self, step: Step) -> Iterator[Chunk | None]:
        """A call in pieces: streamed where the dialect can, else silence and then the whole call."""
        name, rest, ident = step.value["name"], str(step.options.get("more", "")), call_id()
        index, self._calls = self._calls, self._calls + 1
        streamed = self.ask.stream and self.ask.path in STREAMED_ARGUMENTS
        first, said = True, ""
        opening = step.value.get("open")
        texts = pieces(Step("say", step.value["text"], step.options), self.ask)
        for text in chain([opening] if opening else [], texts):
            yield Chunk(part=Part(index, ident, name, text, first=first, last=False)) if streamed else None
            first, said = False, said + text
        if streamed:
            yield Chunk(part=Part(index, ident, name, rest, first=first, last=True))
            return
        try:
            arguments = json.loads(said + rest)
        except ValueError as error:
            raise Break("error", f"error parsing tool call: raw='{said + rest}', err={error}") from None
        yield Chunk(calls=(Call(name, arguments, index, ident),))

    def _final(self, reason: str, step: Step | None = None) -> Chunk:
        with_it = step.options if step else {}
        spent = int((time.monotonic() - self._started) * 1e9)
        used = max(self._events, self.ask.limit or 0) if reason == "length" else self._events
        return Chunk(
            think=with_it.get("think", ""),
            say=with_it.get("say", ""),
            calls=self._made(with_it["call"]) if "call" in with_it else (),
            done=True,
            reason=reason,
            meter=Meter(self.ask.prompt_tokens, used, spent),
        )


def _squeezed(squeeze: "zlib._Compress | None", data: bytes) -> bytes:
    return squeeze.compress(data) + squeeze.flush(zlib.Z_SYNC_FLUSH) if squeeze else data
