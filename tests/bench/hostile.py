"""Texts made to cost the detectors as much as they can. Seeded; each is at least `size` characters long."""

import random
from collections.abc import Callable
from itertools import count


def thue_morse(size: int) -> str:
    return "".join("ab"[place.bit_count() % 2] for place in range(size))


def fibonacci(size: int) -> str:
    one, two = "b", "a"
    while len(two) < size:
        one, two = two, two + one
    return two[:size]


def de_bruijn(alphabet: str, order: int) -> str:
    """Each word of this length once (Lyndon words joined: Fredricksen, Kessler and Maiorana)."""
    out: list[str] = []
    word = [0] * (order * len(alphabet) + 1)

    def visit(place: int, period: int) -> None:
        if place > order:
            if order % period == 0:
                out.extend(alphabet[letter] for letter in word[1 : period + 1])
            return
        word[place] = word[place - period]
        visit(place + 1, period)
        for letter in range(word[place - period] + 1, len(alphabet)):
            word[place] = letter
            visit(place + 1, place)

    visit(1, 1)
    return "".join(out)


def runs(size: int, least: int, most: int, unit: str = "a", end: str = "b") -> str:
    """A short unit over and over, interrupted at random."""
    dice, out, length = random.Random(least), [], 0
    while length < size:
        out.append(unit * (dice.randint(least, most) // len(unit)) + end)
        length += len(out[-1])
    return "".join(out)


def twice(size: int, least: int, most: int) -> str:
    """New words, each said twice or three times: one run after the other, none long enough."""
    dice, out, length = random.Random(least), [], 0
    while length < size:
        word = "".join(dice.choice("abcdefghijklmnop ") for _ in range(dice.randint(least, most)))
        out.append(word * dice.randint(2, 3) + dice.choice("xyz"))
        length += len(out[-1])
    return "".join(out)


def nested(size: int) -> str:
    """Loops in loops: six levels, each broken by a new letter before it would be long enough."""
    dice, text = random.Random(9), ""
    while len(text) < size:
        part = dice.choice("abcd")
        for _ in range(6):
            part = part * 3 + dice.choice("efgh")
        text += part
    return text


def edited(size: int, period: int, every: int) -> str:
    """A long unit again and again, with one letter changed so often that each run is judged and breaks."""
    dice = random.Random(period)
    unit = "".join(dice.choice("abcdefghijklmnop .,\n") for _ in range(period))
    text = list(unit * (size // period + 1))
    for place in range(every, len(text), every):
        text[place] = dice.choice("QRSTUVWXYZ")
    return "".join(text)


def rows(form: str, size: int) -> str:
    """A line with a running number."""
    out, length = [], 0
    for number in count(1):
        out.append(form.format(n=number, m=number * number % 97))
        length += len(out[-1])
        if length >= size:
            return "".join(out)
    raise AssertionError


def _mixed(alphabet: str, size: int, seed: int = 8) -> str:
    dice = random.Random(seed)
    return "".join(dice.choice(alphabet) for _ in range(size))


def _backticks(size: int) -> str:
    """Runs of backticks of any length: each may open a span or a fence."""
    dice = random.Random(4)
    return "".join("`" * dice.randint(1, 9) + dice.choice("ab \n") for _ in range(size // 2))


TEXTS: dict[str, Callable[[int], str]] = {
    "aaaa": lambda size: "a" * size,
    "spaces": lambda size: " " * size,
    "a^n b, n 29-47": lambda size: runs(size, 29, 47),
    "a^n b, n 60-110": lambda size: runs(size, 60, 110),
    "a^n b, n 100-230": lambda size: runs(size, 100, 230),
    "a^n .": lambda size: runs(size, 24, 40, "a", ". "),
    "(a )^n b": lambda size: runs(size, 24, 47, "a ", "b "),
    "a^n b of Han": lambda size: runs(size, 29, 47, "啊", "吧"),
    "a^n b of emoji": lambda size: runs(size, 29, 47, "😀", "😂"),
    "a^n b of what folds to two": lambda size: runs(size, 29, 47, "ß", "b"),
    "a^n b of letters with marks": lambda size: runs(size, 29, 47, "İ", "b"),
    "(ab)^n c": lambda size: runs(size, 60, 200, "ab", "c"),
    "(ab)^n b": lambda size: runs(size, 60, 200, "ab", "b"),
    "a^5000 b": lambda size: ("a" * 5000 + "b") * (size // 5001 + 1),
    "odd one each 32": lambda size: "".join("a" * 31 + chr(0x61 + n % 26) for n in range(size // 32 + 1)),
    "fibonacci": fibonacci,
    "thue-morse": thue_morse,
    "thue-morse of blanks": lambda size: thue_morse(size).replace("b", " "),
    "thue-morse of lines": lambda size: thue_morse(size).replace("b", "\n"),
    "de Bruijn 2, 16": lambda size: (de_bruijn("ab", 16) * 2)[:size],
    "de Bruijn 4, 8": lambda size: (de_bruijn("ab c", 8) * 2)[:size],
    "nested": nested,
    "words twice, 8-20": lambda size: twice(size, 8, 20),
    "words twice, 40-70": lambda size: twice(size, 40, 70),
    "edits in 12,000": lambda size: edited(size, 12_000, 4900),
    "edits in 1,000": lambda size: edited(size, 1000, 480),
    "edits in 97": lambda size: edited(size, 97, 130),
    "counter lines": lambda size: rows("- [ ] step {n:06d} of the plan is pending\n", size),
    "records": lambda size: rows('{{"id": {n}, "value": {m}.{n}, "state": "ok"}},\n', size),
    "cases in prose": lambda size: rows(
        "Let us try {n}: then the sum of the two is {m}, which is too small. ", size
    ),
    "equations": lambda size: rows("{n} + {m} = ", size),
    "rows that break": lambda size: "".join(
        f"| {n} | {'abcde'[n // 9 % 5] * 60} | {n * 7} |\n" for n in range(size // 70 + 1)
    ),
    "labels": lambda size: "".join(
        f"{n} {random.Random(n).choice(('cat', 'dog', 'fly'))}\n" for n in range(size // 8 + 1)
    ),
    "blocks": lambda size: "".join(
        f"{n} {('cat', 'dog', 'fly')[n % 37 % 3]}\n" for n in range(size // 8 + 1)
    ),
    "functions": lambda size: rows("def step_{n}(a, b):\n    a += {m}\n    b(a)\n", size),
    "heads": lambda size: rows("def step_{n}(a, b):\n", size),
    "cells": lambda size: rows("| a | {m} | {m} | {m} |\n", size),
    "DNA": lambda size: _mixed("ACGT", size),
    "digits": lambda size: _mixed("0123456789", size),
    "marks": lambda size: _mixed(".,;:!? -", size),
    "letters folded away": lambda size: _mixed("a" + ".,;:!?-_" * 3, size),
    "blanks": lambda size: _mixed("  \n\t", size),
    "combining marks": lambda size: "a\u0301" * 30 + _mixed("a\u0301\u0308\u0323e", size),
    "letters that fold to three": lambda size: _mixed("ΐΰև", size),
    "letters that fold to two": lambda size: _mixed("ßﬁŉa ", size),
    "backticks": _backticks,
    "spans": lambda size: "`a` " * (size // 4 + 1),
    "quoted fences": lambda size: "> ```\n> a\nb\n" * (size // 12 + 1),
    "fences": lambda size: "".join(f"```\n{n % 7}\n```\n" for n in range(size // 8)),
    "runs of 100": lambda size: "".join(
        random.Random(n).choice("abcdefghijklmnopqrstuvwxyz") * 100 + "\n" for n in range(size // 100 + 1)
    ),
}
