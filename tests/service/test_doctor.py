"""`ollama-guard check`: each thing that can be wrong is named, with what to do about it."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ollama_guard.app.gate import ASKS
from ollama_guard.config.load import Loaded, load
from ollama_guard.config.schema import Server, Settings, Upstream
from ollama_guard.service import descriptors, doctor
from ollama_guard.service.doctor import Check, check

OLLAMA = {
    "/api/version": (200, '{"version": "0.31.0"}'),
    "/api/tags": (200, '{"models": [{"name": "qwen3:8b"}, {"name": "gemma3:4b"}]}'),
}


@contextmanager
def answering(pages: Mapping[str, tuple[int, str]], token: str = "") -> Iterator[str]:
    """A server with these pages and 404 for the rest; gives its host:port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = pages.get(self.path, (404, "404 page not found"))
            if token and self.headers.get("Authorization") != f"Bearer {token}":
                status, body = 401, json.dumps({"error": f"{ASKS}, as a header"})
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def checked(
    upstream: str = "127.0.0.1:9", *, environ: Mapping[str, str] | None = None, **flags: object
) -> list[Check]:
    return check(settings(upstream, **flags), environ or {})


def settings(upstream: str, **flags: object) -> Loaded:
    return load(file=None, environ={}, flags={"port": free_port(), "upstream": f"http://{upstream}", **flags})


def named(checks: list[Check], name: str) -> Check:
    (found,) = [each for each in checks if each.name == name]
    return found


def test_a_sound_setup_has_every_check_ok_and_names_version_and_models() -> None:
    with answering(OLLAMA) as here:
        checks = checked(here)
    assert all(each.ok for each in checks), checks
    assert "Ollama 0.31.0" in named(checks, "upstream").message
    assert "qwen3:8b, gemma3:4b" in named(checks, "models").message


def test_an_ollama_that_is_not_started_gets_the_command_that_starts_it() -> None:
    found = named(checked(f"127.0.0.1:{free_port()}"), "upstream")
    assert not found.ok
    assert "ollama serve" in found.remedy
    assert "ollama serve" not in found.message  # once is enough


def test_an_upstream_that_says_nothing_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ANSWER_SEC", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = named(checked(f"127.0.0.1:{silent.getsockname()[1]}"), "upstream")
    assert not found.ok
    assert "nothing answers" in found.message


def test_another_program_is_not_taken_for_ollama() -> None:
    with answering({"/api/version": (200, "<html>")}) as here:
        found = named(checked(here), "upstream")
    assert not found.ok
    assert "not as Ollama does" in found.message


def test_a_guard_as_the_upstream_is_found_out() -> None:
    with answering({**OLLAMA, "/guard/health": (200, '{"status": "ok"}')}) as here:
        found = named(checked(here), "upstream")
    assert not found.ok
    assert "is an ollama-guard" in found.message


def test_an_upstream_beyond_loopback_is_refused() -> None:
    # the settings refuse this address by themselves; a name may come to stand for one later
    far = Settings(server=Server(port=free_port()), upstream=Upstream(url="http://192.0.2.7:11434"))
    found = named(check(Loaded(far, {}, []), {}), "upstream")
    assert not found.ok
    assert "allow_remote" in found.message


def test_no_model_yet_is_a_hint_and_no_failure() -> None:
    with answering({**OLLAMA, "/api/tags": (200, '{"models": []}')}) as here:
        found = named(checked(here), "models")
    assert found.ok
    assert "ollama pull" in found.message


@pytest.mark.parametrize(
    "answer", [(500, "oops"), (200, "[]"), (200, '{"models": [1]}'), (200, '{"models": null}')]
)
def test_a_list_of_models_that_is_none_is_a_failure(answer: tuple[int, str]) -> None:
    with answering({**OLLAMA, "/api/tags": answer}) as here:
        assert not named(checked(here), "models").ok


def test_many_models_are_counted_and_not_all_named() -> None:
    listed = ", ".join(f'{{"name": "m{number}"}}' for number in range(30))
    with answering({**OLLAMA, "/api/tags": (200, f'{{"models": [{listed}]}}')}) as here:
        found = named(checked(here), "models")
    assert found.message.startswith("30: m0, ")
    assert found.message.endswith("and 22 more")


