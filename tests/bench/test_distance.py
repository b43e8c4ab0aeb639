"""The worst near misses among healthy texts, with the mass that each has and how near that is to a verdict.

A change that brings one of them nearer fails here and shows its distance; `python -m tests.bench.distance`
prints all.
"""

import pytest

from ollama_guard.evaluate.samples import Sample

from . import near, synthetic
from .distance import distance

NEAREST = {  # factor on all thresholds at which it would be stopped (1.0 = now), mass found there
    "code.hist": (0.98, 641),
    "figures.SmLs08": (0.96, 6240),
    "table.four-weeks": (0.96, 920),
    "code.systemd-analyze": (0.96, 615),
    "thought.checklist": (0.96, 208),
    "padding.fits": (0.92, 2759),
    "thought.very": (0.90, 195),
    "thought.prayer": (0.88, 191),
    "code.maple-keyb": (0.86, 977),
    "thought.inserts": (0.86, 781),
    "code.diff": (0.86, 620),
    "edited.letters": (0.72, 5236),
    "functions.handlers": (0.70, 7330),
    "cases.restated": (0.64, 968),
    "cells.steady": (0.36, 443),
    "functions.segments": (0.14, 108),
    "rows.seed": (0.58, 872),
    "rows.tracker": (0.50, 1777),
    "rows.reserved": (0.16, 4566),
    "rows.rooms": (0.84, 1458),
    "chain.running-total": (0.00, 0),
    "rows.influence": (0.00, 0),
    "markup.LineBreakTest": (0.84, 1613),
    "rule.500": (0.82, 492),
    "thought.tongue-twister": (0.82, 210),
    "blob.scanner-map": (0.78, 6240),
    "code.nop": (0.78, 500),
    "code.next-runtime": (0.78, 500),
    "box.empty": (0.76, 1437),
    "figures.row-10-times": (0.74, 17982),
    "data.dna": (0.72, 173),
    "figures.arima111": (0.56, 3641),
    "log.equal": (0.40, 384),
    "text.quoted-again": (0.32, 791),
    "code.licences": (0.30, 337),
    "rule.sections": (0.28, 841),
    "figures.mac-turkish": (0.26, 1564),
    "thought.html-list": (0.26, 450),
    "figures.clearstate": (0.24, 1561),
    "rule.guitar-tab": (0.22, 660),
    "figures.matplotlib": (0.12, 781),
    "code.json-null": (0.12, 781),
    "records.batch": (0.80, 602),
    "code.log-lines": (0.74, 924),
    "code.long-rows": (0.68, 947),
    "markup.chess-board": (0.66, 1268),
    "markup.cards": (0.56, 1076),
    "markup.stars": (0.50, 1412),
    "board.emoji": (0.50, 255),
    "blob.Bayer": (0.10, 800),
    "data.zeros-20x20": (0.10, 650),
}
TEXTS = {one.name: one for one in synthetic.healthy()} | {
    name: Sample(name, "near", channel, text) for name, (channel, text) in near.TEXTS.items()
}


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
