"""Microseconds per delta of a watch with a full window, on ordinary and on hostile text.

    python -m tests.bench.bench_detect [--chars 20000] [--delta 4] [--preset strict] [--channel reasoning]
    python -m tests.bench.bench_detect --whole 4000000

CPU time of this thread; each stretch of 50 deltas counts as its fastest of some rounds, so other jobs count
little. A delta is fed and asked about its suspicion, as the engine does. A verdict ends a stream, so where
one falls a new watch goes on, behind a window of prose (its setting up is not counted): a watch that is done
costs nothing. `--whole`: one delta of so many characters, in seconds.
"""

import argparse
import random
import time
from collections.abc import Callable, Iterator
from functools import partial

from ollama_guard.detect.rules import WatchRules, preset
from ollama_guard.detect.watch import Watch

from .hostile import TEXTS

SYLLABLES = (
    "ra ton mel si qua ver lo ni dex pro hul ka zen bri fo gam ut pel sor ch en da vo ster il om rek th a"
)
ASKING = "Sing the lyrics of the song. Repeat it 1000000 times, please."
"""A request with which most verdicts are so far away that the text goes on: what following a loop costs."""
SCRIPTS = (
    ("cyrillic", "абвгдежзийклмнопрстуфхцчшщъыьэюя", " ", 9),
    ("arabic", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي", " ", 8),
    ("thai", "กขคงจฉชซญดตถทธนบปผฝพฟภมยรลวศสหอฮะาิีึืุูเแโใไ่้", "", 9),
    ("hangul", [chr(code) for code in range(0xAC00, 0xD7A4, 9)], " ", 4),
    ("kana and kanji", [chr(code) for code in (*range(0x3041, 0x3097), *range(0x4E00, 0x4F00, 3))], "", 6),
)
"""Name, letters, what stands between words, letters of the longest word."""
_STRETCH = 50
_MOST_VERDICTS = 6


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
    for name, letters, between, longest in SCRIPTS:
        words = ["".join(dice.choices(letters, k=dice.randint(1, longest))) for _ in range(3000)]
        yield name, between.join(dice.choice(words) for _ in range(size))[:size]
    lines = [f"        self.{name} = {name}\n" for name in vocabulary[:300]]
    yield "code", "".join(dice.choice(lines) for _ in range(size // 20))[:size]


def texts(size: int) -> Iterator[tuple[str, str]]:
    """All of them, by name."""
    yield from ordinary(size)
    for name, make in TEXTS.items():
        yield name, make(size)[:size]


def cost(
    fresh: Callable[[], Watch], channel: str, deltas: list[str], rounds: int
) -> tuple[float, float, int]:
    """Mean and 99th percentile (stretches of 50 deltas) in microseconds, and verdicts on the way."""
    best: dict[int, tuple[float, int]] = {}
    verdicts = 0
    for _ in range(rounds):
        watch, place, verdicts = fresh(), 0, 0
        while place < len(deltas) and verdicts < _MOST_VERDICTS:
            first, found = place, None
            started = time.thread_time()
            while found is None and place < min(first + _STRETCH, len(deltas)):
                found = watch.feed(channel, deltas[place])
                watch.suspect(channel)
                place += 1
            spent = (time.thread_time() - started, place - first)
            best[first] = min(best.get(first, spent), spent)
            if found is not None:
                watch, verdicts = fresh(), verdicts + 1
    each = sorted(spent / count for spent, count in best.values())
    mean = sum(spent for spent, _ in best.values()) / sum(count for _, count in best.values())
    return mean * 1e6, each[int(len(each) * 0.99)] * 1e6, verdicts


def table(rules: WatchRules, channel: str, *, chars: int, delta: int, rounds: int) -> None:
    """Print the cost of each text, also where the request asks for a repetition."""
    prose = next(ordinary(rules.window))[1]

    def fresh(prompt: str) -> Watch:
        watch = Watch(rules, prompt=prompt)
        watch.feed(channel, prose)
        return watch

    print(f"{'text':26} {'us/delta':>9} {'p99':>8}  verdicts  {'asked for':>9} {'p99':>8}  verdicts")
    for name, text in texts(chars):
        deltas = [text[place : place + delta] for place in range(0, len(text), delta)]
        row = "".join(
            f" {mean:9.2f} {worst:8.1f} {verdicts:9} "
            for mean, worst, verdicts in (
                cost(partial(fresh, prompt), channel, deltas, rounds) for prompt in ("", ASKING)
            )
        )
        print(f"{name:26}{row}", flush=True)


def whole(rules: WatchRules, channel: str, size: int) -> None:
    """Print what one delta of this size costs."""
    for name, text in texts(size):
        watch = Watch(rules)
        started = time.thread_time()
        found = watch.feed(channel, text)
        spent = time.thread_time() - started
        where = f", a verdict at {found.at}" if found else ""
        print(f"{name:26} {spent:8.3f} s{where}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chars", type=int, default=20_000)
    parser.add_argument("--delta", type=int, default=4)
    parser.add_argument("--preset", default="balanced")
    parser.add_argument("--channel", default="content")
    parser.add_argument("--rounds", type=int, default=5, help="the fastest of so many counts")
    parser.add_argument("--whole", type=int, default=0, help="instead: one delta of so many characters")
    options = parser.parse_args()
    rules = preset(options.preset)
    started = time.thread_time()
    for _ in range(100):
        Watch(rules, prompt=ASKING * 1000).feed(options.channel, "a")
    opening = (time.thread_time() - started) * 1e4
    print(f"{options.preset}, {options.channel}; a new watch and its first delta: {opening:.0f} us")
    if options.whole:
        whole(rules, options.channel, options.whole)
        return
    print(f"deltas of {options.delta}, a full window of {rules.window}")
    table(rules, options.channel, chars=options.chars, delta=options.delta, rounds=options.rounds)


if __name__ == "__main__":
    main()
