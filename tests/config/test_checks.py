import msgspec
import pytest

from ollama_guard.config.checks import check, valid_origin
from ollama_guard.config.schema import Settings
from ollama_guard.config.sources import Origin


def settings(**given: object) -> Settings:
    """Settings with "section__name" changed."""
    made = Settings()
    for key, value in given.items():
        section, name = key.split("__")
        changed = msgspec.structs.replace(getattr(made, section), **{name: value})
        made = msgspec.structs.replace(made, **{section: changed})
    return made


def test_the_defaults_hold_together() -> None:
    assert check(Settings(), {}) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "guard.lan"])
def test_listening_beyond_loopback_needs_a_token_and_the_message_says_so(host: str) -> None:
    [problem] = check(settings(server__host=host), {"server.host": Origin("flag", "--host")})
    assert "server.host" in problem
    assert host in problem
    assert "flag --host" in problem
    assert "token" in problem
    assert check(settings(server__host=host, server__token="t0ken"), {}) == []


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "http://127.0.0.1", "a b", "localhost/"])
def test_a_host_that_is_none_is_refused(host: str) -> None:
    assert any("server.host" in problem for problem in check(settings(server__host=host), {}))


@pytest.mark.parametrize("token", ["with blank", "line\nbreak", "ünicode"])
def test_a_token_that_no_header_can_carry_is_refused_and_not_shown(token: str) -> None:
    [problem] = check(settings(server__token=token), {})
    assert "server.token" in problem
    assert token not in problem


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("127.0.0.1:11434", "did you mean http://127.0.0.1:11434?"),
        ("localhost", "did you mean http://localhost?"),
        ("ftp://127.0.0.1", "http://"),
        ("http://", "http://127.0.0.1:11434"),
        ("http://127.0.0.1:0", "a port"),
        ("http://127.0.0.1:99999", "not a URL"),
        ("http://[::1", "not a URL"),
        ("http://127.0.0.1:11434/v1", "only scheme, host and port: http://127.0.0.1:11434"),
        ("http://me:secret@127.0.0.1:11434", "only scheme, host and port: http://127.0.0.1:11434"),
        ("http://127.0.0.1:11434?x=1", "only scheme"),
        ("http://0.0.0.0:11434", "write http://127.0.0.1:11434"),
        ("http://127.0.0.1:11435", "the guard itself"),
        ("http://localhost:11435", "the guard itself"),
        ("http://10.1.2.3:11434", "upstream.allow_remote = true"),
    ],
)
def test_an_upstream_that_cannot_work_is_refused_with_what_to_write(url: str, advice: str) -> None:
    [problem] = check(settings(upstream__url=url), {})
    assert "upstream.url" in problem
    assert advice in problem


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:11434", "https://localhost:8443", "http://[::1]:11434", "http://ollama.lan:11434"],
)
def test_an_upstream_that_can_work_is_taken(url: str) -> None:
    assert check(settings(upstream__url=url), {}) == []


def test_a_remote_upstream_is_taken_when_it_is_allowed() -> None:
    assert check(settings(upstream__url="http://10.1.2.3:11434", upstream__allow_remote=True), {}) == []


def test_any_free_port_is_never_taken_for_the_upstreams() -> None:
    assert check(settings(server__port=0, upstream__url="http://127.0.0.1:11434"), {}) == []


def test_a_data_heartbeat_may_not_come_before_the_plain_one() -> None:
    assert "heartbeat.data_sec" in check(settings(heartbeat__data_sec=5.0), {})[0]
    assert check(settings(heartbeat__data_sec=0.0), {}) == []
    assert check(settings(heartbeat__data_sec=5.0, heartbeat__heartbeat_sec=0.0), {}) == []


def test_the_longest_pause_may_not_be_shorter_than_the_first() -> None:
    assert "empty.pause_max_sec" in check(settings(empty__pause_sec=11.0), {})[0]


def test_names_and_origins_that_are_none_are_refused_by_name() -> None:
    [problem] = check(settings(server__allowed_hosts=("ok.lan", "http://no.lan")), {})
    assert "http://no.lan" in problem
    [problem] = check(settings(server__allowed_origins=("https://ok.lan", "no.lan")), {})
    assert "'no.lan'" in problem


def test_origins_of_ollamas_own_list_are_origins() -> None:
    assert all(
        map(valid_origin, ["*", "null", "http://localhost:*", "app://*", "vscode-webview://abc", "https://x"])
    )
    assert not any(map(valid_origin, ["", "x", "http://x/path", "http://"]))
