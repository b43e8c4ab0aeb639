"""What hold-back costs and saves: `python -m tests.bench.holdback CORPUS_DIR [--nasty] [--healthy FOLDER]`.

Each run goes through the engine frame by frame, at a set number of deltas a second (or at the pace it was
recorded with). For loops: how many characters of repetition the client was shown beyond the first copy, and
whether it was held back within one unit (or 120 characters). For healthy texts: how long frames were held in
all. Besides the recorded runs these may be the texts of `nasty`, and the files of any folder.
"""

import argparse
import gzip
import json
import random
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ollama_guard.engine.messages import Begin, Bytes, Headers, Open, Send
from ollama_guard.engine.policy import Policy
from ollama_guard.engine.states import State
from ollama_guard.engine.stream import Exchange
from ollama_guard.wire.ollama_chat import OllamaChat

from .nasty import TEXTS

RATE = 30.0
"""Deltas a second: a model that is quick to read along with."""
DELTA = 4
"""Characters of a delta of English text."""
CUT = 10_000
"""Characters of a file that are played: a long answer."""
ALLOWED_SEC = 0.3
"""How long a healthy answer may be held in all."""
IN_TIME = 120


@dataclass(frozen=True)
class Outcome:
    """One run: characters shown, seconds in which something was held, whether it was cut."""

    shown: int
    held_sec: float
    longest_sec: float
    cut: bool


@dataclass(frozen=True)
class Loop:
    """A recorded loop that was cut."""

    name: str
    kind: str
    period: float
    beyond: int

    @property
    def in_time(self) -> bool:
        """Whether it was held back within one unit after the first copy, or soon where that is short."""
        return self.beyond <= max(self.period, IN_TIME)


def play(run: dict[str, Any], times: Sequence[float]) -> Outcome:
    """One run through the engine. `times`: seconds at which each delta comes."""
    dialect = OllamaChat()
    body = {"model": "demo:8b", "messages": [{"role": "user", "content": run["prompt"]}]}
    request = dialect.request(json.dumps(body).encode())
    assert request is not None
    exchange = Exchange(dialect, request, Policy(), memory={"demo:8b": False})
    exchange.step(Begin(0.0))
    exchange.step(Headers(1, 200, [(b"content-type", b"application/x-ndjson")], 0.0))
    field = "thinking" if run["channel"] == "reasoning" else "content"
    at, shown, held, longest, since = 0, 0, 0.0, 0.0, None
    for size, now in zip(run["chunks"], times, strict=True):
        message = {"role": "assistant", "content": ""} | {field: run["text"][at : at + size]}
        at += size
        line = json.dumps({"model": "demo:8b", "message": message, "done": False}).encode() + b"\n"
        outputs = exchange.step(Bytes(1, line, now))
        if any(isinstance(output, Open) for output in outputs) or exchange.state is State.ENDED:
            return Outcome(shown, held, longest, cut=True)
        sent = b"".join(output.data for output in outputs if isinstance(output, Send))
        if sent:
            shown += sum(len(json.loads(one)["message"].get(field, "")) for one in sent.splitlines())
        if shown == at:
            if since is not None:
                held, longest, since = held + now - since, max(longest, now - since), None
        elif since is None:
            since = now
    if since is not None:  # what is still held at the end goes out with the ending
        held, longest = held + times[-1] - since, max(longest, times[-1] - since)
    return Outcome(shown, held, longest, cut=False)


def pace(count: int, rate: float = RATE) -> list[float]:
    """Times of arrival at a steady rate."""
    return [n / rate for n in range(count)]


