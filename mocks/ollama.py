"""A scripted Ollama for tests and for `ollama-guard demo`. Standard library only; run by path, or imported.

    python mocks/ollama.py --port 11434
    curl http://127.0.0.1:11434/api/generate -d '{"model": "mock:loop-reasoning", "prompt": "Why?"}'

The model name picks what happens: `--list` prints them, script.py says how a script is written.
"""

import argparse
import asyncio
import contextlib
import signal
import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:
    # Run by path: imports begin beside the package, not inside it, where this file would be named `ollama`.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from mocks.journal import Entry, Journal
from mocks.replay import register
from mocks.script import Script, ScriptError, load_folder
from mocks.server import MockOllama, running

__all__ = ["Entry", "Journal", "MockOllama", "Script", "ScriptError", "running"]


async def serve(mock: MockOllama) -> None:
    """Run until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in ("SIGINT", "SIGTERM"):
        with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers in the loop
            loop.add_signal_handler(getattr(signal, name), stop.set)
    async with mock:
        print(f"mock Ollama on {mock.url}", flush=True)
        await stop.wait()


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code."""
    parser = argparse.ArgumentParser(prog="mocks/ollama.py", description="A scripted Ollama.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=11434, help="port; 0 for a free one (default: %(default)s)"
    )
    parser.add_argument(
        "--delay", type=float, default=0.005, help="seconds between events (default: %(default)s)"
    )
    parser.add_argument("--corpus", type=Path, help="runs to play as the models replay:ID (JSON lines)")
    parser.add_argument("--list", action="store_true", help="print the model names and what they do")
    given = parser.parse_args(arguments)
    if given.list:
        for name, script in load_folder().items():
            print(f"mock:{name:24} {script.about}")
        return 0
    mock = MockOllama(host=given.host, port=given.port, delay=given.delay)
    if given.corpus:
        print(f"{register(mock, given.corpus)} runs to replay", flush=True)
    try:
        asyncio.run(serve(mock))
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        print(f"cannot listen on {mock.authority}: {error.strerror}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
