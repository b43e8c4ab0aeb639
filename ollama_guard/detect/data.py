"""Units that are data rather than words: figures in cells, nested markup, encoded bytes.

They repeat by nature, and by the thousand characters. Nothing depends on where in the unit one starts to
read: a unit is a circle.
"""

import re

from ollama_guard.detect import shape

_SEPARATORS = re.compile(r"[\s,;:|()\[\]{}<>=\"'`*]+")
_COMMENT = re.compile(r"(?://|#|/\*)[^\n]*")
_NUMBER = re.compile(r"0[xX][\da-fA-F]+|(?:[A-Za-z]{0,2}[-+./\d])*[A-Za-z%]?")
"""Also path commands and exponents ("c0-8.8", "1.5e-07"), and a single letter; marks alone."""
_SUM = re.compile(r"^[^\w=+*/.,-]*(\d{1,9}) ?([-+x×*]) ?(\d{1,9}) ?= ?(\d{1,9})[^\w=+*/-]*$", re.MULTILINE)
"""A line that is a sum, a difference or a product."""
_COMMAND = re.compile(r"[GM]\d+(?:[ \t]+[XYEFS]-?\d+(?:\.\d+)?)+\s*")
"""A step of a machine tool to a place (G-code). Alone it is no drawing; again and again it goes nowhere."""
EMPTY = frozenset({"null", "nil", "none", "nan", "np.nan", "na", "n/a", "undefined", "true", "false", "inf"})
_MANY_FIGURES = 0.5
_TAG = re.compile(r"<[/!]?[A-Za-z][^<>]*>")
_MANY_TAGS = 0.5
_ENCODED = re.compile(r"[A-Za-z0-9+/=_%,;\-]+")
_TOKEN = re.compile(r"[A-Za-z0-9+/=_%,;\-]*\Z")
_BASE64 = re.compile(r";base64,[A-Za-z0-9+/=]*\Z")
"""A data address, which says what it holds."""
_TOKEN_SIZE = 40
"""Characters without white space, of letters, digits and few marks, that make encoded data."""
_TURNS = 4
_LONG_LINE = 20
"""Numbers from which a line of them is data: the path of a drawing, a row of a wide matrix."""


def is_figures(unit: str) -> bool:
    """Whether it is nothing but numbers and empty values, in rows or in a list without blanks.

    A few numbers that take turns within a line are not meant: they are as likely a loop.
    """
    rows = "\n" in unit
    if rows and '"' in unit and not any(map(str.isalnum, unit)):
        return True  # a list of empty strings
    words = [word for word in _SEPARATORS.split(_COMMENT.sub("", _from_separator(unit))) if word]
    if not rows and len(words) < _LONG_LINE and not is_dense_list(unit):
        return False
    if not any(map(str.isdigit, unit)) and "," not in unit and "  " not in unit:
        return False  # a word on its line
    if rows and (_COMMAND.fullmatch(shape.from_line(unit)) or _is_wrong(unit)):
        return False
    kinds = dict.fromkeys(words, 0)
    for word in words:
        kinds[word] += 1
    counted = 0
    for word, times in kinds.items():
        empty = word.casefold() in EMPTY
        if not empty and not _NUMBER.fullmatch(word):
            return False
        counted += times if empty or any(map(str.isdigit, word)) else 0
    return counted > 0 and counted >= _MANY_FIGURES * len(words)


def _is_wrong(unit: str) -> bool:
    """Whether a line of it is a sum that is wrong: what is learnt by heart is right."""
    results = {"+": int.__add__, "-": int.__sub__}
    return any(
        results.get(operator, int.__mul__)(int(one), int(two)) != int(result)
        for one, operator, two, result in _SUM.findall(shape.from_line(unit))
    )


def is_dense_list(unit: str) -> bool:
    """Whether items follow each other with a comma and no blank, as in data and minified code."""
    return "," in unit and not any(map(str.isspace, unit))


def is_markup(unit: str) -> bool:
    """Whether more than half of it is tags that open and close: rows, cells and items of a page."""
    cut = max(0, unit.find("<"))
    unit = unit[cut:] + unit[:cut]
    tags = _TAG.findall(unit) if "</" in unit else []
    return len(tags) > 1 and sum(map(len, tags)) >= _MANY_TAGS * len(unit)


def is_record(unit: str) -> bool:
    """Whether it holds a JSON object with its members: one answer of a batch is as good as the next."""
    turned = unit + unit
    return '{"' in turned and '":' in turned


def is_encoded(unit: str, before: str) -> bool:
    """Whether it repeats inside encoded data: within one long token, or in lines of nothing else."""
    if any(map(str.isspace, unit)):
        words = (3 * unit).split()[1:-1]  # the first and the last may be cut
        return all(len(word) >= _TOKEN_SIZE and _ENCODED.fullmatch(word) for word in words) and _worded(unit)
    if not _ENCODED.fullmatch(unit):
        return False
    if _BASE64.search(before):
        return True
    token = _TOKEN.search(before[-_TOKEN_SIZE:])
    if token is None or len(token[0]) < _TOKEN_SIZE:
        return False
    return len(set(token[0])) > 2 and _worded(token[0])  # "hahaha" without end is none


def in_line(unit: str) -> bool:
    """Whether it is a stretch of a line that nothing divides: no rows, no brackets, no list.

    The same few numbers over and over are a row of a table; several that take turns are as likely a loop.
    """
    if any(map(unit.__contains__, "\n;()[]{}<>\"'|&")):
        return False
    words = set(_SEPARATORS.split(unit + unit)[1:-1])
    numbers = bool(words) and all(map(_NUMBER.fullmatch, words)) and not any(map(unit.__contains__, "=*"))
    if numbers and any(map(str.isdigit, unit)):
        return len(words) >= _TURNS and not is_dense_list(unit)
    return "," not in unit


def _worded(text: str) -> bool:
    """Whether letters and digits prevail: a line that is drawn is no data."""
    return 2 * sum(map(str.isalnum, text)) >= len(text)


def _from_separator(unit: str) -> str:
    """The unit turned so that it begins between two words (at a line's start where there is one)."""
    if "\n" in unit:
        return shape.from_line(unit)
    found = _SEPARATORS.search(unit)
    cut = found.end() if found else 0
    return unit[cut:] + unit[:cut]
