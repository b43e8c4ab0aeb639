"""Made-up prose that does not repeat itself: words of syllables, by a seed."""

import random
from collections.abc import Iterator

_SAID = "ra ton mel si qua ver lo ni dex pro hul ka zen bri fo gam ut pel sor ch en da vo ster il om rek th a"
_SYLLABLES = _SAID.split()
_SMALL = (
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "that",
    "for",
    "it",
    "with",
    "as",
    "was",
    "on",
    "be",
    "by",
    "but",
)


def words(dice: random.Random) -> Iterator[str]:
    """Content words, hardly one of them twice."""
    while True:
        yield "".join(dice.choice(_SYLLABLES) for _ in range(dice.randint(2, 4)))


def prose(seed: int, size: int) -> str:
    """Paragraphs of exactly `size` characters."""
    dice, parts, length = random.Random(seed), [], 0
    while length < size:
        parts.append(_sentence(dice) + ("\n\n" if dice.random() < 0.15 else " "))
        length += len(parts[-1])
    return "".join(parts)[: size - 1].rstrip().ljust(size - 1, "e") + "."


def paragraph(seed: int, size: int) -> str:
    """One paragraph of exactly `size` characters."""
    return prose(seed, size).replace("\n\n", "  ")


def _sentence(dice: random.Random) -> str:
    made = words(dice)
    said = [next(made) if dice.random() < 0.6 else dice.choice(_SMALL) for _ in range(dice.randint(6, 16))]
    return " ".join(said).capitalize() + dice.choice(["."] * 6 + ["?", "!"])
