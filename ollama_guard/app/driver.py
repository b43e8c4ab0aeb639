"""Runs one guarded exchange: the only place that awaits for it, and the only writer to its client.

Inputs reach the engine from four sides (the upstream's bytes, the timer, the client's leaving, the drain);
each is one synchronous `step`, whose outputs are obeyed in order. Bytes for the client wait in a bounded
queue for the writer task; when it is full the upstream is no longer read, unless it is being cut.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from starlette.types import Send as AsgiSend

from ollama_guard.app.inbound import Inbound
from ollama_guard.app.outbound import ClientStalled, Outbound, status_for_client
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
    Header,
    Headers,
    Input,
    Open,
    Output,
    Record,
    Send,
    Start,
    Tick,
    Wake,
)
from ollama_guard.engine.stream import Exchange
from ollama_guard.upstream import Call, Upstream, UpstreamFailure
from ollama_guard.wire.headers import end_to_end


class OpenCall:
    """An attempt under way upstream."""

    def __init__(self, number: int, call: Call) -> None:
        self.number = number
        self.call = call
        self.parting = False
        self.closed = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class Driver:
    """One exchange. `run` returns when the response is over and every connection of it is closed."""

    def __init__(
        self,
        exchange: Exchange,
        upstream: Upstream,
        inbound: Inbound,
        send: AsgiSend,
        *,
        target: bytes,
        headers: Callable[[bytes], Sequence[Header]],
        on_record: Callable[[Record], None],
        buffer_bytes: int,
    ) -> None:
        """`headers` gives the request headers that go with a body."""
        self._exchange = exchange
        self._upstream = upstream
        self._inbound = inbound
        self._send = send
        self._body = Outbound(send)
        self._target = target
        self._headers = headers
        self._on_record = on_record
        self._buffer_bytes = buffer_bytes
        self._loop = asyncio.get_running_loop()
        self._queue: deque[Output] = deque()
        self._queued = 0
        self._written = asyncio.Event()
        self._to_write = asyncio.Event()
        self._over = asyncio.Event()
        self._open: OpenCall | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._fault: Exception | None = None
        self._tasks = asyncio.TaskGroup()

    async def run(self) -> None:
        """Serve the exchange from begin to end."""
        try:
            async with self._tasks as tasks:
                writer = tasks.create_task(self._write())
                listener = tasks.create_task(self._listen())
                self._feed(Begin(self._loop.time()))
                await self._over.wait()
                listener.cancel()
                writer.cancel()
                self._part_with_all()
        finally:
            self._set_timer(None)
            self._body.close()
        if self._fault is not None:
            raise self._fault

    def _part_with_all(self) -> None:
        if self._open is not None:
            self._cut(self._open.number)

    def drain(self) -> None:
        """End now."""
        self._feed(Drain(self._loop.time()))

    # --- in ------------------------------------------------------------------------------------------

    def _feed(self, happened: Input) -> None:
        try:
            for output in self._exchange.step(happened):
                self._obey(output)
        except Exception as error:  # noqa: BLE001  # a fault of ours must end this exchange, not hang it
            self._fault = self._fault or error
            self._over.set()

    def _obey(self, output: Output) -> None:
        match output:
            case Send():
                self._queued += len(output.data)
                self._to_queue(output)
            case Wake():
                self._set_timer(output.at)
            case Open():
                self._start(output)
            case Cut():
                self._cut(output.attempt)
            case Record():
                self._on_record(output)
            case Start() | End() | Abort():
                self._to_queue(output)
            case Forget():
                self._over.set()

    def _to_queue(self, output: Output) -> None:
        self._queue.append(output)
        self._to_write.set()

    def _set_timer(self, at: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if at is not None:
            self._timer = self._loop.call_at(at, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._feed(Tick(self._loop.time()))

    async def _listen(self) -> None:
        await self._inbound.left()
        self._feed(ClientGone(self._loop.time()))

    # --- upstream --------------------------------------------------------------------------------------

    def _start(self, what: Open) -> None:
        before, self._open = self._open, OpenCall(what.attempt, self._upstream.call())
        task = self._open.task = self._tasks.create_task(self._attempt(self._open, what, before))
        # Not in the task itself: one that is cancelled before it ran would never say so.
        closed = self._open.closed
        task.add_done_callback(lambda _: closed.set())

    async def _attempt(self, opened: OpenCall, what: Open, before: OpenCall | None) -> None:
        number = opened.number
        try:
            if before is not None:
                await before.closed.wait()  # with one slot, Ollama would queue this behind what is being cut
            async with opened.call as call:
                target = self._target if what.path is None else what.path.encode()
                await call.send("POST", target, self._headers(what.body), what.body)
                if not opened.parting:
                    self._feed(Headers(number, call.status, end_to_end(call.headers), self._loop.time()))
                await call.pour(partial(self._take, opened))
            if not opened.parting:
                self._feed(Closed(number, self._loop.time()))
        except UpstreamFailure as failure:
            if not opened.parting:
                self._feed(Failed(number, failure.trouble, str(failure), self._loop.time()))
        except asyncio.CancelledError:
            if not opened.parting:  # not our own cut: the whole exchange is being cancelled
                raise

    async def _take(self, opened: OpenCall, data: bytes) -> None:
        if not opened.parting:
            self._feed(Bytes(opened.number, data, self._loop.time()))
            while self._exchange.busy and not opened.parting:
                await asyncio.sleep(0)  # the other exchanges' turn
                self._feed(GoOn(self._loop.time()))
        if self._queued > self._buffer_bytes:
            await self._room(opened)

    async def _room(self, opened: OpenCall) -> None:
        while self._queued > self._buffer_bytes and not opened.parting:
            self._written.clear()
            await self._written.wait()

    def _cut(self, number: int) -> None:
        opened = self._open
        if opened is None or opened.number != number or opened.parting:
            return
        opened.parting = True
        self._written.set()  # it may be waiting for room
        if opened.task is not None:
            opened.call.part(opened.task)

    # --- out -------------------------------------------------------------------------------------------

    async def _write(self) -> None:
        while True:
            await self._to_write.wait()
            self._to_write.clear()
            while self._queue:
                if await self._written_one():
                    self._over.set()
                    return

    async def _written_one(self) -> bool:
        """Write what is next; true when that was the end."""
        output = self._queue.popleft()
        match output:
            case Start():
                headers = list(output.headers)
                await self._send(
                    {
                        "type": "http.response.start",
                        "status": status_for_client(output.status),
                        "headers": headers,
                    }
                )
            case Send():
                await self._write_bytes(output)
            case End():
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
                return True
            case Abort():
                return True  # returning with the body open makes the server break the connection off
            case _:
                pass
        return False

    async def _write_bytes(self, first: Send) -> None:
        parts = [first.data]
        while self._queue and isinstance(self._queue[0], Send):
            parts.append(self._queue.popleft().data)  # type: ignore[union-attr]
        data = b"".join(parts)
        try:
            await self._body.write(data)
        except ClientStalled:
            self._feed(ClientGone(self._loop.time()))
        self._queued -= len(data)
        self._written.set()
