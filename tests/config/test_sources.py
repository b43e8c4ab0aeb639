import os
from pathlib import Path

import pytest

from ollama_guard.config.sources import Draft, Origin, read_environment, read_file, read_flags


def from_file(tmp_path: Path, text: str) -> Draft:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    draft = Draft()
    read_file(draft, path, must_exist=True)
    return draft


def from_environment(**environ: str) -> Draft:
    draft = Draft()
    read_environment(draft, environ)
    return draft


def test_a_value_of_a_file_is_traced_to_its_line(tmp_path: Path) -> None:
    draft = from_file(tmp_path, "# hello\n[stall]\n\nmax_total_sec = 5\n")
    assert draft.values == {"stall.max_total_sec": 5.0}
    assert str(draft.origins["stall.max_total_sec"]) == f"file {tmp_path / 'config.toml'}, line 4"


def test_no_line_is_named_where_two_could_be_meant(tmp_path: Path) -> None:
    draft = from_file(tmp_path, '[intervene]\nsteer = """\nsteer = 1\n"""\n')
    assert draft.origins["intervene.steer"] == Origin("file", str(tmp_path / "config.toml"))


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xef\xbb\xbf[server]\r\nport = 1\r\n")
    draft = Draft()
    assert read_file(draft, path, must_exist=True)
    assert draft.values == {"server.port": 1}


def test_all_problems_of_a_file_are_told_and_the_good_values_kept(tmp_path: Path) -> None:
    draft = from_file(
        tmp_path,
        '[server]\nport = 99999\nprot = 1\nhost = "::1"\n[detect]\npreset = "mild"\n[setver]\nx = 1\n',
    )
    assert draft.values == {"server.host": "::1"}
    joined = "\n".join(draft.problems)
    assert len(draft.problems) == 4
    assert "server.port = 99999" in joined
    assert "from 0 to 65,535" in joined
    assert "line 2" in joined
    assert "server.prot" in joined
    assert "did you mean server.port?" in joined
    assert "balanced or strict" in joined
    assert "did you mean server?" in joined


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("port = 1\n", "did you mean server.port?"),
        ("max_total_sec = 1\n", "did you mean stall.max_total_sec?"),
        ("[server]\nmax_total_sec = 1\n", "did you mean stall.max_total_sec?"),
        (
            "[server]\nmax_retries = 1\n",
            "intervene.max_retries or empty.max_retries or truncated.max_retries",
        ),
        ("max_empty_retries = 1\n", "did you mean empty.max_retries?"),
        ("server = 1\n", "write [server]"),
        ("[zzz]\n", "sections are server, upstream"),
        ("[log]\nqqqqqqqq = 1\n", "[log] has file, level"),
    ],
)
def test_an_unknown_key_is_answered_with_what_may_have_been_meant(
    tmp_path: Path, text: str, meant: str
) -> None:
    [problem] = from_file(tmp_path, text).problems
    assert meant in problem


def test_a_file_that_is_not_toml_is_told_with_file_and_line(tmp_path: Path) -> None:
    [problem] = from_file(tmp_path, "[server]\nport = = 1\n").problems
    assert str(tmp_path / "config.toml") in problem
    assert "line 2" in problem


def test_a_file_that_nests_too_deep_is_a_problem_not_a_crash(tmp_path: Path) -> None:
    assert from_file(tmp_path, "a = " + "[" * 100_000).problems


def test_a_file_that_is_not_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"[server]\nhost = '\xff'\n")
    draft = Draft()
    assert not read_file(draft, path, must_exist=False)
    assert "UTF-8" in draft.problems[0]


def test_a_missing_file_is_a_problem_only_when_it_was_asked_for(tmp_path: Path) -> None:
    draft = Draft()
    assert not read_file(draft, tmp_path / "none.toml", must_exist=False)
    assert draft.problems == []
    read_file(draft, tmp_path / "none.toml", must_exist=True)
    assert "no such file" in draft.problems[0]


def test_a_folder_in_place_of_a_file_is_told(tmp_path: Path) -> None:
    draft = Draft()
    read_file(draft, tmp_path, must_exist=False)
    assert "cannot be read" in draft.problems[0]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("")
    path.chmod(0)
    draft = Draft()
    read_file(draft, path, must_exist=False)
    assert "cannot be read" in draft.problems[0]


def test_the_environment_has_full_and_short_names_and_the_full_one_wins() -> None:
    draft = from_environment(OLLAMA_GUARD_MAX_TOTAL_SEC="5", OLLAMA_GUARD_UPSTREAM="http://127.0.0.1:1")
    assert draft.values == {"stall.max_total_sec": 5.0, "upstream.url": "http://127.0.0.1:1"}
    assert draft.origins["stall.max_total_sec"] == Origin("env", "OLLAMA_GUARD_MAX_TOTAL_SEC")
    draft = from_environment(OLLAMA_GUARD_MAX_TOTAL_SEC="5", OLLAMA_GUARD_STALL__MAX_TOTAL_SEC="6")
    assert draft.values == {"stall.max_total_sec": 6.0}


def test_an_empty_variable_says_nothing() -> None:
    draft = from_environment(OLLAMA_GUARD_PORT="", OLLAMA_GUARD_LOG__FILE="")
    assert draft == Draft()


def test_a_bad_variable_names_itself_its_value_and_what_is_accepted() -> None:
    [problem] = from_environment(OLLAMA_GUARD_PORT="http").problems
    assert problem.startswith("server.port = 'http' (env OLLAMA_GUARD_PORT): accepted is a whole number")


def test_a_mistyped_variable_is_a_problem_and_an_unrelated_one_a_note() -> None:
    assert (
        "did you mean OLLAMA_GUARD_MAX_TOTAL_SEC?"
        in from_environment(OLLAMA_GUARD_MAX_TOTL_SEC="1").problems[0]
    )
    assert "no such setting" in from_environment(OLLAMA_GUARD_STALL__NOTHING_LIKE_IT="1").problems[0]
    draft = from_environment(OLLAMA_GUARD_IMAGE="x:1")
    assert draft.problems == []
    assert "OLLAMA_GUARD_IMAGE" in draft.notes[0]


def test_what_kubernetes_and_the_test_suite_set_is_left_alone() -> None:
    draft = from_environment(
        OLLAMA_GUARD_PORT="tcp://10.0.0.1:11435",
        OLLAMA_GUARD_PORT_11435_TCP_ADDR="10.0.0.1",
        OLLAMA_GUARD_SERVICE_HOST="10.0.0.1",
        OLLAMA_GUARD_SERVICE_PORT="11435",
        OLLAMA_GUARD_TEST_OPENAI="http://x",
        OLLAMA_GUARD_CONFIG="/x",
    )
    assert draft.values == {}
    assert draft.problems == []
    assert len(draft.notes) == 1


def test_flags_are_taken_by_flag_or_by_setting_and_none_says_nothing() -> None:
    draft = Draft()
    read_flags(
        draft,
        {"max-retries": "1", "drain_timeout": 3.0, "log.level": "debug", "port": None, "retry_empty": False},
    )
    assert draft.values == {
        "intervene.max_retries": 1,
        "server.drain_timeout": 3.0,
        "log.level": "debug",
        "empty.retry": False,
    }
    assert str(draft.origins["server.drain_timeout"]) == "flag --drain-timeout"
    assert str(draft.origins["log.level"]) == "flag --set"


def test_an_unknown_flag_is_answered_with_what_may_have_been_meant() -> None:
    draft = Draft()
    read_flags(draft, {"server.prot": "1"})
    assert "did you mean server.port?" in draft.problems[0]
