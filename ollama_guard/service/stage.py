"""What the demo plays with: the mock upstream and the guard as processes, and a plain client of /api/chat."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
START_SEC = 20.0
END_SEC = 10.0


class StageError(Exception):
    """The demo could not be set up; the message says what is missing or what a process said."""


def mock_script() -> Path:
    """Where the mock upstream is: inside the installed package, or beside it in a checkout."""
    for place in (PACKAGE / "mocks" / "ollama.py", PACKAGE.parent / "mocks" / "ollama.py"):
        if place.is_file():
            return place
    raise StageError("the mock upstream (mocks/ollama.py) is not part of this installation")


@contextlib.contextmanager
def process(arguments: list[str], mark: str, logs: Path, **environ: str) -> Iterator[str]:
    """Run `python ARGUMENTS` while inside; gives the first line with `mark` of its standard output.

    Variables that would change what the guard does are kept from it. Raises StageError.
    """
    ours = {
        key: value for key, value in os.environ.items() if not key.upper().startswith(("OLLAMA", "NOTIFY"))
    }
    ours["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PACKAGE.parent), ours.get("PYTHONPATH")]))
    with logs.open("w", encoding="utf-8") as log:
        child = subprocess.Popen(  # noqa: S603 - our own interpreter, our own arguments
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**ours, **environ},
        )
    try:
        yield _first(child, mark, logs)
    finally:
        child.terminate()
        try:
            child.wait(END_SEC)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if child.stdout is not None:
            child.stdout.close()


def _first(child: subprocess.Popen[str], mark: str, logs: Path) -> str:
    assert child.stdout is not None  # noqa: S101 - it is a pipe
    for line in child.stdout:
        if mark in line:
            return line.strip()
    child.wait(END_SEC)
    said = logs.read_text(encoding="utf-8").strip()
    raise StageError(f"a process ended with code {child.returncode} before it was ready: {said[-500:]}")


def call(authority: str, method: str, path: str, body: Any = None) -> Any:
    """One request for a small JSON answer; None for an answer without a body."""
    connection = http.client.HTTPConnection(authority, timeout=START_SEC)
    try:
        connection.request(method, path, body=None if body is None else json.dumps(body))
        response = connection.getresponse()
        data = response.read()
        if response.status >= 300:
            raise StageError(f"{method} {path}: HTTP {response.status} {data[:200]!r}")
        return json.loads(data) if data else None
    finally:
        connection.close()


@dataclass
class Heard:
    """What a client got from one streamed chat."""

    thinking: str = ""
    content: str = ""
    events: int = 0
    endings: list[str] = field(default_factory=list)
    error: str = ""
    seconds: float = 0.0


def chat(
    authority: str, model: str, question: str, heard: Heard, *, patience: float
) -> Iterator[tuple[str, str]]:
    """Stream /api/chat, and yield each piece as (channel, text); after `patience` seconds hang up.

    heard is filled along the way. Raises StageError for a status other than 200.
    """
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": question}]})
    connection = http.client.HTTPConnection(authority, timeout=START_SEC)
    began = time.monotonic()
    try:
        connection.request("POST", "/api/chat", body=body, headers={"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise StageError(f"HTTP {response.status}: {response.read(500).decode(errors='replace')}")
        while (line := response.readline()) and time.monotonic() - began < patience:
            yield from _read(json.loads(line), heard)
    finally:
        heard.seconds = time.monotonic() - began
        connection.close()


def _read(record: Mapping[str, Any], heard: Heard) -> Iterator[tuple[str, str]]:
    heard.error = heard.error or str(record.get("error", ""))
    message = record.get("message", {})
    thinking, content = message.get("thinking", ""), message.get("content", "")
    heard.thinking += thinking
    heard.content += content
    heard.events += bool(thinking or content)
    if record.get("done"):
        heard.endings.append(str(record.get("done_reason", "")))
    if thinking:
        yield "thinking", thinking
    if content:
        yield "answer", content
