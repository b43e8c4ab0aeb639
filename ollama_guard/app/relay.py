"""Everything that is not guarded: piped both ways as it comes, any method, unbuffered."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import closing

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from ollama_guard.app.cors import is_preflight, own_headers, preflight, readable
from ollama_guard.app.inbound import ClientLeft, Inbound, TooSlow
from ollama_guard.app.outbound import ClientStalled, Outbound, status_for_client
from ollama_guard.engine.messages import Header
from ollama_guard.upstream import Call, Upstream, UpstreamFailure
from ollama_guard.wire.headers import end_to_end


class Relay:
    """One request piped to the upstream and its response piped back."""

    def __init__(
        self, upstream: Upstream, scope: Scope, inbound: Inbound, receive: Receive, send: Send
    ) -> None:
        self._scope = scope
        self._inbound = inbound
        self._receive = receive
        self._send = send
        self._started = False
        self._gone = asyncio.Event()
        self._call = upstream.call()

    def drain(self) -> None:
        """End now: the connection is broken off, since nothing is known of what is in it."""
        self._gone.set()

    async def run(self, target: bytes, headers: Sequence[Header], body: bytes | AsyncIterator[bytes]) -> None:
        """Pipe until the response is over, the client has gone, or the drain deadline is there."""
        async with asyncio.TaskGroup() as tasks:
            work = tasks.create_task(self._pipe(target, headers, body))
            listener = tasks.create_task(self._listen())
            gone = tasks.create_task(self._gone.wait())
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                self._call.part(work)
                await asyncio.wait({work})
            for task in (listener, gone):
                task.cancel()

    async def _listen(self) -> None:
        await self._inbound.left()
        self._gone.set()

    async def _pipe(
        self, target: bytes, headers: Sequence[Header], body: bytes | AsyncIterator[bytes]
    ) -> None:
        try:
            async with self._call as call:
                await call.send(self._scope["method"], target, headers, body)
                await self._answer(call)
        except UpstreamFailure as failure:
            if not self._started and not self._gone.is_set():
                refused = JSONResponse({"error": str(failure)}, 502)
                await self._refuse(preflight(self._scope) if is_preflight(self._scope) else refused)
        except TooSlow:
            await self._refuse(JSONResponse({"error": "the request body did not come in time"}, 408))
        except (ClientLeft, ClientStalled):
            pass
        # A response that has begun and is left open here is broken off by the server: the client sees that.

    async def _answer(self, call: Call) -> None:
        headers = end_to_end(call.headers)
        await self._send(
            {"type": "http.response.start", "status": status_for_client(call.status), "headers": headers}
        )
        self._started = True
        with closing(Outbound(self._send)) as out:
            async for chunk in call.chunks():
                if not self._gone.is_set():  # after that it is only read, and the client gets no ending
                    await out.write(chunk)
        if not self._gone.is_set():
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _refuse(self, response: Response) -> None:
        self._started = True
        await readable(response, own_headers(self._scope["headers"]))(self._scope, self._receive, self._send)
