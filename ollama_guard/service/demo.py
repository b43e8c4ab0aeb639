"""`ollama-guard demo`: the same looping model asked twice, directly and through the guard.

Real processes and sockets all the way; only the model is a mock, so no Ollama is needed. The figures that
are shown are those of this very run.
"""

import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ollama_guard.service.exits import Exit
from ollama_guard.service.stage import Heard, StageError, call, chat, mock_script, process

QUESTION = "A train takes 3 hours for 240 km. How fast is it?"
ANSWER = "240 km in 3 hours is 240 / 3 = 80 km per hour. The train goes 80 km/h."
OPENING = "The distance is 240 km and the time is 3 hours, so the speed is the distance over the time. "
LOOP = "Wait, let me check the units again. Kilometres and hours, so km/h. "
REPEATS = (
    400  # a generation that is left alone runs on to its token limit; this one is some 7,000 pieces long
)
MODEL = "mock:demo"
PIECE = 4
WIDTH = 92
Echo = Callable[[str], Any]


def script(delay: float) -> dict[str, Any]:
    """The model: it loops while thinking when first asked, and answers when asked again."""
    looping = [{"think": OPENING, "chunk": PIECE}, {"think": LOOP, "chunk": PIECE, "times": REPEATS}]
    answering = [{"say": ANSWER, "chunk": PIECE}, {"end": "stop"}]
    first = {"delay": delay, "steps": [*looping, {"end": "length"}]}
    return {"attempts": [first, {"delay": delay, "steps": answering}]}


def run(*, echo: Echo = print, fast: bool) -> int:
    """Play it. Returns 0 when the loop was cut and the answer came whole. fast: 5 ms a piece, not 20."""
    delay = 0.005 if fast else 0.02
    try:
        with tempfile.TemporaryDirectory(prefix="ollama-guard-demo-") as folder:
            return _play(echo, delay, 1.0 if fast else 3.0, Path(folder))
    except (StageError, OSError, ValueError) as error:
        echo(f"The demo did not work: {error}")
    except KeyboardInterrupt:
        echo("Interrupted.")
    return Exit.REFUSED


def _play(echo: Echo, delay: float, patience: float, folder: Path) -> int:
    (folder / "empty.toml").touch()  # the user's own settings are for the user's own guard
    state = str(folder / "run")
    serve = [
        "-m",
        "ollama_guard",
        "serve",
        "--config",
        str(folder / "empty.toml"),
        "--port",
        "0",
        "--upstream",
    ]
    with process([str(mock_script()), "--port", "0"], "http://", folder / "mock.log") as line:
        ollama = line.rpartition("http://")[2].rstrip("/")
        call(ollama, "POST", "/_mock/script", {"name": "demo", "script": script(delay)})
        _directly(echo, ollama, patience)
        call(ollama, "POST", "/_mock/reset")
        guarding = process(
            [*serve, f"http://{ollama}"], "listens on", folder / "guard.log", RUNTIME_DIRECTORY=state
        )
        with guarding as greeting:
            guard = greeting.partition("listens on http://")[2].partition(" ")[0]
            return _guarded(echo, guard, ollama)


def _directly(echo: Echo, ollama: str, patience: float) -> None:
    echo(f"\n1. A model that loops (a mock of Ollama on {ollama}), asked directly: {QUESTION}\n")
    heard = Heard()
    _show(echo, chat(ollama, MODEL, QUESTION, heard, patience=patience))
    total = -(-len(OPENING) // PIECE) + REPEATS * -(-len(LOOP) // PIECE)
    echo(
        f"\n   {heard.seconds:.1f} s, {heard.events} pieces, no answer: we hang up. "
        f"It would have gone on for {total:,} pieces, up to its token limit."
    )


def _guarded(echo: Echo, guard: str, ollama: str) -> int:
    echo(f"\n2. The same model and question, through ollama-guard on {guard}\n")
    heard = Heard()
    _show(echo, chat(guard, MODEL, QUESTION, heard, patience=60))
    asked = [row for row in call(ollama, "GET", "/_mock/journal") if row["path"] == "/api/chat"]
    if problem := _problem(heard, asked):
        echo(f"\n   This is not as it should be: {problem}")
        return Exit.REFUSED
    total = -(-len(OPENING) // PIECE) + REPEATS * -(-len(LOOP) // PIECE)
    cut, seconds = asked[0]["events"], asked[0]["ended_at"] - asked[0]["opened_at"]
    repeated = asked[0]["characters"] - len(OPENING)
    saved = total - sum(row["events"] for row in asked)
    echo(
        f"\n   Cut after {cut} pieces ({seconds:.1f} s, {repeated / len(LOOP):.1f} copies of the loop); "
        f"asked again inside the same response; whole answer after {heard.seconds:.1f} s.\n"
        f"   The model generated {total - saved:,} pieces instead of {total:,}: {saved / total:.0%} saved, "
        "and there is an answer.\n"
        f"   The client saw one ordinary response with one ending ({heard.endings[0]!r})."
    )
    return Exit.FINE


def _problem(heard: Heard, asked: list[dict[str, Any]]) -> str:
    """What is wrong with a run that should have been rescued, or nothing."""
    if heard.error:
        return f"the response ended with an error: {heard.error}"
    if len(asked) < 2 or asked[0]["ended"] not in ("client_closed", "reset"):
        return "the loop was not cut"
    if heard.content != ANSWER:
        return f"the answer is {heard.content!r}"
    if heard.endings != ["stop"]:
        return f"the response has the endings {heard.endings}"
    return ""


def _show(echo: Echo, pieces: Iterable[tuple[str, str]]) -> None:
    """Print what arrives, as it arrives, in lines; the channel is named where it changes."""
    line, channel, began = "", "", time.monotonic()

    def flush() -> None:
        if line.strip():
            echo(f"   {time.monotonic() - began:4.1f} s  {channel:<8}  {line.strip()}")

    for now_channel, text in pieces:
        if now_channel != channel:
            flush()
            line, channel = "", now_channel
        line += text
        if len(line) > WIDTH and " " in line.strip():
            whole, _, rest = line.rpartition(" ")
            line = whole
            flush()
            line = rest
    flush()
