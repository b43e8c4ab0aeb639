"""The tables of the README that are made from the program itself. Written anew by

    python -m tests.docs.tables

A table stands between `<!-- NAME table -->` and `<!-- /NAME table -->`; what is between them is replaced.
"""

import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from ollama_guard.cli import cli
from ollama_guard.config import show
from ollama_guard.detect.rules import BALANCED, STRICT, WatchRules
from ollama_guard.detect.watch import Watch

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
WORDS = (ROOT / "mocks" / "scripts" / "words.txt").read_text("utf-8").split()
UNITS = (5, 20, 60, 100, 300, 1000, 2000, 5000)
"""Lengths of the repeated unit, in characters, that the table of what is caught has rows for."""
DELTA = 4


def commands() -> str:
    """What `ollama-guard --help` lists."""
    rows = [
        f"| `ollama-guard {name}` | {command.short_help} |" for name, command in sorted(cli.commands.items())
    ]
    return "\n".join(["| command | what it does |", "| --- | --- |", *rows])


def caught() -> str:
    """After how many repeated characters a loop of prose is cut, and held back, by what the detectors do."""
    head = (
        "| the repeated unit has | in an answer, held back from | cut after | in reasoning, cut after "
        "| in tool arguments, cut after | `strict`: answer | `strict`: reasoning "
        "| lines of code in an answer |"
    )
    return "\n".join([head, "| --- |" + " --- |" * 7, *map(_row, UNITS)])


def _row(size: int) -> str:
    held, cut = _play(BALANCED, "content", size)
    others = [
        _play(rules, channel, size)[1]
        for rules, channel in (
            (BALANCED, "reasoning"),
            (BALANCED, "tool:0"),
            (STRICT, "content"),
            (STRICT, "reasoning"),
        )
    ]
    others.append(_play(BALANCED, "content", size, code=True)[1])
    cells = [f"{size:,} characters", f"{held:,}", *(f"{mass:,}" for mass in (cut, *others))]
    return f"| {' | '.join(cells)} |"


def _play(rules: WatchRules, channel: str, size: int, *, code: bool = False) -> tuple[int, int]:
    """Repeated characters, the first copy not counted, at which the text was held back, and was cut."""
    rng, watch = random.Random(size), Watch(rules)
    prose, unit = _prose(rng, 700), _prose(rng, size)[: size - 1] + " "
    if code:
        prose, unit = prose + "\n\n```c\n", _code(rng, size)
    text = prose + unit * (12 + 3000 // size)
    begins = len(prose) + size
    held = 0
    for at in range(0, len(text), DELTA):
        finding = watch.feed(channel, text[at : at + DELTA])
        if finding is not None:
            return held or finding.mass, finding.mass
        if not held and watch.suspect(channel):
            held = max(0, at + DELTA - begins)
    raise AssertionError(f"a unit of {size} characters in {channel} was not cut within {len(text)}")


def _code(rng: random.Random, size: int) -> str:
    lines = ""
    while len(lines) < size:
        lines += f"{rng.choice(WORDS)}({rng.choice(WORDS)});\n"
    return lines[: size - 3] + ");\n"


def _prose(rng: random.Random, size: int) -> str:
    text = ""
    while len(text) < size:
        text += " ".join(rng.choices(WORDS, k=rng.randint(6, 14))).capitalize() + ". "
    return text


TABLES: Mapping[str, Callable[[], str]] = {"options": show.markdown, "commands": commands, "caught": caught}


def between(text: str, name: str) -> str:
    """What stands in the place of a table, without the blank lines around it. Raises ValueError."""
    return _place(text, name)[1].strip()


def renewed(text: str) -> str:
    """The README with all tables as they have to be. Raises ValueError for a place that is not there."""
    for name, make in TABLES.items():
        found = _place(text, name)
        text = f"{text[: found.start(1)]}\n{make()}\n\n{text[found.end(1) :]}"
    return text


def _place(text: str, name: str) -> re.Match[str]:
    found = re.search(rf"<!-- {name} table -->\n(.*?)(?=<!-- /{name} table -->)", text, re.DOTALL)
    if found is None:
        raise ValueError(f"the README has no place for the table of {name}")
    return found


if __name__ == "__main__":
    README.write_text(renewed(README.read_text("utf-8")), "utf-8")
