import pytest

from ollama_guard.config.addresses import (
    authority,
    is_loopback,
    is_ourselves,
    is_remote_ip,
    is_wildcard,
    ollama_host,
)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost", "LOCALHOST.", "a.localhost", "::ffff:127.0.0.1"],
)
def test_what_is_on_this_machine_is_loopback(host: str) -> None:
    assert is_loopback(host)
    assert not is_remote_ip(host)


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "10.0.0.1", "example.com", "localhost.example.com", "notlocalhost", "", "128.0.0.1"],
)
def test_what_may_be_reached_from_elsewhere_is_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_an_address_for_listening_is_told_from_one_for_dialling() -> None:
    assert all(map(is_wildcard, ["0.0.0.0", "::", "[::]", ""]))
    assert not any(map(is_wildcard, ["127.0.0.1", "::1", "localhost"]))


@pytest.mark.parametrize(
    ("value", "url"),
    [
        # Ollama's own rules: envconfig/config.go, Host and ConnectableHost
        ("", None),
        ("  ", None),
        ('""', None),
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("1.2.3.4:5", "http://1.2.3.4:5"),
        (":1234", "http://127.0.0.1:1234"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:11435", "http://127.0.0.1:11435"),
        ("::", "http://[::1]:11434"),
        ("[::]:80", "http://[::1]:80"),
        ("::1", "http://[::1]:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:9", "http://[::1]:9"),
        ("localhost", "http://localhost:11434"),
        ("http://x", "http://x:80"),
        ("https://x", "https://x:443"),
        ("https://x:8443/", "https://x:8443"),
        ("http://x/ollama", "http://x:80/ollama"),
        ("x:99999", "http://x:11434"),
        ("x:port", "http://x:11434"),
        ("x:", "http://x:11434"),
        ("' 127.0.0.1:1 '", "http://127.0.0.1:1"),
    ],
)
def test_ollama_host_means_what_it_means_to_ollama(value: str, url: str | None) -> None:
    meant = ollama_host(value)
    assert (meant and meant.url) == url


@pytest.mark.parametrize(
    ("url", "host", "port", "same"),
    [
        ("http://127.0.0.1:11435", "127.0.0.1", 11435, True),
        ("http://localhost:11435", "127.0.0.1", 11435, True),
        ("http://[::1]:11435", "0.0.0.0", 11435, True),
        ("http://192.168.1.5:11435", "192.168.1.5", 11435, True),
        ("http://127.0.0.1", "127.0.0.1", 80, True),
        ("http://127.0.0.1:11434", "127.0.0.1", 11435, False),
        ("http://127.0.0.1:11435", "192.168.1.5", 11435, False),
        ("http://far.example:11435", "127.0.0.1", 11435, False),
        ("http://127.0.0.1:0", "127.0.0.1", 0, False),
    ],
)
def test_a_guard_that_guards_itself_is_noticed(url: str, host: str, port: int, same: object) -> None:
    assert is_ourselves(url, host, port) is same


def test_the_port_of_a_url_is_its_schemes_own_when_none_is_written() -> None:
    assert authority("https://x") == ("x", 443)
    assert authority("http://[::1]") == ("::1", 80)
