"""Microseconds per delta of a watch with a full window, on ordinary and on hostile text.

    python -m tests.bench.bench_detect [--chars 20000] [--delta 4] [--preset strict] [--channel reasoning]

CPU time of this thread, so other jobs count little. A verdict ends a stream, so where one falls a new watch
is set up, outside of the time measured.
"""

import argparse
import random
import statistics
import time
from collections.abc import Iterator

from ollama_guard.detect.rules import WatchRules, preset
from ollama_guard.detect.watch import Watch

SYLLABLES = (
    "ra ton mel si qua ver lo ni dex pro hul ka zen bri fo gam ut pel sor ch en da vo ster il om rek th a"
)


def thue_morse(size: int) -> str:
    return "".join("ab"[place.bit_count() % 2] for place in range(size))


def fibonacci(size: int) -> str:
    one, two = "b", "a"
    while len(two) < size:
        one, two = two, two + one
    return two[:size]


def ordinary(size: int) -> Iterator[tuple[str, str]]:
    dice = random.Random(7)
    vocabulary = [
        "".join(dice.choice(SYLLABLES.split()) for _ in range(dice.randint(1, 3))) for _ in range(3000)
    ]
    yield "words", " ".join(dice.choice(vocabulary) for _ in range(size // 4))[:size]
    yield (
        "json",
        "".join(
            f'  {{"id": {row}, "name": "{dice.choice(vocabulary)}", "on": {row % 3 == 0}}},\n'
            for row in range(size // 30)
        )[:size],
    )
    yield "han", "".join(chr(0x4E00 + int(2500 * dice.random() ** 2)) for _ in range(size))
    lines = [f"        self.{name} = {name}\n" for name in vocabulary[:300]]
    yield "code", "".join(dice.choice(lines) for _ in range(size // 20))[:size]


def hostile(size: int) -> Iterator[tuple[str, str]]:
    dice = random.Random(8)
    yield "aaaa", "a" * size
    yield "spaces", " " * size
    yield "a^n b", "".join("a" * dice.randint(29, 47) + "b" for _ in range(size // 30))[:size]
    yield "a^5000 b", ("a" * 5000 + "b") * (size // 5001 + 1)
    yield "odd one each 32", "".join("a" * 31 + chr(0x61 + row % 26) for row in range(size // 32 + 1))[:size]
    yield "fibonacci", fibonacci(size)
    yield "thue-morse", thue_morse(size)
    yield (
        "counter lines",
        "".join(f"- [ ] step {row:06d} of the plan is pending\n" for row in range(size // 38))[:size],
    )
    yield "DNA", "".join(dice.choice("ACGT") for _ in range(size))
    yield "fences", "".join(f"```\n{row % 7}\n```\n" for row in range(size // 8))[:size]
    runs = "".join(chr(0x61 + dice.randrange(26)) * 100 + "\n" for _ in range(size // 100))
    yield "runs of 100", runs[:size]


def cost(rules: WatchRules, channel: str, text: str, delta: int, window: int) -> tuple[float, float, int]:
    """Mean and 99th percentile (blocks of 10 deltas) in microseconds, and verdicts on the way."""
    watch, verdicts = Watch(rules), 0
    blocks = []
    deltas = [text[place : place + delta] for place in range(0, len(text), delta)]
    for place in range(0, len(deltas), 10):
        block = deltas[place : place + 10]
        found = None
        started = time.thread_time()
        for piece in block:
            found = found or watch.feed(channel, piece)
        spent = time.thread_time() - started
        if place * delta >= window:
            blocks.append(spent * 1e6 / len(block))
        if found:  # go on as if nothing had been: this text never ends
            watch, verdicts = Watch(rules), verdicts + 1
            watch.feed(channel, "".join(deltas[max(0, place - window // delta) : place]))
    blocks.sort()
    return statistics.fmean(blocks), blocks[int(len(blocks) * 0.99)], verdicts


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chars", type=int, default=20_000)
    parser.add_argument("--delta", type=int, default=4)
    parser.add_argument("--preset", default="balanced")
    parser.add_argument("--channel", default="content")
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many is shown")
    options = parser.parse_args()
    rules = preset(options.preset)
    print(f"{options.preset}, {options.channel}, deltas of {options.delta}, a full window of {rules.window}")
    print(f"{'text':18} {'us/delta':>9} {'p99':>8}  verdicts")
    for kind in (ordinary, hostile):
        for name, text in kind(options.chars + rules.window):
            mean, worst, verdicts = min(
                cost(rules, options.channel, text, options.delta, rules.window) for _ in range(options.repeat)
            )
            print(f"{name:18} {mean:9.2f} {worst:8.1f}  {verdicts}")
    whole = "".join(text for _, text in ordinary(1_000_000))
    started = time.thread_time()
    Watch(rules).feed(options.channel, whole)
    print(f"one delta of {len(whole)} characters: {(time.thread_time() - started) * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
