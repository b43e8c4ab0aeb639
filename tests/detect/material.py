"""Texts for the detectors: healthy ones that repeat by nature, and makers of loops. The same at each run."""

import random
from collections.abc import Iterator

from ollama_guard.detect.finding import Finding
from ollama_guard.detect.rules import BALANCED, WatchRules
from ollama_guard.detect.watch import Watch

_SYLLABLES = (
    "ra ton mel si qua ver lo ni dex pro hul ka zen bri fo gam ut pel sor ch en da vo ster il om rek th a"
)
_DICE = random.Random(7)
_VOCABULARY = [
    "".join(_DICE.choice(_SYLLABLES.split()) for _ in range(_DICE.randint(1, 3))) for _ in range(3000)
]


def words(length: int, seed: int = 1) -> str:
    """Sentences of made-up words, without repetition to speak of."""
    dice, out, size = random.Random(seed), [], 0
    while size < length:
        sentence = " ".join(dice.choice(_VOCABULARY) for _ in range(dice.randint(5, 14))).capitalize() + ". "
        out.append(sentence)
        size += len(sentence)
    return "".join(out)[:length]


def deltas(text: str, size: int) -> Iterator[str]:
    for place in range(0, len(text), size):
        yield text[place : place + size]


def _rows(count: int) -> str:
    dice = random.Random(3)
    names = [dice.choice(_VOCABULARY) for _ in range(count)]
    return "".join(f"| {row} | {name} | {dice.randint(1, 99)} | ok |\n" for row, name in enumerate(names))


REFRAIN = "Row, row, row your boat,\nGently down the stream.\nMerrily, merrily, merrily, merrily.\n\n"
LICENCE = (
    '# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in\n'
    "# compliance with the License. You may obtain a copy of the License at the address given below.\n"
)

# Each of these has been stopped by some guard in the field, or by a draft of this one.
HEALTHY: dict[str, str] = {
    "a row of 24 equal signs": "Title\n" + "=" * 24 + "\nText goes on.\n",
    "a separator of 500": "Before\n" + "-" * 500 + "\nAfter\n",
    "a dotted separator of 500": "Before\n" + ". " * 250 + "\nAfter\n",
    "a drawn separator of 500": "Before\n" + "═" * 500 + "\nAfter\n",
    "three equal lines of code": "```python\n"
    + "        self.assertEqual(result.value, expected.value)\n" * 3
    + "```\n",
    "three equal lines of code, unfenced": "    self.assertEqual(result.value, expected.value)\n" * 3,
    "really, really, really": "It is really, really, really, really good.",
    "a list of types": "def f(x: [string, string, string]) -> [string, string, string, string]: ...",
    "a large number": "There are 10000000000 of them, and 100000000000000000000 of those.",
    "a Markdown table": "| id | name | n | state |\n|----|------|---|-------|\n" + _rows(60),
    "a wide table rule": "|" + "-" * 30 + "|" + "-" * 30 + "|" + "-" * 30 + "|\n" + _rows(10),
    "an ASCII box": "+" + "-" * 60 + "+\n" + ("|" + " " * 60 + "|\n") * 24 + "+" + "-" * 60 + "+\n",
    "an ASCII box in a fence": "```\n+" + "-" * 40 + "+\n" + ("|" + " " * 40 + "|\n") * 24 + "```\n",
    "licence headers": "".join(f"## file{n}.py\n{LICENCE}\n{words(300, n)}\n\n" for n in range(8)),
    "a truth table": "A B C | out\n"
    + "".join(f"{n >> 2 & 1} {n >> 1 & 1} {n & 1} | {n % 2}\n" for n in range(8)) * 3,
    "SQL inserts": "".join(f"INSERT INTO t (id, name) VALUES ({n}, 'item');\n" for n in range(200)),  # noqa: S608
    "CSS rules": "".join(f".c{n} {{ margin: 0; padding: 0; width: {n}px; }}\n" for n in range(100)),
    "an SVG path": '<path d="'
    + " ".join(f"M{n} 0 L{n} 100 L{n + 5} 100 Z" for n in range(0, 900, 7))
    + '"/>',
    "a hex dump": "".join(
        f"{n:08x}  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00\n" for n in range(0, 800, 16)
    ),
    "zeros in base64": "data:application/x-elf;base64,f0VMRgIBAQAAAAAAAAAAAAIAPgABAAAAeABAAAAAAABAAAAAAAAAAJ8"
    + "A" * 3000
    + "B4wq9=\n",
    "base64 lines of zeros": "f0VMRgIBAQAAAAAAAAAAAAIAPgABAAAAeABAAAAAAABAAAAAAAAAAJ8AAAAAAAAAAAAAAAAAAAAA\n"
    + ("A" * 76 + "\n") * 40,
    "minified code": "".join(
        f"function a{n}(t,e){{return t.b[e]=t.b[e]||[],t.b[e].push({n}),t}}" for n in range(80)
    ),
    "JSON records": "["
    + ",\n".join(f'  {{"id": {n}, "status": "active", "tags": [], "n": null}}' for n in range(150))
    + "]",
    "a multiplication table": "".join(f"{a} x {b} = {a * b}\n" for a in range(1, 13) for b in range(1, 13)),
    "an identity matrix": "".join(
        " ".join("1" if a == b else "0" for b in range(20)) + "\n" for a in range(20)
    ),
    "a zero matrix": ("0 " * 20 + "\n") * 20,
    "a log": "".join(
        f"2026-11-30 09:{n // 60:02}:{n % 60:02} INFO worker-1: job done in {n % 7} ms\n" for n in range(150)
    ),
    "a log with equal lines": "Retrying the connection to the server in 5 seconds\n" * 4 + "Connected.\n",
    "a changelog": "".join(f"## 1.{n}.0\n\n- Bug fixes and performance improvements.\n\n" for n in range(30)),
    "lyrics with refrains": "".join(f"{words(160, n)}\n\n{REFRAIN}" for n in range(10)),
    "a litany": "".join(f"Saint {words(14, n).split()[0]}, pray for us.\n" for n in range(80)),
    "DNA": ">seq1\n" + "".join(random.Random(5).choices("ACGT", k=2000)) + "CAG" * 60 + "TTAGC\n",
    "dotted leaders": "".join(f"Chapter {n} {'.' * (60 - n % 9)} {n * 11}\n" for n in range(40)),
    "a numbered list of 1,000": "".join(f"{n}. {words(30, n)}\n" for n in range(1, 1001)),
    "counting to 500": ", ".join(str(n) for n in range(1, 501)) + ".",
    "counting to 500 in lines": "".join(f"{n}\n" for n in range(1, 501)),
    "a translation side by side": "".join(
        f"EN: {words(70, n)}\nDE: {words(80, n + 500)}\n\n" for n in range(40)
    ),
    "a padded table": "".join(f"{words(9, n)}{' ' * 60}{n}\n" for n in range(40)),
    "test cases": "".join(
        f"    def test_{n}(self):\n        self.assertEqual(f({n}), {n * n})\n\n" for n in range(80)
    ),
    "getters": "".join(f"  get p{n}() {{\n    return this._p{n};\n  }}\n" for n in range(80)),
    "cases worked through": "".join(
        f"Case n = {n}: n^2 + n + 41 = {n * n + n + 41}, which is prime.\n" for n in range(1, 40)
    ),
    "a quoted answer": (answer := words(1500, 9)) + "\n\nYou said:\n> " + answer + "\n\nI agree with that.\n",
    "a page of blank lines": "Title" + "\n" * 60 + "Text",
    "laughing": "ha" * 40 + "! " + "no " * 20,
    "an alphabet four times": "abcdefghijklmnopqrstuvwxyz " * 4,
}


