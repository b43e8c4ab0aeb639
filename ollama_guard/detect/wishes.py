"""What the words of a request ask for that repeats: how often, how long, what kind of text.

A number may stand in a request for many reasons ("a table of 500,000 rows"), so none that is read here is
large enough to leave an answer unguarded.
"""

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from ollama_guard.detect.numerals import in_figures, value

_MOST = 1000
"""A larger number is a fact, seldom a wish. Things that are to be said "5000 times" are let go this far."""
_LONGEST = 5000
_MOST_SLOTS = 300
_FEWEST, _FEWEST_TIMES, _FEWEST_SLOTS = 10, 5, 8
_FEWEST_CELLS = 36
"""A board of fewer cells is no longer than a verdict takes."""

_FIGURES = r"(?<![a-z0-9.,第])(\d{1,3}(?:[,.]\d{3}){1,3}(?!\d)|\d{1,9}(?!\d))"
_JOINT = r"[\s-]{0,3}"
_GAP = _JOINT + r"(?:[^\W\d]\w*\s+){0,2}"
_TIMES = re.compile(
    rf"{_FIGURES}{_JOINT}(?:[^\W\d]\w*\s+)?(?:times|copies|repetitions|rounds|"
    r"x\b(?!\s*[-+*/=^\d])|mal\b|fois\b|veces\b|vezes\b|volte\b|раза?\b|बार|مر(?:ة|ات)|번|回|kez\b|kere\b|lần\b)"
)
_TIMES_HAN = re.compile(
    r"(?<![第\d一二两三四五六七八九十百千])(\d{1,9}|[一二两三四五六七八九十百千]{1,7})\s?[遍次回]"
)
_THINGS = re.compile(
    rf"{_FIGURES}{_GAP}(?:rows?|lines?|zero(?:e?s)?|ones|dots?|dashes|stars?|asterisks?|"
    r"spaces?|emojis?|sentences?|items?|entries)\b"
)
_THINGS_HAN = re.compile(r"(?<!\d)(\d{1,9})\s?[行個个度]")
_PROGRAM = re.compile(r"""(?:\brange\(|\.repeat\(|['"]\s?\*\s?|\bhead -(?:n ?)?)(\d{1,4})(?![\d.])""")
"""What a program prints so many times, where its output is asked for."""
_BEHIND = re.compile(r"(?<![\d)] )(?<![\w)])[x×] ?(\d{1,4})(?![\w.,]*\d|\s?[-+*/=])")
"""Behind what is to be said: "yes x100"."""
_GRID = re.compile(
    r"(?<![\w.,])(?<![-+*/] )(\d{1,3})\s?(?:x|×|by|(?:\w+ )?wide,? (?:and |by |x )?)\s?(\d{1,3})"
    r"(?![\w.,]*\d|\s?[-+*/=])"
)

_SIZE = re.compile(
    rf"{_FIGURES}{_GAP}(?:(digits?|decimals?|decimal places)|characters?|chars?|letters?|bases?|bytes)\b"
)
_LIMIT = re.compile(
    r"(?:at most|less than|fewer than|no more than|not exceed\w*|under|below|within|max\.?|maximum(?: of)?|"
    r"limit\w*(?: \w+)?(?: to| of| is)?)\s*$"
)
"""In front of a size that must not be reached."""

_WISH = re.compile(
    r"\brepeat(?:ed(?:ly)?|ing)?\b|\brepetition|\bover and over|\bagain and again|\bfor ?ever\b|\bendless|"
    r"\bkeep (?:saying|writing|typing)|\bnon-?stop\b|"
    r"重复|反复|不断|繰り返|반복|повтор|rép[éè]t|wiederhol|repit|ripet"
)
_UNWISH = re.compile(
    r"\b(?:don['’]?t|never|not|shouldn['’]t)\s+(?:ever |just |simply |keep )?repeat\w*|"
    r"\b(?:without|avoid\w*|no|stop|any|less)\s+(?:any |being |needless |unnecessary |excessive )?"
    r"repe(?:at|tit)\w*|"
    r"(?:不要|不|别|勿|避免|没有)重复|繰り返さ|"
    r"(?:nicht|ohne|keine?|vermeide)\s+(?:\w+\s+)?(?:zu )?wiederhol\w*|"
    r"(?:sans|évite\w*|ne)\s+(?:\w+\s+)?(?:\w+\s+)?rép[éè]t\w*|"
    r"(?:не|без)\s+повтор\w*|(?:sin|no)\s+(?:te )?repit\w*"
)

