"""Who may ask, and where the guard may be sent: the gate and the locked upstream, on the wire."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import ollama
import openai
import pytest

from mocks.clients import Seen, ask, held, request_bytes, send
from mocks.judges import judge
from mocks.server import MockOllama
from tests.live.conftest import Guards
from tests.live.look import until, wait_rows
from tests.live.talk import HEALTHY_ANSWER, ask_ollama, ask_openai, body
from tests.net import ROOT, Guard, free_port, guard_server, mock_server

PATHS = ("/api/tags", "/api/chat", "/guard/health")


def raw(guard: Guard, target: str = "/api/tags", *lines: str, method: str = "GET", host: bool = True) -> Seen:
    """A request written by hand."""
    own = [f"Host: {urlsplit(guard.url).netloc}"] if host else []
    head = "\r\n".join([f"{method} {target} HTTP/1.1", *own, *lines])
    return asyncio.run(send(guard.url, (head + "\r\nConnection: close\r\n\r\n").encode("latin-1")))


def port_of(guard: Guard) -> int:
    return urlsplit(guard.url).port or 0


# --- Host --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "localhost.evil.example", "127.0.0.1.nip.io",
             "xn--lcalhost-x4a", "127.1", "2130706433", "8.8.8.8", "[2001:db8::1]:{port}"],
)  # fmt: skip
def test_a_foreign_host_is_refused_on_every_path(
    mock: MockOllama, guard: Guard, path: str, host: str
) -> None:
    seen = raw(guard, path, "Host: " + host.format(port=port_of(guard)), host=False)
    assert seen.status == 403
    assert "allowed_hosts" in seen.text
    assert len(mock.journal) == 0


@pytest.mark.parametrize(
    "host", ["", "a b", "localhost/x", "user@localhost", "localhost:port", "localhost:99999", "localhost:1:2",
             "[::1", "::1"],
)  # fmt: skip
def test_a_host_that_is_none_is_refused(mock: MockOllama, guard: Guard, host: str) -> None:
    assert raw(guard, "/api/tags", "Host: " + host, host=False).status == 400
    assert len(mock.journal) == 0


def test_a_missing_or_second_host_is_refused(mock: MockOllama, guard: Guard) -> None:
    assert raw(guard, host=False).status == 400
    assert raw(guard, "/api/tags", "Host: localhost").status == 400
    assert raw(guard, "/api/tags", "Host: evil.example").status == 400
    assert len(mock.journal) == 0


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:{port}", "LocalHost.", "localhost.:{port}", "127.0.0.1", "0.0.0.0",
             "[::1]", "[::1]:{port}", "ollama.localhost", "box.local:80", "gpu.internal",
             "192.168.1.7:{port}", "127.8.9.1:{port}"],
)  # fmt: skip
def test_a_local_host_is_let_in_however_it_is_spelled(mock: MockOllama, guard: Guard, host: str) -> None:
    seen = raw(guard, "/api/tags", "Host: " + host.format(port=port_of(guard)), host=False)
    assert seen.status == 200
    (entry,) = mock.journal
    assert entry.header("host") == mock.authority  # Ollama sees its own address, whatever the client wrote


# --- Origin ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "origin", ["null", "https://evil.example", "http://localhost.evil.example", "file", "http://a@b"]
)
def test_a_foreign_origin_is_refused_on_every_path(
    mock: MockOllama, guard: Guard, path: str, origin: str
) -> None:
    assert raw(guard, path, f"Origin: {origin}").status == 403
    assert len(mock.journal) == 0


def test_a_preflight_from_a_foreign_page_is_refused(mock: MockOllama, guard: Guard) -> None:
    ask_for = "Access-Control-Request-Method: POST"
    seen = raw(guard, "/api/chat", "Origin: https://evil.example", ask_for, method="OPTIONS")
    assert seen.status == 403
    assert seen.header("access-control-allow-origin") is None


def test_two_origins_are_refused_though_both_are_local(mock: MockOllama, guard: Guard) -> None:
    assert raw(guard, "/api/tags", "Origin: http://localhost", "Origin: http://localhost").status == 403


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "https://localhost", "http://127.0.0.1:8080", "http://[::1]:5173",
               "http://0.0.0.0", "app://obsidian.md", "file://", "tauri://localhost", "vscode-webview://abc",
               "vscode-file://vscode-app"],
)  # fmt: skip
def test_a_local_page_or_an_app_is_let_in_and_its_origin_told_to_ollama(
    mock: MockOllama, guard: Guard, origin: str
) -> None:
    raw(guard, "/api/tags", f"Origin: {origin}")
    (entry,) = mock.journal
    assert entry.header("origin") == origin


def test_more_hosts_and_origins_are_a_setting(mock: MockOllama, guards: Guards) -> None:
    settings = {
        "server.allowed_hosts": ("ai.home.arpa",),
        "server.allowed_origins": ("https://*.example.org",),
    }
    guard = guards(settings)
    assert raw(guard, "/api/tags", "Host: ai.home.arpa:80", host=False).status == 200
    assert raw(guard, "/api/tags", "Host: other.home.arpa", host=False).status == 403
    raw(guard, "/api/ps", "Origin: https://chat.example.org")
    assert mock.journal[-1].path == "/api/ps"
    assert raw(guard, "/api/tags", "Origin: https://chat.example.com").status == 403


# --- targets and framing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target", ["http://evil.example/api/tags", "http://127.0.0.1:11434/api/tags", "//evil.example/api/tags",
               "/\\evil.example/", "@evil.example/x", "*", "evil.example:80", "api/tags", ":80/x"],
)  # fmt: skip
def test_a_target_that_is_no_plain_path_is_refused(mock: MockOllama, guard: Guard, target: str) -> None:
    assert raw(guard, target).status == 400
    assert len(mock.journal) == 0


@pytest.mark.parametrize("control", ["\x00", "\x01", "\x0b", "\x1f", "\x7f", "\t"])
@pytest.mark.parametrize("target", ["/api{}/tags", "/api/tags?x={}"])
def test_control_characters_in_a_target_are_refused(
    mock: MockOllama, guard: Guard, target: str, control: str
) -> None:
    assert raw(guard, target.format(control)).status == 400
    assert len(mock.journal) == 0


@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Content-Length: 5"],
        ["Content-Length: 5", "Content-Length: 6"],
        ["Content-Length: -1"],
        ["Content-Length: +5"],
        ["Content-Length: 5, 6"],
        ["Transfer-Encoding: xchunked"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding: chunked, chunked"],
        ["X-Bad : space before the colon"],
        ["X-Bad: nul\x00 in the value"],
        ["No colon at all"],
    ],
)
def test_a_request_that_could_be_read_in_two_ways_is_refused(
    mock: MockOllama, guard: Guard, lines: list[str]
) -> None:
    host = urlsplit(guard.url).netloc
    head = "\r\n".join(["POST /api/show HTTP/1.1", f"Host: {host}", *lines])
    smuggled = f"0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {host}\r\n\r\n"
    seen = asyncio.run(send(guard.url, (head + "\r\n\r\n" + smuggled).encode("latin-1")))
    assert seen.status in (400, 501)
    assert not any("smuggled" in entry.target for entry in mock.journal)


def test_more_header_fields_than_a_hundred_are_refused(mock: MockOllama, guard: Guard) -> None:
    assert raw(guard, "/api/tags", *[f"X-{n}: 1" for n in range(150)]).status == 431
    assert len(mock.journal) == 0


# --- headers -----------------------------------------------------------------------------------------------


def test_hop_by_hop_headers_of_the_client_stop_at_the_guard(mock: MockOllama, guard: Guard) -> None:
    seen = raw(
        guard, "/_mock/echo", "Connection: X-Private, keep-alive", "X-Private: 1", "Keep-Alive: timeout=5",
        "Proxy-Authorization: Basic x", "Proxy-Connection: keep-alive", "TE: trailers", "Trailer: X-T",
        "Upgrade: h2c", "X-Kept: yes", "Authorization: Bearer theirs",
    )  # fmt: skip
    names = {name.lower(): value for name, value in seen.json()["headers"]}
    dropped = {
        "x-private",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "upgrade",
    }
    assert not dropped & set(names)
    assert names["x-kept"] == "yes"
    assert names["authorization"] == "Bearer theirs"  # without a token of ours it is meant for Ollama
    assert "ollama-guard" in names["via"]


@contextmanager
def canned(answer: bytes) -> Iterator[str]:
    """An upstream that gives each connection the same bytes."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with sock:
                sock.recv(65536)
                sock.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def test_hop_by_hop_headers_of_the_upstream_stop_at_the_guard() -> None:
    answer = (
        b"HTTP/1.1 200 OK\r\nConnection: X-Inner, close\r\nX-Inner: 1\r\nKeep-Alive: timeout=5\r\n"
        b"Proxy-Authenticate: Basic\r\nUpgrade: h2c\r\nTrailer: X-T\r\nX-Kept: yes\r\nSet-Cookie: a=1\r\n"
        b"Set-Cookie: b=2\r\nContent-Length: 2\r\n\r\nok"
    )
    with canned(answer) as url, guard_server(url) as guard:
        seen = raw(guard, "/api/tags")
    names = [name.lower() for name, _ in seen.headers]
    assert not {"x-inner", "keep-alive", "proxy-authenticate", "upgrade", "trailer"} & set(names)
    assert names.count("set-cookie") == 2
    assert seen.header("x-kept") == "yes"
    assert seen.body == b"ok"


