"""What the guard costs between client and Ollama, against the plainest pass-through (`passthrough`).

    python -m tests.bench.bench_proxy [--rounds 9] [--streams 20,100] [--also before=/other/checkout]

Both stand in front of the same light upstream and are loaded in turn, a second at a time, in changing order.
A row has the median over the rounds: CPU time of the proxy's process an event (for `requests`: a request),
its ratio to the pass-through of the same round, how late an event and the first byte are. CPU time bears
a busy machine better than the clock does; of neither is the absolute value worth much. Linux only.
"""

import argparse
import asyncio
import contextlib
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.net import READY_WITHIN, ROOT, free_port

from . import light

RATE = 40


@dataclass(frozen=True)
class Load:
    """Streams at once, and in each: requests one after another of so many events."""

    name: str
    streams: int
    requests: int
    events: int
    rate: int


@dataclass(frozen=True)
class Row:
    """One load on one proxy; microseconds."""

    cpu: float
    late: float
    first: float
    whole: bool


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far, to the nanosecond."""
    tasks = Path(f"/proc/{pid}/task")
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9


def measure(pid: int, port: int, load: Load) -> Row:
    """Put one load on a proxy."""
    seen = light.Seen()

    async def all_of_it() -> None:
        async with asyncio.TaskGroup() as tasks:
            for number in range(load.streams):
                tasks.create_task(light.ask(port, load.events, load.rate, load.requests, seen))
                if load.rate:
                    await asyncio.sleep(1 / RATE / load.streams if number else 0)

    before = cpu_seconds(pid)
    asyncio.run(all_of_it())
    spent = cpu_seconds(pid) - before
    answers = load.streams * load.requests
    parts = answers * load.events if load.events > 1 else answers
    late, first = (statistics.median(times or [0.0]) * 1e6 for times in (seen.late, seen.first))
    return Row(spent / parts * 1e6, late, first, seen.whole == answers)


def until_listening(port: int) -> None:
    """Wait for somebody there."""
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise TimeoutError(f"nobody listens on {port}")


@contextlib.contextmanager
def process(*command: str, root: Path = ROOT, port: int) -> Iterator[int]:
    """A child that listens on a port; its process id."""
    env = {**os.environ, "PYTHONPATH": str(root)}
    child = subprocess.Popen([sys.executable, *command], cwd=root, env=env, stderr=subprocess.DEVNULL)
    try:
        until_listening(port)
        yield child.pid
    finally:
        child.terminate()
        child.wait()


@contextlib.contextmanager
def proxies(others: dict[str, Path]) -> Iterator[dict[str, tuple[int, int]]]:
    """All of them in front of one upstream: name -> process id, port."""
    source = free_port()
    with contextlib.ExitStack() as stack:
        stack.enter_context(process("-m", "tests.bench.light", str(source), port=source))
        port = free_port()
        command = ("-m", "tests.bench.passthrough", str(port), str(source))
        found = {"pass": (stack.enter_context(process(*command, port=port)), port)}
        for name, root in {"guard": ROOT, **others}.items():
            port = free_port()
            command = (
                "-m",
                "ollama_guard",
                "serve",
                f"--port={port}",
                f"--upstream=http://127.0.0.1:{source}",
            )
            found[name] = (stack.enter_context(process(*command, root=root, port=port)), port)
        yield found


def loads(streams: list[int], seconds: float) -> list[Load]:
    """Paced, as fast as it goes, and one short answer after another."""
    paced = [Load(f"{n} streams", n, 1, round(RATE * seconds), RATE) for n in streams]
    return [*paced, Load("flat out", 8, 1, 1500, 0), Load("requests", 1, 60, 1, 0)]


def table(load: Load, rows: dict[str, list[Row]]) -> Iterator[str]:
    """Markdown."""
    yield f"\n| {load.name} | CPU us | x pass | late us | first byte us |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, own in rows.items():
        ratio = statistics.median(row.cpu / base.cpu for row, base in zip(own, rows["pass"], strict=True))
        cpu, late, first = (
            statistics.median(getattr(row, what) for row in own) for what in ("cpu", "late", "first")
        )
        broken = "" if all(row.whole for row in own) else " (broken streams)"
        yield f"| {name}{broken} | {cpu:.1f} | {ratio:.2f} | {late:.0f} | {first:.0f} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--streams", default="20,100")
    parser.add_argument("--also", action="append", default=[], metavar="NAME=ROOT", help="another checkout")
    options = parser.parse_args()
    others = {name: Path(root) for name, _, root in (text.partition("=") for text in options.also)}
    plan = loads([int(n) for n in options.streams.split(",") if n], options.seconds)
    with proxies(others) as found:
        rows: dict[Load, dict[str, list[Row]]] = {load: {name: [] for name in found} for load in plan}
        for turn in range(-1, options.rounds):
            for load in plan:
                for name in random.sample(list(found), len(found)):
                    row = measure(*found[name], load)
                    if turn >= 0:  # the first round warms up
                        rows[load][name].append(row)
    for load in plan:
        print("\n".join(table(load, rows[load])))


if __name__ == "__main__":
    main()
