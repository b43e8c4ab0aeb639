"""One text through one detector."""

import time
from dataclasses import dataclass

from ollama_guard.evaluate.detector import Detector, Hit
from ollama_guard.evaluate.samples import Label, Sample, Truth

SHOWN = 60


@dataclass(frozen=True, slots=True)
class Played:
    """What came of it. `seconds` is processor time of this thread, for `deltas` deltas of `chars` characters.

    place: where the repetition begins that was seen, for people; "" without a verdict. size: of the whole
    text, of which `cut` says that it is the beginning of a longer one.
    """

    detector: str
    name: str
    group: str
    label: Label
    hit: Hit | None
    place: str
    size: int
    chars: int
    deltas: int
    seconds: float
    cut: bool = False

    @property
    def false(self) -> bool:
        """A verdict where there is nothing to see, or before there is."""
        if self.hit is None or self.label.truth is Truth.GRAY:
            return False
        return self.label.truth is Truth.HEALTHY or self.hit.at < self.label.begins

    @property
    def caught(self) -> bool:
        """A loop that was seen, and not too early."""
        return self.label.truth is Truth.LOOP and self.hit is not None and not self.false


def play(sample: Sample, name: str, detector: Detector, size: int | None = None) -> Played:
    """Feed a sample until the first verdict. size: characters a delta, None for recorded ones."""
    hit, deltas, chars, channel = None, 0, 0, sample.channel
    pieces = list(sample.deltas(size))
    feed, started = detector.feed, time.thread_time()
    for piece in pieces:
        deltas += 1
        hit = feed(channel, piece)
        if hit is not None:
            break
    seconds = time.thread_time() - started
    chars = sum(map(len, pieces[:deltas]))
    place = "" if hit is None else sample.place(hit.at if hit.onset is None else hit.onset)
    size = len(sample.text)
    return Played(
        name, sample.name, sample.group, sample.label, hit, place, size, chars, deltas, seconds, sample.cut
    )
