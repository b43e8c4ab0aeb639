"""The text of a script's steps, cut into deltas."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mocks.ask import Ask
from mocks.script import Step

Json = Mapping[str, Any]

_WORDS = (Path(__file__).parent / "scripts" / "words.txt").read_text("utf-8").split()


def pieces(step: Step, ask: Ask) -> Iterator[str]:
    """The deltas of a `think` or `say` step; endless for `times` null or an endless ramble."""
    if isinstance(step.value, Mapping):
        yield from _ramble(step.value["ramble"], ask.key)
        return
    text = (
        resumed(step.value, _partial(step.value, ask), step.options)
        if step.options.get("resume")
        else step.value
    )
    times = step.options.get("times", 1)
    count = 0
    while text and (times is None or count < times):
        yield from _cut(text, step.options)
        count += 1


def _cut(text: str, options: Json) -> Iterator[str]:
    if lengths := options.get("chunks"):
        at = 0
        for length in lengths:
            yield text[at : at + length]
            at += length
        return
    size = options.get("chunk", 4) or len(text)
    for at in range(0, len(text), size):
        yield text[at : at + size]


def _partial(text: str, ask: Ask) -> str:
    """The partial answer of the request; in a bare prompt, from where the start of `text` stands in it."""
    if ask.partial or len(ask.turns) > 1:
        return ask.partial
    at = ask.last.find(text[:24])
    return ask.last[at:] if at > 0 else ""


def resumed(text: str, partial: str, options: Json) -> str:
    """What is left of `text` after the longest start that it has in common with `partial`."""
    at = _common(text, partial)
    return text[max(0, at - options.get("overlap", 0)) :] if at else text


def _common(text: str, partial: str) -> int:
    longest = 0
    while longest < min(len(text), len(partial)) and text[longest] == partial[longest]:
        longest += 1
    return longest


def _ramble(words: int | None, seed: str) -> Iterator[str]:
    """Sentences of words drawn at random: never the same stretch twice, and the same for the same seed."""
    source = random.Random(seed)
    said = 0
    while words is None or said < words:
        length = source.randint(5, 14)
        sentence = [source.choice(_WORDS) for _ in range(length)]
        sentence[0] = sentence[0].capitalize()
        for word in sentence[:-1]:
            yield word + " "
        yield sentence[-1] + ". "
        said += length
