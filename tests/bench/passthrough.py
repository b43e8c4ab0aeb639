"""The plainest proxy of these parts, to measure against: Starlette's StreamingResponse over httpx's client.

python -m tests.bench.passthrough PORT UPSTREAM_PORT
"""

import sys
from collections.abc import AsyncIterator

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route


def app(upstream: str) -> Starlette:
    """Passes bodies through as they come, and does nothing else."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
    client = httpx.AsyncClient(base_url=upstream, timeout=300, limits=limits)  # noqa: TID251  what it measures

    async def endpoint(request: Request) -> StreamingResponse:
        asked = client.build_request(request.method, request.url.path, content=await request.body())
        answer = await client.send(asked, stream=True)

        async def raw() -> AsyncIterator[bytes]:
            try:
                async for data in answer.aiter_raw():
                    yield data
            finally:
                await answer.aclose()

        return StreamingResponse(raw(), answer.status_code, media_type=answer.headers["content-type"])

    return Starlette(routes=[Route("/{path:path}", endpoint, methods=["GET", "POST"])])


if __name__ == "__main__":
    # loop and parser as uvicorn chooses: the fast ones where they are installed
    uvicorn.run(
        app(f"http://127.0.0.1:{sys.argv[2]}"), port=int(sys.argv[1]), access_log=False, log_level="warning"
    )
