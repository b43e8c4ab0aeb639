"""The paths of Ollama that generate nothing: models, versions, pulls, uploads."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mocks.dialects.base import JSON_NATIVE, JSON_V1, go_json, go_time, now
from mocks.http1 import Request, Response, read_body
from mocks.journal import Entry

TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
NATIVE = (("Content-Type", JSON_NATIVE),)
V1 = (("Content-Type", JSON_V1),)
_SIZE = 4_920_753_328


def digest(name: str) -> str:
    """A made-up but stable digest of a model."""
    return hashlib.sha256(name.encode()).hexdigest()


@dataclass
class Catalogue:
    """`names` gives the models; `loaded` is what /api/ps lists; `blobs` what was uploaded, digest to size."""

    names: Callable[[], Sequence[str]]
    version: str = "0.31.0"
    loaded: set[str] = field(default_factory=set)
    blobs: dict[str, int] = field(default_factory=dict)
    _since: str = field(default_factory=lambda: go_time(now()))

    def route(self, method: str, path: str) -> "Handler | int":
        """The handler for a request, or the status to refuse it with (404, 405)."""
        known: dict[str, dict[str, Handler]] = {
            "/": {"GET": self._hello, "HEAD": self._hello},
            "/api/version": {"GET": self._version, "HEAD": self._version},
            "/api/tags": {"GET": self._tags, "HEAD": self._tags},
            "/api/ps": {"GET": self._ps},
            "/api/show": {"POST": self._show},
            "/api/pull": {"POST": self._pull},
            "/api/copy": {"POST": self._done},
            "/api/delete": {"DELETE": self._done},
            "/api/embed": {"POST": self._embed},
            "/v1/models": {"GET": self._models},
            "/v1/embeddings": {"POST": self._embeddings},
        }
        if path.startswith("/api/blobs/"):
            known[path] = {"POST": self._blob, "HEAD": self._has_blob}
        elif path.startswith("/v1/models/"):
            known[path] = {"GET": self._model}
        if path not in known:
            return 404
        return known[path].get(method, 405)

    # --- models ---

    async def _hello(self, _request: Request, response: Response, _entry: Entry) -> bool:
        return await response.send(200, TEXT, b"Ollama is running")

    async def _version(self, _request: Request, response: Response, _entry: Entry) -> bool:
        return await response.send(200, NATIVE, go_json({"version": self.version}))

    async def _tags(self, _request: Request, response: Response, _entry: Entry) -> bool:
        models = [self._about(name) | {"modified_at": self._since} for name in self.names()]
        return await response.send(200, NATIVE, go_json({"models": models}))

    async def _ps(self, _request: Request, response: Response, _entry: Entry) -> bool:
        more = {"expires_at": "2318-01-01T00:00:00Z", "size_vram": _SIZE, "context_length": 32768}
        models = [self._about(name) | more for name in sorted(self.loaded)]
        return await response.send(200, NATIVE, go_json({"models": models}))

    def _about(self, name: str) -> dict[str, Any]:
        details = {"parent_model": "", "format": "gguf", "family": "mock", "families": ["mock"],
                   "parameter_size": "8.0B", "quantization_level": "Q4_K_M"}  # fmt: skip
        return {"name": name, "model": name, "size": _SIZE, "digest": digest(name), "details": details}

    async def _show(self, _request: Request, response: Response, entry: Entry) -> bool:
        name = _name(entry.body)
        if name not in self.names():
            return await response.send(404, NATIVE, go_json({"error": f"model '{name}' not found"}))
        body = {
            "modelfile": f"FROM {name}",
            "template": "{{ .Prompt }}",
            "details": self._about(name)["details"],
            "model_info": {"general.architecture": "mock", "mock.context_length": 32768},
            "capabilities": ["completion", "tools", "thinking"],
            "modified_at": self._since,
        }
        return await response.send(200, NATIVE, go_json(body))

    async def _models(self, _request: Request, response: Response, _entry: Entry) -> bool:
        body = {"object": "list", "data": [_openai_model(name) for name in self.names()]}
        return await response.send(200, V1, go_json(body) + b"\n")

    async def _model(self, request: Request, response: Response, _entry: Entry) -> bool:
        name = request.path.removeprefix("/v1/models/")
        if name in self.names():
            return await response.send(200, V1, go_json(_openai_model(name)) + b"\n")
        error = {
            "message": f"model '{name}' not found",
            "type": "not_found_error",
            "param": None,
            "code": None,
        }
        return await response.send(404, V1, go_json({"error": error}) + b"\n")

    async def _done(self, _request: Request, response: Response, _entry: Entry) -> bool:
        return await response.send(200, (), b"")

    # --- embeddings ---

    async def _embed(self, _request: Request, response: Response, entry: Entry) -> bool:
        vectors = [_vector(text) for text in _inputs(entry.body)]
        body = {"model": _name(entry.body), "embeddings": vectors, "total_duration": 1_000_000}
        return await response.send(200, NATIVE, go_json(body))

    async def _embeddings(self, _request: Request, response: Response, entry: Entry) -> bool:
        vectors = [_vector(text) for text in _inputs(entry.body)]
        data = [{"object": "embedding", "embedding": v, "index": i} for i, v in enumerate(vectors)]
        usage = {"prompt_tokens": len(vectors), "total_tokens": len(vectors)}
        body = {"object": "list", "data": data, "model": _name(entry.body), "usage": usage}
        return await response.send(200, V1, go_json(body) + b"\n")

    # --- long streams both ways ---

    async def _pull(self, _request: Request, response: Response, entry: Entry) -> bool:
        """Progress lines. `"mock": {"lines": n, "delay": seconds}` in the body sets how many and how fast."""
        body = entry.body if isinstance(entry.body, dict) else {}
        wish = body.get("mock") or {}
        lines, delay = int(wish.get("lines", 20)), float(wish.get("delay", 0.01))
        if body.get("stream") is False:
            return await response.send(200, NATIVE, go_json({"status": "success"}))
        layer = "sha256:" + digest(_name(body))
        await response.start(200, (("Content-Type", "application/x-ndjson"),))
        progress: list[dict[str, Any]] = [
            {
                "status": f"pulling {layer[7:19]}",
                "digest": layer,
                "total": _SIZE,
                "completed": _SIZE * n // lines,
            }
            for n in range(1, lines + 1)
        ]
        tail = [{"status": text} for text in ("verifying sha256 digest", "writing manifest", "success")]
        for line in [{"status": "pulling manifest"}, *progress, *tail]:
            if not await response.link.pause(delay) or not await response.chunk(go_json(line) + b"\n"):
                return False
            entry.wrote(0)
        return await response.end()

    async def _blob(self, request: Request, response: Response, entry: Entry) -> bool:
        """An upload: read piece by piece, counted in the journal as it comes, never held."""
        wanted = request.path.removeprefix("/api/blobs/")
        total = hashlib.sha256()
        async for piece in read_body(response.link, request):
            total.update(piece)
            entry.body_bytes += len(piece)
        entry.body_sha256 = total.hexdigest()
        got = "sha256:" + entry.body_sha256
        if got != wanted.replace("sha256-", "sha256:"):
            error = {"error": f"digest mismatch, expected {wanted}, got {got}"}
            return await response.send(400, NATIVE, go_json(error))
        self.blobs[got] = entry.body_bytes
        return await response.send(201, (), b"")

    async def _has_blob(self, request: Request, response: Response, _entry: Entry) -> bool:
        wanted = request.path.removeprefix("/api/blobs/").replace("sha256-", "sha256:")
        return await response.send(200 if wanted in self.blobs else 404, (), b"")


Handler = Callable[[Request, Response, Entry], Awaitable[bool]]


def reads_its_own_body(path: str) -> bool:
    """Whether the body is a stream that only the handler may read."""
    return path.startswith("/api/blobs/")


def decode(data: bytes) -> Any:
    """A JSON body; None for what is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):  # Go's decoder has a limit to nesting too
        return None


async def echo(request: Request, response: Response, body: bytes) -> bool:
    """/_mock/echo: what arrived, as JSON; for tests of a proxy's headers and targets."""
    seen = {"method": request.method, "target": request.target, "headers": request.headers,
            "body": body.decode("utf-8", "replace")}  # fmt: skip
    return await response.send(200, (("X-Mock-Echo", "1"), *NATIVE), go_json(seen))


def _name(body: Any) -> str:
    return str(body.get("model") or body.get("name") or "") if isinstance(body, dict) else ""


def _inputs(body: Any) -> list[str]:
    given = body.get("input") if isinstance(body, dict) else None
    return [str(item) for item in given] if isinstance(given, list) else [str(given or "")]


def _vector(text: str) -> list[float]:
    raw = hashlib.sha256(text.encode()).digest()[:8]
    return [round(byte / 255, 4) for byte in raw]


def _openai_model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_790_000_000, "owned_by": "library"}
