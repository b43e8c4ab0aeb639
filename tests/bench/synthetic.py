"""42 loops of every kind that users have reported, and 51 healthy texts chosen to be nasty. Seeded.

A loop is 1,500 characters of prose, then at least 24,000 of the loop. `write` gives them in the form that
`ollama-guard eval` reads:

    python -m tests.bench.synthetic FOLDER
"""

import json
import random
import sys
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

from ollama_guard.evaluate.samples import HEALTHY, Label, Sample, Truth

from . import nasty
from .prose import paragraph, prose, words

BEFORE, LOOP = 1500, 24_000


def exact(unit: str) -> Callable[[], tuple[str, int, int]]:
    """The same unit for ever: the loop, its period, and where its second copy begins."""
    return lambda: (unit * (LOOP // len(unit) + 2), len(unit), len(unit))


def spoken(make: Callable[[random.Random], Iterator[str]]) -> Callable[[], tuple[str, int, int]]:
    """Units that differ from each other: no fixed period."""

    def grown() -> tuple[str, int, int]:
        units, parts, size = make(random.Random(5)), [], 0
        while size < LOOP:
            parts.append(next(units))
            size += len(parts[-1])
        return "".join(parts), 0, len(parts[0])

    return grown


def counted(form: str) -> Callable[[], tuple[str, int, int]]:
    """A line with a running number."""
    return spoken(lambda _: (form.format(n=n) for n in range(100, 100_000)))


def _blanks(dice: random.Random) -> Iterator[str]:
    while True:
        yield dice.choice([" ", "  ", "\n", "\t", "\n\n", "   "])


def _edited(dice: random.Random) -> Iterator[str]:
    unit = list(paragraph(31, 300))
    while True:
        for _ in range(3):
            unit[dice.randrange(len(unit))] = dice.choice("aeinorst ")
        yield "".join(unit)


def _nested(_: random.Random) -> Iterator[str]:
    a, b, c, d = (paragraph(seed, 110) + "\n\n" for seed in (41, 42, 43, 44))
    for row in cycle(range(2)):
        yield a.replace("the", "that") if row else a
        yield b + c
        yield "So this is settled. " + d if row else d


def _fillers(dice: random.Random) -> Iterator[str]:
    said = [
        "OK. ",
        "Writing. ",
        "Let me write. ",
        "Go. ",
        "Now. ",
        "Done thinking. ",
        "Output. ",
        "I will write it. ",
    ]
    while True:
        yield dice.choice(said)


def _second_thoughts(dice: random.Random) -> Iterator[str]:
    heads = [
        "Wait, let me reconsider. ",
        "Hmm, but actually ",
        "No, wait. ",
        "Let me think again: ",
        "Alternatively, ",
    ]
    tails = [
        "the function must return the list before the loop ends.",
        "we should check whether the index is out of range.",
        "the user wants the sorted order, not the original one.",
        "the cache has to be cleared before the next call.",
        "that would break when the input is empty.",
    ]
    while True:
        yield dice.choice(heads) + dice.choice(tails) + "\n\n"


def _growing(dice: random.Random) -> Iterator[str]:
    for number, word in enumerate(words(dice), start=1):
        yield f"{number}. {word.capitalize()} {next(words(dice))} {next(words(dice))}\n"


def _drift(dice: random.Random) -> Iterator[str]:
    while True:
        yield dice.choice(["Is+In+", "Is+Ins+", "In+Is+", "Is+In+Is+"])


def _varied_space(dice: random.Random) -> Iterator[str]:
    unit = ["The", "answer", "is", "forty", "two", "and", "nothing", "else"]
    while True:
        yield (
            dice.choice([" ", "  ", "\n"]).join(unit)
            + dice.choice([".", "!", "...", " -", ","])
            + dice.choice(" \n")
        )


_TABLE = "| name | value | unit |\n| --- | --- | --- |\n| mass | 12.5 | kg |\n| size | 3.10 | m |\n\n"
_CODE = "def area(width, height):\n    if width < 0:\n        raise ValueError(width)\n    return width\n"
_LIST = "- Check the cable first.\n- Then restart the router.\n- If it fails, call the provider.\n\n"

LOOPS: dict[str, Callable[[], tuple[str, int, int]]] = {
    "char.G": exact("G"),
    "char.bang": exact("!"),
    "char.spaces": exact(" "),
    "char.newlines": exact("\n"),
    "char.y-umlaut": exact("ÿ"),
    "char.hair-space": exact("\u200a"),
    "cycle.ny": exact("ny"),
    "cycle.marks": exact("?!"),
    "cycle.dash-word": exact("ISIS-"),
    "word.court": exact("court "),
    "word.the-the": exact("The the "),
    "json.zeros": exact("0"),
    "token.unused": exact("<unused50>"),
    "token.unused-varied": spoken(lambda dice: iter(lambda: f"<unused{dice.randrange(90)}>", "")),
    "sentence.short": exact("Run. "),
    "sentence.plain": exact("I will now check whether the file is there before going on. "),
    "sentence.think-tag": exact("</think>\nThe answer is the second option, as shown above.\n"),
    "paragraph.300": exact(paragraph(1, 298) + "\n\n"),
    "paragraph.600": exact(paragraph(2, 598) + "\n\n"),
    "block.1000": exact(prose(3, 998) + "\n\n"),
    "block.restart-2100": exact("# Answer\n\n" + prose(4, 2088) + "\n\n"),
    "block.3000": exact(prose(5, 2998) + "\n\n"),
    "block.9000": exact(prose(6, 8998) + "\n\n"),
    "code.block-again": exact(f"Here is the code:\n\n```python\n{_CODE}```\n\n"),
    "code.open-fence": exact("".join(_CODE.replace("area", f"area_{n}") for n in range(28))),
    "list.bullets": exact(_LIST),
    "table.again": exact(_TABLE),
    "table.separator": exact("|---|---|---"),
    "cycle.two-paragraphs": exact(paragraph(11, 250) + "\n\n" + paragraph(12, 280) + "\n\n"),
    "cycle.four-paragraphs": exact("".join(paragraph(seed, 240) + "\n\n" for seed in range(21, 25))),
    "cycle.nested": spoken(_nested),
    "drift.counter": counted("Step {n}: check the value again and go on with the next one.\n"),
    "drift.hex": counted("The next address is 0x{n:08x}.\n"),
    "drift.self-play": counted(
        "\nUser: Can you tell me more about point {n}?\nAssistant: Of course, here it is.\n"
    ),
    "drift.json-id": counted('{{"id": {n}, "name": "item", "state": "pending", "owner": null}},\n'),
    "drift.tokens": spoken(_drift),
    "edits.one-percent": spoken(_edited),
    "variant.space-and-marks": spoken(_varied_space),
    "space.random": spoken(_blanks),
    "paraphrase.second-thoughts": spoken(_second_thoughts),
    "paraphrase.fillers": spoken(_fillers),
    "growing.list": spoken(_growing),
}
_REASONING = {"sentence.think-tag", "paraphrase.second-thoughts", "paraphrase.fillers", "cycle.nested"}
_LEAD = {"json.zeros": '{"value": 0.', "code.open-fence": "```python\n"}


def loops() -> Iterator[Sample]:
    """The loops."""
    for name, make in LOOPS.items():
        text, period, onset = make()
        before = prose(900, BEFORE) + "\n\n" + _LEAD.get(name, "")
        start = len(before) + onset
        label = Label(Truth.LOOP, name.partition(".")[0], start, start, period)
        channel = "reasoning" if name in _REASONING else "content"
        yield Sample(name, "synthetic", channel, before + text, label, first_line=None)


def healthy() -> Iterator[Sample]:
    """The nasty ones."""
    for name, (text, prompt) in nasty.TEXTS.items():
        channel = "reasoning" if name.startswith("reasoning") else "content"
        yield Sample(name, "nasty", channel, text, HEALTHY, prompt, first_line=None)


def write(folder: Path) -> None:
    """All of them as labelled runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "synthetic.jsonl").open("w", encoding="utf-8") as file:
        for one in (*loops(), *healthy()):
            row: dict[str, object] = {
                "id": one.name,
                "channel": one.channel,
                "text": one.text,
                "prompt": one.prompt,
            }
            row |= {"class": one.label.truth, "kind": one.label.kind}
            if one.label.truth is Truth.LOOP:
                row |= {"onset": one.label.onset, "period": one.label.period or None}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]))
    print(f"{len(list(loops()))} loops, {len(list(healthy()))} nasty texts")
