"""How far healthy texts are from a verdict: the factor on all thresholds at which the first one falls.

1.0 and above: it is stopped as things are. 0.5: it would be if half of the repetition were enough. 0: not
even a tenth is. For the nasty texts and the nearest ones, or for files:

    python -m tests.bench.distance [FILE...]
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ollama_guard.detect.rules import BALANCED, ChannelRules, WatchRules
from ollama_guard.evaluate.detector import Guard
from ollama_guard.evaluate.healthy import TextFile
from ollama_guard.evaluate.samples import Sample

from . import near, synthetic

LEAST, STEP = 0.1, 0.02


def scaled(rules: WatchRules, factor: float) -> WatchRules:
    """The same rules with all thresholds of repetition times this."""

    def channel(own: ChannelRules) -> ChannelRules:
        return replace(
            own,
            scale=own.scale * factor,
            blank_run=round(own.blank_run * factor),
            padding_run=round(own.padding_run * factor),
        )

    return replace(
        rules,
        reasoning=channel(rules.reasoning),
        content=channel(rules.content),
        tool=channel(rules.tool),
    )


def distance(sample: Sample, rules: WatchRules = BALANCED) -> tuple[float, int]:
    """The largest factor (to 0.02) at which it is stopped, and the mass found there; zeros if it is not at
    0.1.
    """
    low, high = 0, round((2.0 - LEAST) / STEP) + 1  # stopped at `low` (if at all), not stopped at `high`
    masses = {low: _mass(sample, rules, LEAST)}
    if not masses[low]:
        return 0.0, 0
    while high - low > 1:
        middle = (low + high) // 2
        masses[middle] = _mass(sample, rules, LEAST + middle * STEP)
        if masses[middle]:
            low = middle
        else:
            high = middle
    return round(LEAST + low * STEP, 2), masses[low]


def _mass(sample: Sample, rules: WatchRules, factor: float) -> int:
    """Repeated characters at the verdict, 0 when none falls."""
    hit = Guard(scaled(rules, factor), sample.prompt).feed(sample.channel, sample.text)
    return 0 if hit is None or hit.onset is None else hit.at - hit.onset


def main(paths: list[str]) -> None:
    def samples() -> Iterator[Sample]:
        if not paths:
            yield from synthetic.healthy()
            yield from (Sample(name, "near", *text) for name, text in near.TEXTS.items())
        for path in paths:
            yield from TextFile(Path(path), cut=40_000).samples()

    print("factor  mass  text")
    for far, mass, name in sorted(((*distance(one), one.name) for one in samples()), reverse=True):
        print(f"{far:6.2f} {mass:5}  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
