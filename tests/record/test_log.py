import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from ollama_guard.config.schema import Log
from ollama_guard.engine.messages import Record
from ollama_guard.record import log


@pytest.fixture(autouse=True)
def _silence_after() -> Iterator[None]:
    level = logging.getLogger().level
    yield
    log.close()
    logging.getLogger().setLevel(level)
    structlog.reset_defaults()


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


VERDICT = Record("verdict", {"kind": "periodic", "unit": "round and round ", "detail": "a\nb\x1b[31m"})


def test_a_row_is_one_json_line_with_event_time_level_and_exchange(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.setup(Log(format="json"))
    log.log_record(VERDICT, exchange="7f")
    [row] = rows(capsys)
    assert (row["event"], row["level"], row["exchange"], row["kind"]) == ("verdict", "info", "7f", "periodic")
    assert str(row["time"]).endswith("Z")
    assert row["detail"] == "a\\nb\\x1b[31m"


def test_away_from_a_terminal_rows_are_json_and_on_one_they_are_for_people(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log.setup(Log())
    log.log_record(VERDICT)
    assert rows(capsys)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    log.setup(Log())
    log.log_record(VERDICT)
    assert " info    verdict  kind=periodic" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_row_holds_text_of_prompt_or_answer_unless_asked_to(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log.setup(Log(format=form))  # type: ignore[arg-type]
    log.log_record(VERDICT)
    assert "round" not in capsys.readouterr().err
    log.setup(Log(format=form, content=True))  # type: ignore[arg-type]
    log.log_record(VERDICT)
    assert "round and round" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_value_cannot_forge_a_row_or_steer_a_terminal(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log.setup(Log(format=form))  # type: ignore[arg-type]
    evil = 'x"\n12:00:00 error   forged  kind=a\x1b[2J\r'
    log.log_record(Record(evil, {"model": evil, evil: evil, "list": [evil]}), exchange=evil)
    logging.getLogger("other").warning("%s", evil)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)


def test_a_value_on_the_console_cannot_pass_for_another_field(capsys: pytest.CaptureFixture[str]) -> None:
    log.setup(Log(format="console"))
    log.log_record(Record("exchange", {"model": "m  outcome=done", "outcome": "gave_up"}))
    assert 'model="m  outcome=done"' in capsys.readouterr().err


def _fail(message: str) -> None:
    raise ValueError(message)


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_traceback_cannot_forge_a_row(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    log.setup(Log(format=form))  # type: ignore[arg-type]
    try:
        _fail("boo\n12:00:00 error   forged\x1b[0m")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
    lines = capsys.readouterr().err.splitlines()
    assert all(line.isprintable() for line in lines)
    assert any("ValueError: boo" in line for line in lines)
    assert not any(line.startswith("12:00:00 error   forged") for line in lines)


def test_uvicorn_speaks_in_our_rows_without_its_access_log(capsys: pytest.CaptureFixture[str]) -> None:
    log.setup(Log(format="json"))
    logging.getLogger("uvicorn.error").setLevel(
        logging.INFO
    )  # a server of an earlier test may have raised it
    logging.getLogger("uvicorn.error").info("Started server process [%d]", 3)
    logging.getLogger("uvicorn.access").info('127.0.0.1 - "GET / HTTP/1.1" 200')
    [row] = rows(capsys)
    assert row["event"] == "Started server process [3]"
    assert row["logger"] == "uvicorn.error"


def test_a_connection_that_was_closed_on_purpose_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    log.setup(Log(format="json"))
    log.setup(Log(format="json"))
    logging.getLogger("uvicorn.error").error("ASGI callable returned without completing response.")
    assert rows(capsys) == []
    logging.getLogger("uvicorn.error").error("ASGI callable returned without starting response.")
    assert len(rows(capsys)) == 1


def test_a_message_of_structlog_carries_its_context(capsys: pytest.CaptureFixture[str]) -> None:
    log.setup(Log(format="json"))
    with structlog.contextvars.bound_contextvars(exchange="9"):
        structlog.get_logger("ollama_guard").warning("slow_client", token="s3cret", ratio=float("nan"))
    [row] = rows(capsys)
    assert (row["exchange"], row["token"], row["ratio"]) == ("9", "[hidden]", "nan")


@pytest.mark.parametrize(("level", "seen"), [("debug", 3), ("info", 2), ("warning", 1), ("error", 0)])
def test_rows_below_the_level_are_left_out(level: str, seen: int, capsys: pytest.CaptureFixture[str]) -> None:
    log.setup(Log(format="json", level=level))  # type: ignore[arg-type]
    logging.getLogger("x").debug("a")
    structlog.get_logger("x").info("b")
    structlog.get_logger("x").warning("c")
    assert len(rows(capsys)) == seen


def test_an_exchange_that_failed_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    log.setup(Log(format="json"))
    for outcome in ("done", "recovered", "client_gone", "gave_up", "drained"):
        log.log_record(Record("exchange", {"outcome": outcome}))
    for event in ("fault", "recovery", "refused", "unguarded"):
        log.log_record(Record(event, {"dialect": "openai-chat"}))
    levels = [row["level"] for row in rows(capsys)]
    assert levels == ["info"] * 3 + ["warning"] * 6


def test_rows_go_to_the_file_too_as_json_unless_said_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "guard.log"
    log.setup(Log(format="auto", file=str(path)))
    log.log_record(VERDICT)
    assert json.loads(path.read_text())["event"] == "verdict"
    assert len(rows(capsys)) == 1
    log.setup(Log(format="console", file=str(path)))
    log.log_record(VERDICT)
    assert "verdict  kind=periodic" in path.read_text().splitlines()[1]


def test_a_file_that_cannot_be_written_leaves_standard_error_at_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    log.setup(Log(format="json", file=str(tmp_path / "file" / "guard.log")))
    log.log_record(VERDICT)
    log.log_record(VERDICT)
    told, *written = capsys.readouterr().err.splitlines()
    assert "cannot be written" in told
    assert len(written) == 2


def test_a_tilde_in_the_files_name_is_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    log.setup(Log(format="json", file="~/guard.log"))
    log.log_record(VERDICT)
    assert (tmp_path / "guard.log").exists()


def test_setting_up_again_replaces_what_was_set_up(capsys: pytest.CaptureFixture[str]) -> None:
    log.setup(Log(format="json"))
    log.setup(Log(format="json"))
    log.log_record(VERDICT)
    assert len(rows(capsys)) == 1