def arrivals(folder: Path) -> dict[str, list[float]]:
    """Seconds of arrival of the text deltas of each run, where they were kept."""
    found: dict[str, list[float]] = {}
    with gzip.open(folder / "sse_events.jsonl.gz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            found[row["id"]] = [ms / 1000 for ms, event in row["events"] if _has_text(event)]
    return found


def _has_text(event: str) -> bool:
    if not event.startswith("data: {"):
        return False
    choices = json.loads(event[6:]).get("choices") or [{}]
    delta = choices[0].get("delta", {})
    return bool(delta.get("content") or delta.get("reasoning_content"))


def runs(folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each run with its label."""
    with (folder / "real_runs.jsonl").open() as texts, (folder / "labels.jsonl").open() as labels:
        for text, label in zip(texts, labels, strict=True):
            yield json.loads(text), json.loads(label)


def made_run(name: str, text: str, prompt: str = "", channel: str = "content") -> dict[str, Any]:
    """A text as a run of even deltas."""
    chunks = [len(text[at : at + DELTA]) for at in range(0, len(text), DELTA)]
    return {"id": name, "text": text, "prompt": prompt, "channel": channel, "chunks": chunks}


def nasty_runs() -> Iterator[dict[str, Any]]:
    """Healthy texts that look like loops, as answers and as thinking."""
    for name, (text, prompt) in TEXTS.items():
        for channel in ("content", "reasoning"):
            yield made_run(f"{name}/{channel}", text, prompt, channel)


def file_runs(folder: Path, most: int) -> Iterator[dict[str, Any]]:
    """So many text files from a folder, drawn by lot, each third of them as thinking."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    random.Random(7).shuffle(paths)
    found = 0
    for path in paths:
        try:
            text = path.read_text("utf-8")[:CUT]
        except (OSError, UnicodeDecodeError):
            continue
        if len(text) >= CUT // 10:
            found += 1
            yield made_run(str(path), text, channel="content" if found % 3 else "reasoning")
            if found == most:
                return


def loops(folder: Path, times: dict[str, list[float]], rate: float) -> tuple[list[Loop], list[str]]:
    """The recorded loops that are cut, and the names of the others."""
    cut, missed = [], []
    for run, label in runs(folder):
        if label["class"] != "loop":
            continue
        outcome = play(run, _times(run, times, rate))
        if outcome.cut:
            beyond = max(0, outcome.shown - label["loop_onset"])
            cut.append(Loop(run["id"], label["kind"], label["period"], beyond))
        else:
            missed.append(run["id"])
    return cut, missed


def recorded_healthy(folder: Path) -> Iterator[dict[str, Any]]:
    """The recorded runs without a loop."""
    return (run for run, label in runs(folder) if label["class"] == "healthy")


def tell_healthy(
    name: str, found: Iterable[dict[str, Any]], times: dict[str, list[float]], options: argparse.Namespace
) -> None:
    """How long healthy runs were held."""
    held = []
    for run in found:
        outcome = play(run, _times(run, times, options.rate or RATE))
        if outcome.cut:
            print(f"FALSE   {run['id']}")
            continue
        held.append(outcome.held_sec)
        if options.verbose and outcome.held_sec > 0.1:
            print(f"held    {run['id'][-60:]:60} {outcome.held_sec:.2f}, longest {outcome.longest_sec:.2f} s")
    over = sum(sec > ALLOWED_SEC + 1e-6 for sec in held)
    print(f"healthy, {name} {len(held)}: held {spread(held)} s, over {ALLOWED_SEC} s: {over}")


def spread(values: Sequence[float]) -> str:
    """Median, 90th percentile and maximum."""
    if not values:
        return "none"
    ninety = statistics.quantiles(values, n=10)[-1] if len(values) > 1 else values[0]
    return f"median {statistics.median(values):.2f}, 90 % {ninety:.2f}, most {max(values):.2f}"


def _times(run: dict[str, Any], times: dict[str, list[float]], rate: float) -> list[float]:
    count = len(run["chunks"])
    recorded = times.get(run["id"], [])
    return recorded if len(recorded) == count else pace(count, rate)


def _tell_loops(name: str, cut: Sequence[Loop]) -> None:
    beyond = [one.beyond for one in cut]
    units = [one.beyond / one.period for one in cut]
    in_time = sum(one.in_time for one in cut)
    print(
        f"loops, {name} {len(cut)}: beyond the first copy {spread(beyond)} characters, {spread(units)} units"
    )
    print(f"    held within one unit or {IN_TIME} characters: {in_time} of {len(cut)}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rate", type=float, default=RATE, help="deltas a second; 0: as recorded")
    parser.add_argument("--nasty", action="store_true", help="healthy texts that look like loops too")
    parser.add_argument("--healthy", type=Path, metavar="FOLDER", help="the text files in there too")
    parser.add_argument("--most", type=int, default=300, help="so many of them")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    times = arrivals(options.corpus) if not options.rate else {}
    cut, missed = loops(options.corpus, times, options.rate or RATE)
    if options.verbose:
        for one in cut:
            print(f"loop    {one.name:45} {one.kind:16} period {one.period:7.1f} beyond {one.beyond:6}")
    print(f"loops cut {len(cut)}, missed {len(missed)} {missed}")
    _tell_loops("all", cut)
    _tell_loops("exact", [one for one in cut if one.kind == "exact"])
    _tell_loops("exact, longer than 100", [o for o in cut if o.kind == "exact" and o.period > 100])
    _tell_loops("others", [one for one in cut if one.kind != "exact"])
    tell_healthy("recorded", recorded_healthy(options.corpus), times, options)
    if options.nasty:
        tell_healthy("nasty", nasty_runs(), {}, options)
    if options.healthy:
        tell_healthy("files", file_runs(options.healthy, options.most), {}, options)


if __name__ == "__main__":
    main()
