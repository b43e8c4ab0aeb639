"""The rules of the known tools, written anew from their descriptions, for comparison.

They are here to be measured against, on any text that someone brings: what they do is what was published
about them, in the plainest form, not their code. Their time is that of these lines, not of the originals.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ollama_guard.evaluate.detector import Detector
from ollama_guard.evaluate.peers import blocks, chanting, consecutive, equal, ratio, tailz, units


@dataclass(frozen=True, slots=True)
class Peer:
    """A compared detector. watches: the channels that it looks at."""

    name: str
    about: str
    watches: str
    make: Callable[[], Detector]


def _peer(name: str, about: str, watches: str, make: Callable[[], Detector]) -> tuple[str, Peer]:
    return name, Peer(name, about, watches, make)


ALL = "all"
TEXT = "content, reasoning"

PEERS: dict[str, Peer] = dict(
    (
        _peer(
            "regex", "(.{8,200})\\1{2,} on the last 4,096, also without punctuation", TEXT, consecutive.make
        ),
        _peer("reversed-z", "match >= max(16, period) in 20,000 characters", ALL, tailz.make),
        _peer("ten-units", "10 repeats of units up to 80 (40 in code)", TEXT, units.make),
        _peer("chunks-250", "a 50-character chunk 10 times, mean gap <= 250", "content", chanting.wide),
        _peer("chunks-75", "the same, mean gap <= 75, and long units", TEXT, chanting.narrow),
        _peer("ratio", "zlib ratio over 2.4 on the last 1,024", ALL, ratio.make),
        _peer("equal-30", "more than 30 equal deltas (Ollama up to 0.32)", ALL, equal.thirty),
        _peer("equal-100", "more than 100 equal deltas (Ollama since)", ALL, equal.hundred),
        _peer(
            "blocks-exact",
            "4 copies and 180 characters, or 3 and 1,024, units up to 1,024",
            TEXT,
            blocks.exact,
        ),
        _peer(
            "blocks-calm", "4 copies and 1,024 characters (answers 2,048), twice in a row", TEXT, blocks.calm
        ),
    )
)