def test_a_port_held_by_a_guard_is_fine_and_one_held_by_a_stranger_is_not() -> None:
    with answering({"/guard/health": (200, '{"status": "ok", "version": "0.1.0"}')}) as here:
        ours = named(checked(port=int(here.rpartition(":")[2])), "port")
    with answering({}) as here:
        strange = named(checked(port=int(here.rpartition(":")[2])), "port")
    assert ours.ok
    assert "version 0.1.0" in ours.message
    assert not strange.ok
    assert "--port" in strange.remedy


def test_a_guard_that_asks_for_a_token_is_recognised_by_who_has_it() -> None:
    with answering({"/guard/health": (200, '{"status": "ok"}')}, token="secret") as here:
        port = int(here.rpartition(":")[2])
        assert "status ok" in named(checked(port=port, token="secret"), "port").message


@pytest.mark.parametrize(("given", "said"), [({}, "its token"), ({"token": "other"}, "another token")])
def test_a_guard_that_asks_for_a_token_is_named_with_the_way_to_give_it(
    given: dict[str, str], said: str
) -> None:
    with answering({}, token="secret") as here:
        found = named(checked(port=int(here.rpartition(":")[2]), **given), "port")
    assert "ollama-guard runs on" in found.message
    assert said in found.message
    assert "OLLAMA_GUARD_TOKEN" in found.remedy


@pytest.mark.parametrize("page", [(401, "{}"), (401, "[]"), (401, '{"error": "who are you?"}'), (200, "[]")])
def test_a_stranger_that_refuses_is_not_taken_for_a_guard(page: tuple[int, str]) -> None:
    with answering({"/guard/health": page}) as here:
        assert not named(checked(port=int(here.rpartition(":")[2])), "port").ok


def test_a_guard_that_asks_for_a_token_is_found_out_as_the_upstream_too() -> None:
    with answering({}, token="secret") as here:
        found = named(checked(here), "upstream")
    assert not found.ok
    assert "is an ollama-guard" in found.message


def test_what_was_not_taken_of_the_environment_is_said() -> None:
    loaded = load(file=None, environ={"OLLAMA_HOST": "127.0.0.1:99999"}, flags={"port": free_port()})
    assert "99999" in named(check(loaded, {}), "note").message


def test_the_check_leaves_the_port_free() -> None:
    loaded = settings("127.0.0.1:9")
    check(loaded, {})
    socket.create_server(("127.0.0.1", loaded.settings.server.port)).close()


def test_proxy_variables_are_mentioned_with_what_clients_need() -> None:
    found = named(checked(environ={"https_proxy": "http://proxy:3128"}), "proxy")
    assert found.ok
    assert "HTTPS_PROXY" in found.message
    assert "NO_PROXY" in found.message
    exempt = named(checked(environ={"HTTP_PROXY": "x", "NO_PROXY": "127.0.0.1"}), "proxy")
    assert "NO_PROXY" not in exempt.message


@pytest.mark.parametrize(("possible", "enough"), [(575, False), (576, True), (None, True)])
def test_too_few_open_files_for_the_exchanges_allowed_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, possible: int | None, *, enough: bool
) -> None:
    monkeypatch.setattr(descriptors, "possible", lambda: possible)
    found = [each for each in checked() if each.name == "limits"]
    assert [each.ok for each in found] == ([] if enough else [False])
    assert enough or "max_exchanges" in found[0].remedy


def test_what_was_set_is_named() -> None:
    assert "server.port" in named(checked(), "settings").message


def test_each_policy_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "policies_of_a_test.py").write_text("def five(length): return 5\n")
    monkeypatch.chdir(tmp_path)
    flags = {
        "detect.policy": "policies_of_a_test:five",
        "detect.channels.tool.policy": "policies_of_a_test:six",
    }
    fine, bad = [one for one in check(load(file=None, environ={}, flags=flags), {}) if one.name == "policy"]
    assert (fine.ok, fine.message) == (True, "policies_of_a_test:five works")
    assert not bad.ok
    module = tmp_path / "policies_of_a_test.py"
    assert f"policies_of_a_test:six cannot be found: the module ({module}) has no six; used is" in bad.message
    assert bad.remedy.endswith("take out detect.channels.tool.policy.")
