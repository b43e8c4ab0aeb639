"""Healthy texts that came nearest to a verdict, as they stand in real files or were asked of a model.

name -> (channel, text). What is named after a file is as long as what repeats there; the lines around it are
made up. `test_distance` keeps how near each of them is.
"""

from .nasty import fence
from .prose import prose

_WORDS = prose(2026, 300) + "\n\n"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_WEEK = "".join(f"| {day} | 09:00 | 17:00 | Open as usual |\n" for day in _DAYS.split())
_BAR = "-----------------|-----------------|\n"
_TAB = (
    f"e|{_BAR}B|-----1-----1-----|-----1-----1-----|\nG|---0---0---0---0-|---0---0---0---0-|\n"
    f"D|-2-------2-------|-2-------2-------|\nA|{_BAR}E|{_BAR}\n"
)
_COUNTING = (
    "c = cached; cached = MEM_read32(ip); ip += 4;\n            Counting1[(BYTE) c     ]++;\n"
    "            Counting2[(BYTE)(c>>8) ]++;\n            Counting3[(BYTE)(c>>16)]++;\n"
    "            Counting4[       c>>24 ]++;\n            "
)
_CELL = "<th title='4.0' class='pairItem'>÷</th>"
_BASE64 = (
    "9gB6tLcH0KO9PYAe7f0B3NG7PYAe7e0B9GhvD6BHe3sAPdrbA+jR3h5Aj/b2AHq09wdwR+/2AHq0twfQo709gB7t7QH0aG8PoEd7ewA"
)

_CARD = (
    '<div class="card">\n  <img src="https://example.com/placeholder.png" alt="Product">\n'
    '  <h3>Product name</h3>\n  <p class="price">$19.99</p>\n  <p>Short description of the product.</p>\n'
    '  <a href="#">Read more</a>\n</div>\n'
)
_STAR = (
    '<svg class="w-5 h-5 text-yellow-400" fill="currentColor" viewBox="0 0 20 20">'
    '<path d="M9.049 2.927c.3-.921 1.603-.921 1.902 0l1.07 3.292a1 1 0 00.95.69h3.462c.969 0 1.371 1.24.588 '
    "1.81l-2.8 2.034a1 1 0 00-.364 1.118l1.07 3.292c.3.921-.755 1.688-1.54 1.118l-2.8-2.034a1 1 0 "
    '00-1.175 0l-2.8 2.034c-.784.57-1.838-.197-1.539-1.118l1.07-3.292"></path></svg>\n'
)
_LETTER = (
    "Dear {name}, thank you for your order. It left our house this morning and will be with you in {days} "
    "days. Should anything be missing, write to us; we will send it at once. Your friends at the {shop}.\n\n"
)
_NAMES = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jon", "Kay", "Leo", "Mia", "Ned")
_SHOPS = ("bakery", "florist", "tailor", "book shop", "dairy")
_ROOMS = [
    "ready for guests",
    "booked",
    "being cleaned",
    "booked",
    "out of order",
    "ready for guests",
    "reserved",
] * 2
_DAYS_OF_POST = ("two", "three", "four")
_REFUSED = "Connection to the database was refused by the host, next try in five seconds.\n"

_HANDLER = """
    private void button{n}_Click(object sender, EventArgs e)
    {{
        var button = (Button)sender;
        button.Enabled = false;
        moves.Add(board.IndexOf(button));
        button.Text = turn.ToString();
        if (board.IsFull())
            ShowResult(board.Winner());
        turn = turn.Next();
    }}
"""


def _segments(digit: int, lit: str) -> str:
    states = "".join(f"  digitalWrite({pin}, {'HIGH' if pin in lit else 'LOW'});\n" for pin in "ABCDEFG")
    return f"void digit{digit}() {{\n{states}}}\n\n"


_DIGITS = ("ABCDEF", "BC", "ABDEG", "ABCDG", "BCFG", "ACDFG", "ACDEFG", "ABC", "ABCDEFG", "ABCDFG")
_STEADY = "".join(
    f"| {room} | {value} | {value} | {value} |\n"
    for room, value in zip(
        ("cellar", "kitchen", "attic", "hall") * 5,
        (11.2, 20.4, 17.9, 18.8, 11.4, 20.9, 17.1, 18.2, 11.1, 21.3, 17.5, 18.6) * 2,
        strict=False,
    )
)