def loop(unit: str, mass: int = 40_000) -> str:
    return unit * (mass // len(unit) + 2)


# kind -> the text that goes on for ever
LOOPS: dict[str, str] = {
    "one letter": loop("G"),
    "an exclamation mark": loop("!"),
    "a wide exclamation mark": loop("！"),
    "two letters": loop("ny"),
    "a word": loop("court "),
    "a word in Chinese": loop("的内容"),
    "a token": loop("ISIS-"),
    "a special token": loop("<unused50>"),
    "an emoji": loop("🌱"),
    "an emoji a line": loop("🌟\n"),
    "blank lines": loop("\n"),
    "equal signs": loop("="),
    "zeros": loop("0"),
    "a replacement character": loop("\ufffd"),
    "a zero-width space": loop("\u200b"),
    "a sentence": loop("I'm ready to assist. "),
    "a sentence in Chinese": loop("小明的主人每天都会给小明提供学习和娱乐的机会。"),
    "a line": loop("The quick brown fox jumps over the lazy dog and then it goes home again.\n"),
    "a closing tag and a line": loop("</think>\n\nThe answer is 42.\n"),
    "a paragraph of 300": loop(words(298, 11) + "\n\n"),
    "a page of 1,000": loop(words(998, 12) + "\n\n"),
    "an answer of 3,000": loop(words(2998, 13) + "\n\n"),
    "an answer of 10,000": loop(words(9998, 14) + "\n\n"),
    "two paragraphs in turn": loop(words(200, 15) + "\n\n" + words(300, 16) + "\n\n"),
    "a nested loop": loop("x y " * 15 + words(300, 17) + "\n"),
    "a table row": loop("| Saturn | 0.001 | 22 | 29.48 |\n"),
    "a table separator": loop("|---"),
    "a fenced block": loop('```json\n{\n  "name": "search"\n}\n```\n\n'),
    "a list item": loop("- [ ] Write the tests for the parser\n"),
    "a heading": loop("## Summary\n\nAll done.\n\n"),
    "the same words, other marks": "".join(
        f"I am done{'.!?;:'[n % 5]}{' ' * (n % 3 + 1)}" for n in range(4000)
    ),
    "the same words, other case": "".join(
        ("OK then. ", "Ok then! ", "ok then\n")[n * n % 3] for n in range(4000)
    ),
    "growing indentation": "".join(" " * n + '"team": {\n' for n in range(300)),
    "blanks in any mixture": "{" + "".join(random.Random(6).choices(" \n\t\r", k=20_000)),
    "special tokens": "".join(f"<unused{n * 7 % 90}>" for n in range(3000)),
    "a counter in a sentence": "".join(f"The next number is {n}.\n\n" for n in range(2000)),
    "a list of one item": "".join(
        f"{n}. All persons are entitled to equal protection of the law.\n" for n in range(900)
    ),
}
IN_PLACES: dict[str, str] = {
    "in prose": "",
    "in a fence": "```python\n",
    "in a table": "| a | b |\n|---|---|\n| ",
    "in JSON": '{"answer": "',
}


def first(
    text: str, channel: str = "content", *, size: int = 4, rules: WatchRules = BALANCED, prompt: str = ""
) -> Finding | None:
    """The first finding of a watch that is fed the text in deltas of this size."""
    watch = Watch(rules, prompt=prompt)
    for delta in deltas(text, size):
        finding = watch.feed(channel, delta)
        if finding is not None:
            return finding
    return None
