"""What people ask for that repeats, with the request and without: never to be stopped at the defaults."""

import base64
import json

import pytest

from tests.detect.material import first

HOMEWORK = "I will do my homework every day and hand it in on time."
TALK = "I will not talk in class while the teacher is explaining the lesson to the other children."
CHINESE = "我保证以后上课再也不说话了，并且按时完成老师布置的作业。"
ROSES = "Roses are red,\nViolets are blue,\nSugar is sweet,\nAnd so are you.\n"
MARY = (
    "Hail Mary, full of grace, the Lord is with thee. Blessed art thou among women, and blessed is the fruit "
    "of thy womb, Jesus. Holy Mary, Mother of God, pray for us sinners, now and at the hour of our death. "
    "Amen.\n\n"
)
BOTTLES = (
    "{n} green bottles hanging on the wall,\n{n} green bottles hanging on the wall,\n"
    "And if one green bottle should accidentally fall,\n\n"
)


def _verse(n: int) -> str:
    return (
        f"{n} bottles of beer on the wall, {n} bottles of beer.\n"
        f"Take one down and pass it around, {n - 1} bottles of beer on the wall.\n\n"
    )


MATRIX = "\\begin{pmatrix}\n"
ASKED = {
    "a sentence 100 times": (f"{HOMEWORK}\n" * 100, f'Write "{HOMEWORK}" 100 times.'),
    "a sentence 100 times, numbered": (
        "".join(f"{n}. {HOMEWORK}\n" for n in range(1, 101)),
        f'Write "{HOMEWORK}" 100 times.',
    ),
    "a long sentence 500 times": (
        " ".join(f"{n}. {TALK}" for n in range(1, 501)),
        f'Write "{TALK}" 500 times.',
    ),
    "a sentence in Chinese": (f"{CHINESE}\n" * 100, f"请把下面这句话写100遍：{CHINESE}"),
    "a poem 100 times": (f"{ROSES}\n" * 100, f"Repeat this 100 times:\n\n{ROSES}"),
    "a word, glued": ("potato" * 100, 'Write "potato" 100 times without spaces'),
    "a sign of times": ("I will be good.\n" * 100, "I will be good. x 100"),
    "a call of repeat": ("I will be good. " * 100, 'Show the output of "I will be good. ".repeat(100)'),
    "base64": (base64.b64encode(bytes(1000)).decode(), "Base64 of 1000 zero bytes"),
    "hexadecimal": ("ff" * 1000, "1000 bytes of 0xff as hex"),
    "escapes": ('"' + "\\x90" * 255 + '"', "a NOP sled of 255 bytes"),
    "nulls": (json.dumps([None] * 100), "JSON array of 100 nulls"),
    "false values": (json.dumps([False] * 100), "JSON array of 100 false values"),
    "an empty table": (
        "| Date | Task |\n|---|---|\n" + "|  |  |  |  |\n" * 50,
        "An empty table with 50 rows",
    ),
    "placeholders": ("INSERT INTO t VALUES " + "(?, ?, ?, ?), " * 50, "prepared statement for 50 rows"),
    "a matrix of ones": ((" ".join("1" * 64) + "\n") * 64, "Write a 64x64 matrix of ones"),
    "a matrix in LaTeX": (
        MATRIX + (" & ".join(["0.000"] * 20) + " \\\\\n") * 20,
        "Write a 20x20 zero matrix",
    ),
    "a box": (("│" + " " * 78 + "│\n") * 40, "Draw an empty box 78 wide and 40 high"),
    "Hail Marys": (MARY * 10, "A decade of Hail Marys"),
    "a Kyrie": ("Kyrie eleison.\nChriste eleison.\nKyrie eleison.\n" * 20, "Write the Kyrie 20 times"),
    "bottles": ("".join(BOTTLES.format(n=n) for n in range(20, 0, -1)), "Green bottles"),
}
UNASKED = {
    "base64 in an address": f"data:application/octet-stream;base64,{base64.b64encode(bytes(1000)).decode()}",
    "steps of a path": f'<path d="M0 50{"h10v-20h10v20" * 75}"/>',
    "a line of a path": f'<path d="M0,50 {"l10,0 " * 300}"/>',
    "waves of a path": f'<path d="M0 50 {"q 5 -10 10 0 t 10 0 " * 50}"/>',
    "points of a drawing": f'<polyline points="{"0,10 10,0 " * 200}"/>',
    "a changelog": "".join(f"v2.{n}\n- Bug fixes and performance improvements\n\n" for n in range(60, 0, -1)),
    "a changelog in lines": "".join(
        f"Version 1.{n}: Bug fixes and performance improvements\n" for n in range(60)
    ),
    "a song that counts down": "".join(map(_verse, range(99, 0, -1))),
    "a countdown": "".join(f"The system restarts in {n} seconds, please wait. " for n in range(120, 0, -1)),
    "a separator of $": "Title\n" + "$" * 500 + "\nText\n",
    "a separator of %": "Title\n" + "%" * 500 + "\nText\n",
    "a separator of stars": "Title\n" + "★" * 500 + "\nText\n",
    **{
        f"a list of {form.format(n=12)}": "".join(f"{form.format(n=n)}\n" for n in range(1, 1001))
        for form in (
            "Item {n}",
            "Number {n}",
            "Question {n}.",
            "This is line {n}",
            "Item number {n}",
            "{n}. Item {n}",
            "- Chapter {n}",
            "第{n}章",
        )
    },
}


@pytest.mark.parametrize("name", ASKED)
def test_what_was_asked_for_is_not_stopped(name: str) -> None:
    text, request = ASKED[name]
    assert first(text, size=16, prompt=request) is None


@pytest.mark.parametrize("name", UNASKED)
def test_what_repeats_by_nature_is_not_stopped_without_a_request(name: str) -> None:
    assert first(UNASKED[name], size=16) is None


@pytest.mark.parametrize("name", ["a sentence 100 times", "a word, glued", "base64", "nulls", "Hail Marys"])
def test_nothing_else_asks_for_it(name: str) -> None:
    text, _ = ASKED[name]
    assert first(text, size=16, prompt="Explain how computers store text, in 100 words.") is not None


@pytest.mark.parametrize(
    "name", ["a sentence 100 times", "a sentence 100 times, numbered", "nulls", "hexadecimal"]
)
def test_what_was_asked_for_does_not_go_on_for_ever(name: str) -> None:
    text, request = ASKED[name]
    assert first(text + text[-30 * len(text) // 32 :] * 6, size=64, prompt=request) is not None


def test_a_countdown_is_waited_for_as_long_as_it_can_end() -> None:
    song = UNASKED["a song that counts down"]
    for text, upto in (
        (song + song, 1.05),
        (song + _verse(0) * 30, 1.05),
        ("".join(map(_verse, range(9999, 0, -1))), 0.2),
    ):
        finding = first(text, size=16)
        assert finding is not None
        assert finding.at < upto * len(song)
