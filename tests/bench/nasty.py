"""Healthy texts that look like loops to one detector or another: name -> (text, what was asked for)."""

import random
from itertools import product

from .prose import paragraph, prose, words

_dice = random.Random(77)
_made = words(_dice)
_names = [next(_made) for _ in range(1200)]


def _rows(count: int, form: str) -> str:
    return "".join(
        form.format(n=n, a=_names[n % 1200], b=_names[(7 * n + 3) % 1200]) for n in range(1, count + 1)
    )


def fence(text: str, language: str = "") -> str:
    return f"Here it is:\n\n```{language}\n{text.rstrip()}\n```\n\nThat is all.\n"


def _grid(cell: str, rows: int, columns: int) -> str:
    return "\n".join(" ".join([cell] * columns) for _ in range(rows)) + "\n"


def _hex_dump() -> str:
    lines = []
    for row in range(80):
        data = bytes(0 if 20 <= row < 50 else _dice.randrange(256) for _ in range(16))
        lines.append(f"{16 * row:08x}  {data.hex(' ')}  |{'.' * 16}|")
    return "\n".join(lines)


def _svg() -> str:
    points = " ".join(f"L{_dice.randrange(900)},{_dice.randrange(900)}" for _ in range(300))
    return f'<svg viewBox="0 0 900 900"><path d="M0,0 {points} Z"/></svg>'


def _base64() -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    head = "".join(_dice.choice(letters) for _ in range(1500))
    raw = head + "V" * 500 + "=="
    return "\n".join(raw[at : at + 76] for at in range(0, len(raw), 76))


def _truth() -> str:
    rows = (
        f"| {' | '.join(bits)} | {'T' if bits.count('T') % 2 else 'F'} |" for bits in product("TF", repeat=5)
    )
    return "| p | q | r | s | t | xor |\n|---|---|---|---|---|---|\n" + "\n".join(rows)


def _times() -> str:
    return "\n".join(" ".join(f"{a * b:4}" for b in range(1, 13)) for a in range(1, 13))


def _identity() -> str:
    return "\n".join("[" + ", ".join("1" if a == b else "0" for b in range(20)) + "]," for a in range(20))


def _box() -> str:
    return "+" + "-" * 60 + "+\n" + ("|" + " " * 60 + "|\n") * 24 + "+" + "-" * 60 + "+\n"


def _song() -> str:
    refrain = "Oh carry me home, carry me home,\nover the river and over the foam.\n\n"
    return "".join(paragraph(seed, 170).replace(". ", ".\n") + "\n\n" + refrain for seed in range(60, 65))


def _litany() -> str:
    return "".join(f"Saint {name.capitalize()}, pray for us.\n" for name in _names[:60])


def _contents() -> str:
    return "".join(
        f"{n}. {_names[n].capitalize()} {'. ' * (60 - len(_names[n]) // 2)}{n * 7}\n" for n in range(1, 40)
    )


def _kubernetes() -> str:
    return "---\n".join(
        f"apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\n  labels:\n    app: {name}\nspec:\n"
        f"  selector:\n    app: {name}\n  ports:\n    - port: 80\n      targetPort: 8080\n"
        for name in _names[:12]
    )


def _licences() -> str:
    head = "".join(f"// {paragraph(71, 300)[at : at + 70]}\n" for at in range(0, 300, 70))
    return "".join(
        f"```js\n// file {name}.js\n{head}export const {name} = 1;\n```\n\n" for name in _names[:6]
    )


def _cases() -> str:
    return "".join(
        f"If n = {n}, then n^2 + n + 41 = {n * n + n + 41}, "
        f"which is {'not ' if n > 39 else ''}prime. So far so good.\n"
        for n in range(60)
    )


def _minified() -> str:
    return "".join(
        f"function {a}(e,t){{return e.{b}?t({a[0]}):void 0!==e&&t(e.{b}[{n}])}}"
        for n, (a, b) in enumerate(zip(_names[:90], _names[90:180], strict=True))
    )


def _translated() -> str:
    return "".join(f"| {paragraph(n, 60)} | {paragraph(n + 500, 64)} |\n" for n in range(200, 230))


def _poem() -> str:
    return "".join(
        f"And what if the {a}\nand what if the {b}\n" for a, b in zip(_names[:30], _names[30:60], strict=True)
    )


def _legal() -> str:
    return "".join(
        f"{n}. The Licensee shall not, without the prior written consent of the Licensor, {_names[n]} or "
        f"{_names[n + 40]} any part of the Work. {paragraph(300 + n, 120)}\n\n"
        for n in range(1, 30)
    )


def _sudoku() -> str:
    line = "+-------+-------+-------+\n"
    rows = "".join("| " + " | ".join(" ".join("." * 3) for _ in range(3)) + " |\n" for _ in range(3))
    return (line + rows) * 3 + line


_AGAIN = paragraph(81, 800)
_SUM = "    assert total([{n}, {n}]) == 2 * {n}\n"

