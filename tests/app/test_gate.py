import pytest
from starlette.types import Receive, Scope, Send

from ollama_guard.app.gate import Gate, Refusal, host_name
from ollama_guard.config.schema import Server


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("localhost", "localhost"),
        ("LocalHost:11435", "localhost"),
        ("localhost.", "localhost"),
        ("localhost.:80", "localhost"),
        ("localhost:", "localhost"),  # RFC 3986 §3.2.3: the port may be empty
        ("127.0.0.1:1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[::1]:11435", "::1"),
        ("[FE80::1]:1", "fe80::1"),
        ("a.b-c.example", "a.b-c.example"),
    ],
)
def test_the_name_of_a_host_is_read_without_port_brackets_and_root_dot(value: str, name: str) -> None:
    assert host_name(value) == name


@pytest.mark.parametrize(
    "value",
    [
        "", ".", ":80", "a b", "a\tb", "user@localhost", "localhost/..", "localhost?x", "localhost#x",
        "local\\host", "localhost:http", "localhost:99999", "localhost:-1", "localhost:1:2", "[::1", "::1]",
        "[]", "[localhost]", "::1",
    ],
)  # fmt: skip
def test_what_is_no_host_is_none(value: str) -> None:
    assert host_name(value) is None


async def nowhere(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise AssertionError("the gate let it through")


def refusal(
    *headers: tuple[str, str], path: str = "/api/tags", method: str = "GET", **settings: object
) -> Refusal | None:
    """What a gate on loopback says to a request."""
    server = Server(**settings)  # type: ignore[arg-type]
    gate = Gate(nowhere, server, loopback=True)
    lines = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    if "host" not in dict(headers):
        lines.append((b"host", b"localhost"))
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "headers": lines}
    return gate._refusal(scope)


def status(*headers: tuple[str, str], **more: object) -> int | None:
    refused = refusal(*headers, **more)  # type: ignore[arg-type]
    return None if refused is None else refused.status


LOCAL = (
    "localhost", "127.5.5.5", "[::1]", "0.0.0.0", "10.1.2.3", "172.31.0.1", "[fd00::1]", "[::ffff:127.0.0.1]",
    "x.localhost", "x.local", "x.internal",
)  # fmt: skip
FOREIGN = (
    "example.com", "localhost.example.com", "172.32.0.1", "192.0.2.1", "198.18.0.1", "[2001:db8::1]", "local",
    "[::ffff:8.8.8.8]", "xlocal", "0x7f000001",
)  # fmt: skip


@pytest.mark.parametrize("host", LOCAL)
def test_local_names_and_private_addresses_are_let_in(host: str) -> None:
    assert status(("host", host)) is None


@pytest.mark.parametrize("host", FOREIGN)
def test_other_names_and_addresses_are_not(host: str) -> None:
    assert status(("host", host)) == 403


def test_our_own_machines_name_is_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Workbench")
    assert status(("host", "WORKBENCH:11435")) is None


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("http://localhost:5173", True),
        ("https://127.0.0.1", True),
        ("http://[::1]:1", True),
        ("app://x", True),
        ("https://chat.example.org", True),
        ("null", False),
        ("", False),
        ("https://example.org", False),
        ("http://localhost@evil.example", False),
        ("http://evil.example#localhost", False),
        ("ftp://localhost", False),
        ("http://[::1", False),
    ],
)
def test_origins_are_taken_from_this_machine_from_apps_and_from_the_settings(
    origin: str, *, allowed: bool
) -> None:
    said = status(("origin", origin), allowed_origins=("https://*.example.org",))
    assert said == (None if allowed else 403)


def test_a_page_of_the_same_origin_is_let_in_only_with_its_host() -> None:
    page = ("origin", "http://192.168.1.7:11435")
    assert status(("host", "192.168.1.7:11435"), page) is None
    assert status(("host", "192.168.1.7:80"), page) == 403


def test_any_origin_is_let_in_when_the_settings_say_so() -> None:
    assert status(("origin", "https://anywhere.example"), allowed_origins=("*",)) is None


def test_the_token_is_compared_whatever_it_is_made_of() -> None:
    token = "gehëim"
    assert status(("authorization", "Bearer x"), token=token) == 401
    assert status(("authorization", "Bearer gehëim".encode().decode("latin-1")), token=token) is None
    assert status(token=token) == 401
    assert status(("authorization", "bearer  plain"), token="plain") is None
    assert status(("authorization", "plain"), token="plain") == 401
    assert status(("authorization", "Bearer plain"), token="plain") is None
    assert status(("authorization", "Basic plain"), token="plain") == 401
    assert status(("x-api-key", "plain"), token="plain") is None


def test_a_preflight_of_an_allowed_page_needs_no_token_since_it_cannot_have_one() -> None:
    asks = ("access-control-request-method", "POST")
    page = ("origin", "http://localhost:3000")
    assert status(page, asks, method="OPTIONS", token="plain") is None
    assert status(("origin", "https://evil.example"), asks, method="OPTIONS", token="plain") == 403
    assert status(asks, method="OPTIONS", token="plain") == 401
    assert status(page, asks, method="POST", token="plain") == 401


def test_the_stop_door_asks_for_its_own_token_alone() -> None:
    assert status(path="/guard/stop", method="POST", token="plain") is None
    assert status(path="/guard/health", token="plain") == 401


def test_a_request_that_has_passed_a_guard_is_turned_back() -> None:
    assert status(("via", "1.1 ollama-guard")) == 508
    assert status(("via", "1.1 other, 1.1 ollama-guard")) == 508
    assert status(("via", "1.1 caddy")) is None


@pytest.mark.parametrize(
    "path", ["x", "//a", "/\\a", "*", "http://a/", "@a", "", "/a\x00", "/a b", "/a\x7f", "/a#x", "/ä"]
)
def test_targets_that_are_no_path_are_refused(path: str) -> None:
    assert status(path=path) == 400


def test_a_target_without_end_is_refused() -> None:
    assert status(path="/" + "a" * 70_000) == 414


def test_targets_with_escapes_are_left_to_ollama() -> None:
    assert status(path="/a%00%0A%2F..//b") is None