TEXTS: dict[str, tuple[str, str]] = {
    "functions.handlers": ("content", "".join(_HANDLER.format(n=n) for n in range(1, 26))),
    "functions.segments": ("content", "".join(map(_segments, range(10), _DIGITS))),
    "cells.steady": (
        "content",
        "| room | lowest | mean | highest |\n|---|---|---|---|\n" + _STEADY,
    ),
    "cases.restated": (
        "content",
        "".join(f"- Let a = {n}. Then b = {n}, so {n} is a fixed point of the map.\n" for n in range(1, 20)),
    ),
    "figures.SmLs08": (
        "content",
        "Treatment   Response\n"
        + "           1    1000000000000.3\n           1    1000000000000.5\n" * 100
        + "           1    1000000000000.4\n",
    ),
    "figures.arima111": ("content", "resid = [\n    .21,\n    .33" + ",\n    .64322799444199" * 177 + "]\n"),
    "figures.mac-turkish": (
        "content",
        "static tables = {\n" + "\tNULL,   NULL,   NULL,   NULL,\n" * 52 + "};\n",
    ),
    "figures.clearstate": ("content", "{\n" + "    0, // HOLE\n" * 112 + "    0x1, // END\n"),
    "figures.matplotlib": ("content", '<path d="M 30 36 \nL' + " 36 36 \nL" * 101 + ' 40 36"/>\n'),
    "figures.row-10-times": (
        "content",
        (",".join(f"{n * 0.037 % 1:.18e}" for n in range(81)) + "\n") * 10,
    ),
    "blob.scanner-map": (
        "content",
        '{"version":3,"mappings":"' + "AAAA,IAAI;AACJ,OAAO,EAAE" * 3 + "KAAK,EAAE," * 635 + '"}\n',
    ),
    "blob.Bayer": (
        "content",
        f"const image = 'data:image/png;base64,iVBORw0K{_BASE64[::-1]}{_BASE64 * 9}';\n",
    ),
    "markup.LineBreakTest": ("content", "<table>\n<tr>" + _CELL * 43 + "</tr>\n</table>\n"),
    "markup.cards": ("content", fence(_CARD * 6, "html")),
    "markup.stars": ("content", fence('<div class="flex">\n' + _STAR * 5 + "</div>\n", "html")),
    "markup.chess-board": (
        "content",
        fence('<div class="w"></div><div class="b"></div>' * 32, "html"),
    ),
    "records.batch": (
        "content",
        "[" + ", ".join(['{"sentiment": "positive", "confidence": 0.95}'] * 14) + "]",
    ),
    "code.log-lines": ("content", fence(_REFUSED * 13)),
    "code.long-rows": (
        "content",
        fence(
            ('"pending", "not assigned", "no comment was given", "no date", "unknown owner", "none",\n') * 12
        ),
    ),
    "board.emoji": ("content", _WORDS + ("\u2b1c" * 16 + "\n") * 16),
    "padding.fits": ("content", "SIMPLE  =                    T\nEND" + " " * 2800 + "\n"),
    "code.maple-keyb": (
        "content",
        fence(("\t" + ", ".join(["KEY_RESERVED"] * 5) + ",\n") * 15, "c"),
    ),
    "code.systemd-analyze": ("content", ".TP" + "\n\\fBl\\fP" * 78 + "\n.RE\n"),
    "code.next-runtime": ("content", "function(a,b){return[" + "i," * 255 + "0]}\n"),
    "code.hist": ("content", "        while (ip < iend-15) {\n         " + (_COUNTING * 4)[:-12] + "}\n"),
    "code.nop": ("content", fence("    nop\n" * 64 + "    ret\n", "asm")),
    "code.diff": ("content", fence("-        return None\n+        return default\n" * 15, "diff")),
    "code.json-null": ("content", fence("[" + ",\n ".join(['{"x": null, "y": null, "z": null}'] * 25) + "]")),
    "table.four-weeks": (
        "content",
        "| Day | Open | Close | Note |\n|---|---|---|---|\n" + _WEEK * 4 + "\nSee you.\n",
    ),
    "rule.sections": ("content", ("-" * 80 + "\nSection\n" + "=" * 80 + "\n") * 6),
    "rule.guitar-tab": ("content", fence((_TAB + "\n") * 4)),
    "rows.seed": (
        "content",
        fence("INSERT INTO tools VALUES\n" + "".join(f"({n}, 'Saw', 14.40),\n" for n in range(1, 49)), "sql"),
    ),
    "rows.tracker": (
        "content",
        "| Day | State | Note |\n|---|---|---|\n"
        + "".join(f"| {n} | not started | none so far |\n" for n in range(1, 54)),
    ),
    "rows.reserved": (
        "content",
        "struct {\n" + "".join(f"\tu32 reserved_{n};\n" for n in range(256)) + "};\n",
    ),
    "rows.influence": (
        "content",
        "".join(f'"{n}"' + ",FALSE" * 7 + "\n" for n in range(111, 198)),
    ),
    "rows.rooms": (  # it wavers, and is the same for the rest of the house
        "content",
        "| Room | State |\n|---|---|\n"
        + "".join(f"| {n} | {state} |\n" for n, state in enumerate(_ROOMS + ["ready for guests"] * 58, 101)),
    ),
    "chain.running-total": (
        "reasoning",
        _WORDS
        + "417"
        + "".join(
            f" + {n * 37 % 400} = {417 + sum(k * 37 % 400 for k in range(1, n + 1))}" for n in range(1, 90)
        ),
    ),
    "edited.letters": (
        "content",
        "".join(
            _LETTER.format(name=name, days=_DAYS_OF_POST[n % 3], shop=_SHOPS[n % 5])
            for n, name in enumerate(_NAMES * 2)
        ),
    ),
    "thought.html-list": (
        "reasoning",
        _WORDS + "<ul>\n" + '  <li><a href="#">Link</a></li>\n' * 15 + "</ul>\n",
    ),
    "thought.inserts": (
        "reasoning",
        _WORDS + "INSERT INTO users (name, active) VALUES ('test', TRUE);\n" * 15,
    ),
    "thought.prayer": ("reasoning", _WORDS + "Lord, have mercy.\nChrist, have mercy.\n" * 6),
    "thought.checklist": ("reasoning", _WORDS + "- [ ] Item\n" * 20),
    "thought.tongue-twister": (
        "reasoning",
        _WORDS + "How much wood would a woodchuck chuck if a woodchuck could chuck wood? " * 4,
    ),
    "thought.very": ("reasoning", _WORDS + "It is " + "very " * 40 + "big."),
}
