"""The mock upstream itself: accepts connections, answers requests, keeps the journal.

    async with MockOllama() as mock:        # or, from a synchronous test: with running() as mock:
        mock.script("mine", {"steps": [{"say": "Hello."}]})   # the model `mock:mine`
        ...
        assert mock.journal[0].ended == "finished"

It is strict where Ollama is (Host and Origin checks, 404 and 405 texts) and where a proxy must be (http1.py).
"""

import asyncio
import contextlib
import ipaddress
import re
import threading
from collections.abc import Iterator
from typing import Any, Self

from mocks import cors
from mocks import script as scripts
from mocks.catalogue import NATIVE, TEXT, Catalogue, decode, echo, reads_its_own_body
from mocks.dialects import PATHS
from mocks.dialects.base import go_json
from mocks.generations import Generations
from mocks.http1 import BadRequestError, Request, Response, read_body, read_request
from mocks.journal import FINISHED, REFUSED, Entry, Journal
from mocks.link import Link, PeerLeftError
from mocks.script import ScriptError

_ORIGINS = re.compile(
    r"(https?://(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(:\d+)?|(app|file|tauri|vscode-webview|vscode-file)://.*)"
)


class MockOllama:
    """A scripted Ollama on a loopback port. `delay`: seconds between events where a script names none."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, delay: float = 0.002) -> None:
        self.host, self.port = host, port
        self.journal = Journal()
        self.catalogue = Catalogue(self.models)
        self.generations = Generations(self.journal, self.catalogue, delay)
        self.errors: list[Exception] = []  # faults of the mock itself; raised when it is closed
        self._tasks: set[asyncio.Task[None]] = set()
        self._links: set[Link] = set()
        self._server: asyncio.Server | None = None

    # --- for tests ---

    @property
    def url(self) -> str:
        return f"http://{self.authority}"

    @property
    def authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def requests(self) -> list[Entry]:
        return self.journal.entries

    def script(self, name: str, data: scripts.Json) -> str:
        """Register a script; the model name that plays it. A name with a colon is a whole model name."""
        made = scripts.parse(name, data)
        if isinstance(made, str):
            raise ScriptError(f"{name}: a script, not a name")
        self.generations.scripts[name] = made
        return name if ":" in name else f"mock:{name}"

    def models(self) -> list[str]:
        """The model names of all scripts."""
        return [name if ":" in name else f"mock:{name}" for name in self.generations.scripts]

    def reset(self) -> None:
        """Forget the journal, the attempts counted, and what is wedged or loaded. Scripts stay."""
        self.journal.clear()
        self.generations.reset()

    # --- life ---

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Link(self._accepted), self.host, self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for link in self._links:
            link.reset()
        await asyncio.sleep(0)  # one turn, in which the transports close
        if self.errors:
            raise ExceptionGroup("the mock itself failed", self.errors)

    def _accepted(self, link: Link) -> None:
        task = asyncio.get_running_loop().create_task(self._connection(link))
        self._tasks.add(task)
        self._links.add(link)
        task.add_done_callback(self._tasks.discard)

    async def _connection(self, link: Link) -> None:
        try:
            while await self._next(link):
                pass
        except PeerLeftError:
            pass
        except Exception as error:  # noqa: BLE001  (kept, and raised when the mock is closed)
            self.errors.append(error)
            link.reset()
        finally:
            link.close()
            self._links.discard(link)

    async def _next(self, link: Link) -> bool:
        """Answer one request; whether the connection stays open for another."""
        try:
            request = await read_request(link)
        except BadRequestError as bad:
            await self._not_http(link, bad, None)
            return False
        if request is None:
            return False
        response = Response(link, head_only=request.method == "HEAD", keep_alive=request.keep_alive)
        if request.path.startswith("/_mock/"):
            return await self._own(request, response) and request.keep_alive
        entry = self.journal.open(request)
        try:
            await self._answer(request, response, entry)
        except BadRequestError as bad:
            await self._not_http(link, bad, entry)
        finally:
            entry.status = entry.status or response.status
            how = FINISHED if response.ended else link.gone or "stopped"
            self.journal.end(entry, how, link.gone_at if how == link.gone else None)
        return response.ended and request.keep_alive

    async def _not_http(self, link: Link, bad: BadRequestError, entry: Entry | None) -> None:
        entry = entry or self.journal.open(Request("", "", [], keep_alive=False))
        entry.status = bad.status
        self.journal.end(entry, REFUSED)
        await Response(link, keep_alive=False).send(bad.status, TEXT, str(bad).encode())

    # --- one request ---

    async def _answer(self, request: Request, response: Response, entry: Entry) -> None:
        if not _welcome(request):
            await response.send(403, (), b"")
            return
        response.common = cors.for_pages(request)
        if cors.is_preflight(request):
            await response.send(204, cors.PREFLIGHT, b"")
            return
        handler = self.catalogue.route(request.method, request.path)
        if not reads_its_own_body(request.path) or isinstance(handler, int):
            data = b"".join([piece async for piece in read_body(response.link, request)])
            entry.body, entry.body_bytes = decode(data), len(data)
        if request.path in PATHS and request.method == "POST":
            await self.generations.answer(request.path, response, entry)
        elif request.path in PATHS:
            await response.send(405, TEXT, b"405 method not allowed")
        elif isinstance(handler, int):
            text = b"404 page not found" if handler == 404 else b"405 method not allowed"
            await response.send(handler, TEXT, text)
        else:
            await handler(request, response, entry)

    # --- the mock's own paths ---

    async def _own(self, request: Request, response: Response) -> bool:
        body = b"".join([piece async for piece in read_body(response.link, request)])
        if request.path == "/_mock/journal":
            since = int(request.query.removeprefix("since=") or 0)
            return await response.send(200, NATIVE, go_json(self.journal.rows(since)))
        if request.path == "/_mock/scripts":
            return await response.send(200, NATIVE, go_json(self.models()))
        if request.path == "/_mock/echo":
            return await echo(request, response, body)
        if request.path == "/_mock/reset":
            self.reset()
            return await response.send(204, (), b"")
        if request.path != "/_mock/script":
            return await response.send(404, TEXT, b"404 page not found")
        given: Any = decode(body)
        try:
            model = self.script(given["name"], given["script"])
        except (ScriptError, KeyError, TypeError, AttributeError) as error:
            return await response.send(400, NATIVE, go_json({"error": f"{type(error).__name__}: {error}"}))
        return await response.send(200, NATIVE, go_json({"model": model}))


def _welcome(request: Request) -> bool:
    """Ollama's own rules when it listens on loopback: a local Host, and no foreign Origin."""
    origin = request.header("origin")
    if origin is not None and not _ORIGINS.fullmatch(origin):
        return False
    host = re.sub(r":\d+$", "", request.header("host") or "").strip("[]").lower()
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_private or address.is_unspecified


@contextlib.contextmanager
def running(**settings: Any) -> Iterator[MockOllama]:
    """A mock in a thread of its own, for synchronous tests."""
    mock = MockOllama(**settings)
    ready, failed = threading.Event(), list[BaseException]()
    stop: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def main() -> None:
        async with mock:
            stop.append((asyncio.get_running_loop(), asyncio.Event()))
            ready.set()
            await stop[0][1].wait()

    def body() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:  # noqa: BLE001  (raised in the thread that entered)
            failed.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=body, name="mock-ollama", daemon=True)
    thread.start()
    ready.wait()
    try:
        if stop:
            yield mock
    finally:
        if stop and thread.is_alive():
            stop[0][0].call_soon_threadsafe(stop[0][1].set)
        thread.join(10)
    if failed:
        raise failed[0]