@pytest.mark.parametrize(
    "answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort", b"\x00" * 100]
)
def test_an_upstream_that_does_not_speak_http_is_an_error_and_not_a_crash(answer: bytes) -> None:
    with canned(answer) as url, guard_server(url) as guard:
        seen = raw(guard, "/api/tags")
        assert seen.status == 502 or seen.ended != "complete"
        assert guard.health()["status"] == "ok"


# --- the locked upstream -----------------------------------------------------------------------------------


def test_proxy_variables_of_the_environment_are_ignored(mock: MockOllama) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    names = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY")
    with guard_server(mock.url, environ=dict.fromkeys(names, nowhere)) as guard:
        assert raw(guard, "/api/version").status == 200
    assert len(mock.journal) == 1


def test_a_request_that_comes_back_to_the_guard_is_answered_508(mock: MockOllama, guard: Guard) -> None:
    # One that is its own upstream is refused at start; a longer chain shows by our own name in Via.
    with guard_server(guard.url) as outer:
        seen = raw(outer, "/api/tags")
    assert seen.status == 508
    assert "--upstream" in seen.text
    assert len(mock.journal) == 0


def test_a_guard_that_would_be_its_own_upstream_is_refused() -> None:
    port = free_port()
    said = refused("--port", str(port), "--upstream", f"http://127.0.0.1:{port}")
    assert "itself" in said


