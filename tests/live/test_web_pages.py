"""Web pages that may use the guard can read what it says, its own answers too; a browser is the judge."""

import asyncio
import http.server
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mocks.clients import Seen, ask, send
from mocks.server import MockOllama
from tests.live.conftest import Guards
from tests.live.talk import HEALTHY_ANSWER, body
from tests.net import Guard, free_port, guard_server

PAGE = "http://localhost:5173"
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")


def fetch(
    guard: Guard, path: str, content: object = None, *, origin: str = PAGE, method: str = "", **more: str
) -> Seen:
    """What a page's request gives, on the wire."""
    headers = {"Origin": origin, **{name.replace("_", "-"): value for name, value in more.items()}}
    if content is not None:
        return asyncio.run(ask(guard.url, path, content, headers=headers))
    lines = [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join([f"{method or 'GET'} {path} HTTP/1.1", f"Host: {urlsplit(guard.url).netloc}", *lines])
    return asyncio.run(send(guard.url, f"{head}\r\nConnection: close\r\n\r\n".encode()))


def readable(seen: Seen, origin: str = PAGE) -> bool:
    """Whether the browser lets that page read it. Two values, or two fields, are as good as none."""
    given = [value for name, value in seen.headers if name.lower() == "access-control-allow-origin"]
    varies = [value for name, value in seen.headers if name.lower() == "vary" and "Origin" in value]
    return given == [origin] and len(varies) == 1


@pytest.fixture(scope="module")
def orphan() -> Iterator[Guard]:
    """A guard whose Ollama is not there, and that asks for a token."""
    settings = {"server.token": "sekret", "server.max_body_mb": 1}
    with guard_server(f"http://127.0.0.1:{free_port()}", settings) as guard:
        yield guard


BEARER = {"Authorization": "Bearer sekret"}


def test_an_answer_that_passes_is_readable_once(mock: MockOllama, guard: Guard) -> None:
    for seen in (fetch(guard, "/api/tags"), fetch(guard, "/api/chat", body("mock:healthy"))):
        assert seen.status == 200
        assert readable(seen)


def test_a_missing_token_is_told_to_the_page(orphan: Guard) -> None:
    seen = fetch(orphan, "/api/chat", body("mock:healthy"))
    assert seen.status == 401
    assert readable(seen)


@pytest.mark.parametrize("path", ["/api/chat", "/v1/messages", "/api/tags"])
def test_an_ollama_that_is_not_there_is_told_to_the_page(orphan: Guard, path: str) -> None:
    seen = fetch(orphan, path, body("mock:healthy"), **BEARER)
    assert seen.status == 502
    assert readable(seen)


def test_a_body_that_is_too_large_is_told_to_the_page(orphan: Guard) -> None:
    seen = fetch(orphan, "/api/chat", body("x" * (1 << 20)), **BEARER)
    assert seen.status == 413
    assert readable(seen)


def test_a_preflight_is_answered_though_ollama_is_not_there(orphan: Guard) -> None:
    asked = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization,x-a"}
    for path in ("/api/chat", "/guard/health"):
        seen = fetch(orphan, path, method="OPTIONS", **asked)
        assert seen.status == 204
        assert readable(seen)
        assert seen.header("access-control-allow-headers") == "authorization,x-a"


def test_no_page_may_stop_the_guard(orphan: Guard) -> None:
    asked = {
        "Access_Control_Request_Method": "POST",
        "Access_Control_Request_Headers": "x-ollama-guard-control",
    }
    seen = fetch(orphan, "/guard/stop", method="OPTIONS", **asked)
    assert seen.status == 405
    assert not readable(seen)


def test_a_response_that_the_guard_began_before_ollama_is_readable(mock: MockOllama, guards: Guards) -> None:
    hasty = guards({"heartbeat.commit_sec": 0.05})
    name = mock.script("slow-to-begin", {"steps": [{"wait": 0.4}, {"say": HEALTHY_ANSWER}]})
    seen = fetch(hasty, "/api/chat", body(name))
    assert seen.status == 200
    assert readable(seen)


def test_a_foreign_page_cannot_even_read_its_refusal(guard: Guard, orphan: Guard) -> None:
    for asked in (guard, orphan):
        seen = fetch(asked, "/api/chat", body("mock:healthy"), origin="https://evil.example")
        assert seen.status == 403
        assert seen.header("access-control-allow-origin") is None


def test_what_is_no_page_gets_no_such_headers(orphan: Guard) -> None:
    seen = asyncio.run(ask(orphan.url, "/api/chat", body("mock:healthy"), headers=BEARER))
    assert seen.status == 502
    assert seen.header("access-control-allow-origin") is None


SCRIPT = """<!doctype html><pre id="told"></pre><script>
const asked = %s, told = {};
async function look(name, url, options) {
  try {
    const answer = await fetch(url, options);
    told[name] = [answer.status, await answer.text()];
  } catch (error) { told[name] = [0, String(error)]; }
}
Promise.all(Object.entries(asked).map(([name, [url, options]]) => look(name, url, options))).then(() => {
  document.getElementById("told").textContent = JSON.stringify(told);
});
</script>"""


@contextmanager
def page(asked: dict[str, Any]) -> Iterator[str]:
    """A web site on another port of this machine."""
    content = (SCRIPT % json.dumps(asked)).encode()

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join(5)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_lets_the_page_read_answers_refusals_and_failures(
    mock: MockOllama, guard: Guard, orphan: Guard, tmp_path: Path
) -> None:
    post = {"method": "POST", "headers": {"Content-Type": "application/json"}}
    chat = {**post, "body": json.dumps({**body("mock:healthy"), "stream": False})}
    known = {**chat, "headers": {**post["headers"], **BEARER}}
    asked = {
        "healthy": [f"{guard.url}/api/chat", chat],
        "no token": [f"{orphan.url}/api/chat", chat],
        "no ollama": [f"{orphan.url}/v1/chat/completions", known],
        "health": [f"{orphan.url}/guard/health", {"headers": BEARER}],
        "stop": [f"{orphan.url}/guard/stop", {"method": "POST", "headers": {"x-ollama-guard-control": "x"}}],
    }  # fmt: skip
    assert CHROMIUM is not None
    with page(asked) as url:
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}",
             "--virtual-time-budget=20000", "--dump-dom", url],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    told = json.loads(unescape(done.stdout.partition('id="told">')[2].partition("</pre>")[0]))
    assert told["healthy"][0] == 200
    assert json.loads(told["healthy"][1])["message"]["content"] == HEALTHY_ANSWER
    assert told["no token"][0] == 401
    assert told["no ollama"][0] == 502
    assert "cannot reach Ollama" in told["no ollama"][1]
    assert told["health"][0] == 200
    assert told["stop"][0] == 0  # the browser does not even send it
