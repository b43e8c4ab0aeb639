"""How far a request says to count, or how many things it asks for.

A figure, a range ("2301 to 2450"), a product ("10 rows of 20"), or the length of a list. Read generously: it
only raises what a counter needs.
"""

import re
from itertools import pairwise

from ollama_guard.detect import numerals

_FIGURE = re.compile(r"(?<![a-z\d_.,])\d{1,6}(?![a-z\d_]|[.,]\d)")
_FEWEST, _LONGEST = 10, 1000
"""A larger number in a request is a year, a price or a port, seldom how far to count."""
_NEAR = 40
"""Characters between two figures that may belong together."""
_RANGE = re.compile(r"\W*(?:to|until|till|through|and|bis|und|à|a|hasta|y|al?|до|по|到|至|から|부터)?\W*")
_PRODUCT = re.compile(
    r"[×*]|(?<![a-z])x(?![a-z])|\b(?:of|by|times|with|each|mal|von|je|de|por|di|по)\b|每|各|个|の"
)
_RELATION = re.compile(r"(?<![\w/\"'<>=-])[<>≤≥]=?\s*\Z")
"""In front of a number that is a bound."""
_MONTH = (
    r"(?:jan|feb|fév|m[aä]r|apr|abr|avr|ma[iy]|jun|juin|jul|juil|aug|août|ago|sep|o[ck]t|nov|de[cz]|déc|янв|фев|мар|"
    r"апр|мая|июн|июл|авг|сен|окт|ноя|дек)[^\W\d_]*\.?"
)
_DATE = re.compile(
    rf"(?<!to )(?<!bis )(?<![-–])\b(?:\d{{1,2}}\.? (?:of |de )?{_MONTH},? (?:de )?\d{{4}}|"
    rf"{_MONTH} \d{{1,2}},? \d{{4}}|"
    r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4})\b|\d{4}年\d{1,2}月\d{1,2}日"
)
"""A day of one year: its figures count nothing, unless it ends a range."""
_SOME = r"(?<![\w.,])(\d{1,2})[- ]?"
_SPANS = (
    (7, re.compile(rf"{_SOME}(?:(?:weeks?|wochen?|semaines?|semanas?|settiman[ae]|недел\w*)\b|周|週)")),
    (31, re.compile(rf"{_SOME}(?:(?:months?|monate?n?|mois|mes(?:es)?|mes[ei]|месяц\w*)\b|个月|ヶ月)")),
    (366, re.compile(rf"{_SOME}(?:(?:years?|jahre?n?|ans?|años?|ann[oi]|год\w*)\b|年)")),
)
"""Days in what a plan may be made for, day by day."""
_YEAR = re.compile(r"\b(?:for a|whole|full|entire|ganze[sn]?) (?:year|jahr)\b|\ba year's\b")
_COMMA = re.compile("[,;、，]")


def upto(said: str, turn: str, lines: int, facts: frozenset[int] = frozenset()) -> int:
    """The largest of these numbers, 0 for none.

    said: the latest turns, in lower case; turn: the last one, which may be a list; lines: of that one;
    facts: figures that are none.
    """
    said = numerals.in_figures(said)
    if len(_DATE.findall(said)) == 1:  # two are a range
        said = _DATE.sub(" ", said)
    figures = list(_FIGURE.finditer(said))
    found = [number for figure in figures if (number := int(figure[0])) not in facts]
    for one, two in pairwise(figures):
        between = one.string[one.end() : two.start()]
        if len(between) <= _NEAR and _PRODUCT.search(between) and not _RELATION.search(between):
            found.append(int(one[0]) * int(two[0]))
        elif _RANGE.fullmatch(between):
            found.append(int(two[0]) - int(one[0]) + 1)
    found += (days * int(number) for days, span in _SPANS for number in span.findall(said))
    found += [366] if _YEAR.search(said) else []
    found += [lines, max((len(_COMMA.findall(line)) + 1 for line in turn.splitlines()), default=0)]
    return max((count for count in found if _FEWEST <= count <= _LONGEST), default=0)