def refused(*arguments: str) -> str:
    """What a guard prints that does not start."""
    command = [sys.executable, "-m", "ollama_guard", "serve", "--port", str(free_port()), *arguments]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OLLAMA_")}
    environ = kept | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, timeout=30, env=environ, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("url", ["http://192.0.2.1:11434", "http://[2001:db8::1]:11434", "http://8.8.8.8"])
def test_an_upstream_beyond_this_machine_is_refused(url: str) -> None:
    assert "allow_remote" in refused("--upstream", url)


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1", "file:///etc/passwd", "http://", "unix:/run/x", "nonsense"]
)
def test_an_upstream_that_is_not_http_is_refused(url: str) -> None:
    assert "upstream" in refused("--upstream", url)


def test_listening_beyond_loopback_without_a_token_is_refused() -> None:
    assert "token" in refused("--host", "0.0.0.0")


# --- the token ---------------------------------------------------------------------------------------------

TOKEN = "a-token-of-ours"


@pytest.fixture
def locked(guards: Guards) -> Guard:
    return guards({"server.token": TOKEN})


@pytest.fixture(scope="module")
def open_wide(upstream: MockOllama) -> Iterator[Guard]:
    """A guard that listens on every address, with a token."""
    with guard_server(upstream.url, {"server.token": TOKEN}, host="0.0.0.0") as guard:
        yield guard


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "lines", [[], ["Authorization: Bearer wrong"], ["x-api-key: wrong"],
              ["Authorization: Basic " + TOKEN[:-1]], ["Authorization: Bearer"], ["x-api-key: "],
              ["Authorization: Bearer caf\xe9"]],
)  # fmt: skip
def test_without_the_token_nothing_is_answered(
    mock: MockOllama, locked: Guard, path: str, lines: list[str]
) -> None:
    seen = raw(locked, path, *lines)
    assert seen.status == 401
    assert seen.header("www-authenticate") == "Bearer"
    assert len(mock.journal) == 0


@pytest.mark.parametrize(
    "line", [f"Authorization: Bearer {TOKEN}", f"authorization: bearer {TOKEN}", f"X-Api-Key: {TOKEN}"]
)
def test_the_token_is_taken_in_both_headers_and_never_forwarded(
    mock: MockOllama, locked: Guard, line: str
) -> None:
    assert raw(locked, "/api/tags", line).status == 200
    (entry,) = mock.journal
    assert TOKEN not in str(entry.headers)
    assert TOKEN not in locked.output