_SONG = re.compile(
    r"\b(?:lyrics|chants?|mantras?|refrain|litan(?:y|ies)|rosary|nursery rhymes?|tongue[- ]twisters?|"
    r"guitar tabs?|tablature|sheet music|drum pattern|hail marys|kyrie|green bottles|"
    r"bottles of (?:beer|milk|pop))\b|"
    r"(?:^|[.!?,:\n] ?|\b(?:you|please|and|to|then)\s+)sing\b|"
    r"歌词|歌詞|念经|咒语|песн|paroles|chanson|letra de|canción|liedtext"
)
"""What is repeated by its nature, whether or not its words stand in the request."""
_FILLER = re.compile(
    r"\b(?:lorem|ipsum|dolor|amet|consectetur|adipiscing|elit|eiusmod|tempor|incididunt|labore|magna|aliqua|"
    r"veniam|nostrud|ullamco|laboris|commodo|consequat|fugiat|pariatur|officia|mollit|laborum|pellentesque|"
    r"habitant|morbi|tristique|senectus|malesuada|turpis|egestas|vestibulum|nulla|facilisi|cras|vitae|nunc|"
    r"curabitur|phasellus|vivamus|mauris|donec|quisque|praesent|aenean|maecenas|perspiciatis|omnis|voluptatem|"
    r"accusantium|laudantium|excepteur|sint|occaecat|cupidatat|proident|duis|aute|irure|placeholder)\b|[<>|{}\\]",
    re.IGNORECASE,
)
"""Words of the dummy text of printers, or the mark-up around it."""
_SONGLIKE = re.compile(
    r"\b(?:songs?|chorus|prayers?|psalms?|hail marys?|our fathers?|lord['’]?s prayer|ave maria|hymns?)\b"
)
"""Such texts, too, where a text is asked for."""
_GIVE = re.compile(
    r"\b(?:write|give|show|print|list|complete|full|text of|words (?:of|to)|say|recite|tell me|type|compose|"
    r"provide|sing|schreib|gib|écris|donne|escribe|dame|напиши)\b"
)
_ENCODED = re.compile(r"\b(?:base-?64|hex(?:adecimal)?|hex ?dump|bytes?|blob|nop sled|octal)\b")
_BYTES = re.compile(r"[A-Za-z0-9+/=]{1,128}[\s,;\"'\\]{0,3}")
_HEX = frozenset("0123456789abcdef")
_SENTENCE = re.compile(r"[.!?\n。！？]+")

_SLOTS = re.compile(
    rf"{_FIGURES}{_GAP}(?:packets?|instructions?|points?|rounds?|reps|"
    r"beats?|bars?|measures?|cells?|elements?|records?|fields?|slots?|squares?|ticks?)\b"
)
"""Things alike by nature (times are not: "3 hours" is a question, not a wish). What fills them is short, and
its words seldom stand in the request."""


class Wishes(NamedTuple):
    """often: how many of a thing that is named; cells, side: of a board; size: in characters, `digits` if of
    figures; slots: things alike by nature. 0 for none. repeated: in so many words; encoded: bytes, written
    down; song: by its nature; filler: as dummy text."""

    often: int
    cells: int
    side: int
    size: int
    digits: bool
    slots: int
    repeated: bool
    encoded: bool
    song: bool
    filler: bool


def read(text: str) -> Wishes:
    """The wishes in a text whose case is folded."""
    cells, side = _grid(text)
    sizes = list(_sizes(text))
    return Wishes(
        often=_often(text),
        cells=cells,
        side=side,
        size=max((size for size, _ in sizes), default=0),
        digits=any(digits for _, digits in sizes),
        slots=max(_numbers(_SLOTS, text, _FEWEST_SLOTS, _MOST_SLOTS), default=0),
        repeated=_WISH.search(text) is not None and _WISH.search(_UNWISH.sub(" ", text)) is not None,
        encoded=_ENCODED.search(text) is not None,
        song=_SONG.search(text) is not None or _song_given(text),
        filler="lorem ipsum" in text,
    )


def may_be_bytes(unit: str) -> bool:
    """Whether it may be equal bytes, written down: in hexadecimal, or zeros in base64 ("AAAA")."""
    written = unit.replace("\\\\x", "").replace("\\x", "").replace("0x", "")
    kinds = {char.lower() for char in written if char.isalnum()}
    return _BYTES.fullmatch(written) is not None and len(kinds) <= 2 and kinds <= _HEX


def how_many(word: str, text: str) -> int:
    """How many of this thing a text asks for: "100 nulls". 0 for none."""
    found = re.search(rf"{_FIGURES}{_JOINT}(?:[^\W\d]\w*\s+)?{re.escape(word)}(?:s|es)?\b", text)
    return min(_MOST, value(found[1])) if found else 0


def may_be_filler(unit: str) -> bool:
    """Whether this may belong to dummy text. Where that is asked for, plain words are none."""
    return _FILLER.search(unit) is not None


def _often(text: str) -> int:
    text = in_figures(text)
    found = [0]
    for pattern in (_TIMES, _TIMES_HAN, _BEHIND):
        found += (min(number, _MOST) for number in _numbers(pattern, text, _FEWEST_TIMES))
    for pattern in (_THINGS, _THINGS_HAN, _PROGRAM):
        found += _numbers(pattern, text, _FEWEST, _MOST)
    return max(found)


def _numbers(pattern: re.Pattern[str], text: str, fewest: int, most: float = math.inf) -> Iterator[int]:
    """The numbers in front of what is counted."""
    for match in pattern.finditer(text):
        number = value(next(group for group in match.groups() if group))
        if fewest <= number <= most:
            yield number


def _sizes(text: str) -> Iterator[tuple[int, bool]]:
    for match in _SIZE.finditer(text):
        number = value(match[1])
        if _FEWEST <= number <= _LONGEST and not _LIMIT.search(
            text, max(0, match.start() - 30), match.start()
        ):
            yield number, match[2] is not None


def _grid(text: str) -> tuple[int, int]:
    """The cells and the longer side of the largest board."""
    boards = [(int(match[1]), int(match[2])) for match in _GRID.finditer(text)]
    boards = [sides for sides in boards if max(sides) <= _MOST_SLOTS and sides[0] * sides[1] >= _FEWEST_CELLS]
    cells = (one * two if one * two <= _MOST else max(one, two) for one, two in boards)
    return max(cells, default=0), max(map(max, boards), default=0)


def _song_given(text: str) -> bool:
    if not _SONGLIKE.search(text):
        return False
    return any(_SONGLIKE.search(said) and _GIVE.search(said) for said in _SENTENCE.split(text))
