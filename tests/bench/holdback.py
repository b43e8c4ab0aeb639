"""What hold-back costs and saves, on the recorded corpus: `python -m tests.bench.holdback CORPUS_DIR`.

Each run goes through the engine frame by frame, at the pace it was recorded with (or at a set number of
deltas a second). For loops: how many characters of repetition the client was shown beyond the first copy. For
healthy runs: how long frames were held in all.
"""

import argparse
import gzip
import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ollama_guard.engine.messages import Begin, Bytes, Headers, Open, Send
from ollama_guard.engine.policy import Policy
from ollama_guard.engine.states import State
from ollama_guard.engine.stream import Exchange
from ollama_guard.wire.ollama_chat import OllamaChat


@dataclass
class Outcome:
    """One run: characters shown, seconds in which something was held, whether it was cut."""

    shown: int
    held_sec: float
    longest_sec: float
    cut: bool


def play(run: dict[str, Any], times: list[float]) -> Outcome:
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
    return Outcome(shown, held, longest, cut=False)


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


def main() -> None:
    """Print the two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rate", type=float, default=30.0, help="deltas a second; 0: as recorded")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    times = arrivals(options.corpus) if not options.rate else {}
    beyond, units, held, missed = [], [], [], []
    for run, label in runs(options.corpus):
        count = len(run["chunks"])
        pace = [n / (options.rate or 30.0) for n in range(count)]
        recorded = times.get(run["id"], pace)
        outcome = play(run, recorded if len(recorded) == count else pace)
        if label["class"] == "loop":
            if not outcome.cut:
                missed.append(run["id"])
                continue
            extra = max(0, outcome.shown - label["loop_onset"])
            beyond.append(extra)
            units.append(extra / label["period"])
            if options.verbose:
                print(f"loop    {run['id']:45} period {label['period']:7.1f} beyond {extra:6}")
        elif label["class"] == "healthy":
            held.append(outcome.held_sec)
            if options.verbose and outcome.held_sec > 0.1:
                spans = f"{outcome.held_sec:.2f} s, longest {outcome.longest_sec:.2f} s"
                print(f"healthy {run['id']:45} held {spans}")
            if outcome.cut:
                print(f"FALSE   {run['id']}")
    print(f"loops cut {len(beyond)}, missed {len(missed)} {missed}")
    print(f"shown beyond the first copy: {_spread(beyond)} characters, {_spread(units)} units")
    print(f"healthy runs {len(held)}: held {_spread(held)} s, over 0.3 s: {sum(h > 0.3 for h in held)}")


def _spread(values: list[float]) -> str:
    if not values:
        return "none"
    ninety = statistics.quantiles(values, n=10)[-1] if len(values) > 1 else values[0]
    return f"median {statistics.median(values):.2f}, 90 % {ninety:.2f}, most {max(values):.2f}"


if __name__ == "__main__":
    main()