def test_the_sdks_work_with_a_token(mock: MockOllama, locked: Guard) -> None:
    with openai.OpenAI(base_url=locked.url + "/v1", api_key=TOKEN, max_retries=0) as client:
        assert client.models.list().data
    with ollama.Client(host=locked.url, headers={"Authorization": f"Bearer {TOKEN}"}) as native:
        assert native.list().models
    assert ask_openai(locked.url, "mock:healthy").error is not None  # its key is not ours
    assert ask_ollama(locked.url, "mock:healthy").error is not None


def test_beyond_loopback_any_host_name_will_do_with_the_token(mock: MockOllama, open_wide: Guard) -> None:
    bearer = f"Authorization: Bearer {TOKEN}"
    assert raw(open_wide, "/api/tags", "Host: box.example", bearer, host=False).status == 200
    assert raw(open_wide, "/api/tags", "Host: box.example", host=False).status == 401
    assert raw(open_wide, "/api/tags", bearer, "Origin: https://evil.example").status == 403


# --- IPv6 --------------------------------------------------------------------------------------------------


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback")
def test_listener_and_upstream_may_be_ipv6_loopback() -> None:
    with mock_server(host="::1") as mock, guard_server(mock.url, host="::1") as guard:
        assert guard.url.startswith("http://[::1]:")
        seen = asyncio.run(ask(guard.url, "/api/chat", body("mock:loop-reasoning")))
        assert judge("/api/chat", seen.body).content == HEALTHY_ANSWER
        assert mock.journal[0].header("host") == mock.authority
        assert ask_openai(guard.url, "mock:healthy").content == HEALTHY_ANSWER


def test_a_name_with_two_addresses_is_tried_at_both(upstream: MockOllama) -> None:
    # `localhost` may be ::1 first, where nobody listens.
    with guard_server(f"http://localhost:{upstream.port}") as guard:
        assert asyncio.run(ask(guard.url, "/api/version", method="GET")).status == 200


# --- limits ------------------------------------------------------------------------------------------------


def test_a_body_over_the_limit_is_refused_with_and_without_a_length(mock: MockOllama, guards: Guards) -> None:
    guard = guards({"server.max_body_mb": 1})
    big = body("mock:healthy", filler="x" * 3_000_000)
    seen = asyncio.run(ask(guard.url, "/api/chat", big))
    assert seen.status == 413
    assert "max_body_mb" in seen.text
    head = request_bytes(guard.url, "/v1/chat/completions", None, headers={"Transfer-Encoding": "chunked"})
    chunk = b"%x\r\n%s\r\n" % (1 << 20, b"x" * (1 << 20))
    seen = asyncio.run(send(guard.url, head + chunk * 3 + b"0\r\n\r\n"))
    assert seen.status == 413
    assert seen.json()["error"]["type"] == "ollama_loop_guard_request_too_large"
    assert len(mock.journal) == 0


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/blobs/sha256:00"])
def test_a_client_that_pauses_in_its_request_is_let_go(mock: MockOllama, guards: Guards, path: str) -> None:
    guard = guards({"server.body_timeout_sec": 0.3})
    half = request_bytes(guard.url, path, b"x" * 1000)[:-500]
    seen = asyncio.run(send(guard.url, half))
    assert seen.status == 408
    assert until(lambda: guard.health()["live"] == 0)
    assert mock.journal.settled()


def test_more_answers_at_once_than_allowed_are_refused_for_a_while(mock: MockOllama, guards: Guards) -> None:
    guard = guards({"server.max_exchanges": 1})

    async def go() -> Seen:
        async with held(guard.url, "/api/chat", body("mock:silent")):
            assert await asyncio.to_thread(until, lambda: guard.health()["live"] == 1)
            return await ask(guard.url, "/v1/chat/completions", body("mock:healthy"))

    seen = asyncio.run(go())
    assert (seen.status, seen.header("retry-after")) == (503, "5")
    assert seen.json()["error"]["type"] == "ollama_loop_guard_busy"
    (row,) = wait_rows(guard, "refused", 1)
    assert (row["level"], row["dialect"], row["status"]) == ("warning", "openai-chat", 503)
    assert guard.health()["counters"]["refused"] == 1
    assert until(lambda: guard.health()["live"] == 0)
    assert asyncio.run(ask(guard.url, "/api/chat", body("mock:short"))).status == 200