TEXTS: dict[str, tuple[str, str]] = {
    "table.small": ("| a | b | c |\n|---|---|---|\n" + _rows(12, "| {a} | {n} | {b} |\n"), ""),
    "table.100-rows": (
        "| name | state | owner |\n|---|---|---|\n" + _rows(100, "| {a} | pending | none |\n"),
        "",
    ),
    "table.same-cells": ("| day | open |\n|---|---|\n" + _rows(31, "| {n} | yes |\n"), ""),
    "table.ascii": (fence(_rows(20, "+----------+----------+\n| {n:8} | pending  |\n")), ""),
    "table.truth": (_truth(), ""),
    "table.times": (_times(), ""),
    "table.html-empty": ("<table>\n" + "<tr><td></td><td></td><td></td></tr>\n" * 20 + "</table>\n", ""),
    "rule.500": ("Part one\n" + "=" * 500 + "\n" + prose(82, 400), ""),
    "rule.between": ("".join(f"{'-' * 72}\n{paragraph(n, 90)}\n" for n in range(400, 420)), ""),
    "rule.dotted": (_contents(), ""),
    "rule.progress": (_rows(20, "Downloading {a} [" + "#" * 40 + "] 100%\n"), ""),
    "box.empty": (fence(_box()), ""),
    "box.sudoku": (fence(_sudoku()), ""),
    "box.art": (fence("".join(" " * n + "/" + "\\_" * 12 + "\\\n" for n in range(20))), ""),
    "code.licences": (_licences(), ""),
    "code.tests": (fence("def test_total():\n" + _rows(60, _SUM), "python"), ""),
    "code.cases": (fence(_rows(60, '    pytest.param("{a}", None, id="{a}"),\n'), "python"), ""),
    "code.imports": (fence(_rows(50, "import {{ {a} }} from './components/{a}';\n"), "js"), ""),
    "code.getters": (
        fence(_rows(30, "    public String get{a}() {{\n        return this.{a};\n    }}\n\n"), "java"),
        "",
    ),
    "code.declarations": (_rows(60, "extern int {a}_init(struct device *dev, unsigned long flags);\n"), ""),
    "code.assign": (fence(_rows(40, "        self.{a} = {a}\n"), "python"), ""),
    "code.css": (fence(_rows(60, ".{a} {{\n  margin: 0;\n  padding: 0;\n  color: #fff;\n}}\n"), "css"), ""),
    "code.same-css": (
        _rows(12, ".{a} {{ margin: 0; padding: 0; border: 0; font: inherit; vertical-align: top; }}\n"),
        "",
    ),
    "code.minified": (fence(_minified(), "js"), ""),
    "code.svg": (fence(_svg(), "svg"), ""),
    "code.masks": (fence(_rows(40, "0x00000000000000ff, 0x{n:016x},\n"), "c"), ""),
    "code.kubernetes": (fence(_kubernetes(), "yaml"), ""),
    "data.sql": (
        fence(_rows(100, "INSERT INTO users (id, name, active) VALUES ({n}, '{a}', TRUE);\n"), "sql"),
        "",
    ),
    "data.sql-null": (
        _rows(40, "INSERT INTO log VALUES ({n}, NULL, NULL, NULL, NULL, 0, 0, 0, 0, '{a}');\n"),
        "",
    ),
    "data.json": (
        fence("[\n" + _rows(60, '  {{"id": {n}, "name": "{a}", "on": true}},\n') + "]", "json"),
        "",
    ),
    "data.xml": (_rows(60, "<row><id>{n}</id><name>{a}</name><state>new</state></row>\n"), ""),
    "data.csv-zeros": (_rows(50, "{n},0,0,0,0,0,0,0,{a}\n"), ""),
    "data.hex-dump": (fence(_hex_dump()), ""),
    "data.base64": (fence(_base64()), ""),
    "data.dna": ("The allele is " + "CAG" * 60 + " in this patient.\n", ""),
    "data.zeros-20x20": (fence(_grid("0", 20, 20)), ""),
    "data.identity": (fence(_identity(), "python"), ""),
    "data.shared-prefix": (
        _rows(40, "- projects/acme-production-eu/locations/europe-west4/instances/{a}\n"),
        "",
    ),
    "log.equal": (fence("WARN retrying connection to db:5432\n" * 12), ""),
    "log.changelog": (_rows(40, "* Update dependency {a} to v{n}.0.0 by @renovate-bot\n"), ""),
    "list.1000": (_rows(1000, "{n}. {a}\n"), ""),
    "list.count": (", ".join(str(n) for n in range(1, 501)), "Count to 500."),
    "list.emoji": ("🎉" * 40, "Write 40 party emoji."),
    "text.song": (_song(), ""),
    "text.litany": (_litany(), ""),
    "text.poem": (_poem(), ""),
    "text.legal": (_legal(), ""),
    "text.translation": (_translated(), ""),
    "text.asked-100-times": (
        "I must not talk in class.\n" * 100,
        "Write 'I must not talk in class.' a hundred times.",
    ),
    "text.quoted-again": (f"{_AGAIN}\n\nAs I said before:\n\n> {_AGAIN}\n\n{prose(83, 300)}\n", ""),
    "reasoning.cases": (_cases(), ""),
}
