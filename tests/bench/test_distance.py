"""The worst near misses among healthy texts, with the mass that each has and how near that is to a verdict.

A change that brings one of them nearer fails here and shows its distance; `python -m tests.bench.distance`
prints all.
"""

import pytest

from ollama_guard.evaluate.samples import Sample

from . import synthetic
from .distance import distance

NEAREST = {  # factor on all thresholds at which it would be stopped (1.0 = now), mass found there
    "rule.500": (0.82, 492),
    "log.equal": (0.82, 394),
    "data.dna": (0.72, 173),
    "box.empty": (0.38, 1437),
    "text.quoted-again": (0.32, 791),
    "data.zeros-20x20": (0.32, 768),
    "code.licences": (0.30, 337),
}
TEXTS = {one.name: one for one in synthetic.healthy()}


@pytest.mark.parametrize("name", NEAREST)
def test_a_near_miss_is_no_nearer_than_it_was(name: str) -> None:
    factor, mass = distance(TEXTS[name])
    known, known_mass = NEAREST[name]
    assert factor <= known + 0.03, (
        f"{name} is stopped at {factor} of the thresholds ({mass}), was {known} ({known_mass})"
    )


@pytest.mark.parametrize(("copies", "stopped"), [(3, False), (100, True)])
def test_the_distance_says_whether_a_text_is_stopped(copies: int, *, stopped: bool) -> None:
    line = "I will look at the file once more, and then I will be done.\n"
    factor, mass = distance(Sample("x", "x", "content", "Well. " + line * copies))
    assert (factor >= 1.0) is stopped
    assert 0 < mass < len(line) * copies


def test_prose_is_far_from_any_verdict() -> None:
    assert distance(Sample("x", "x", "content", synthetic.prose(5, 4000))) == (0.0, 0)
