"""How the numbers run on from copy to copy in text that is equal but for its numbers.

A bare counter ("Step 12: …", "Step 13: …" and nothing else changes) says nothing new, however far it goes.
Results that vary, measurements and identifiers with a number in them may be work or data.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from itertools import pairwise

from ollama_guard.detect.scripts import UNSPACED

DECIMAL = re.compile(r"\d+")
DIGITS = 15
"""Digits of a number that can be a counter."""
_STEADY = 0.9
"""Share of the steps that must be alike: models skip a number or begin anew now and then."""
_FEWEST = 4
_TOGETHER = 8
"""Numbers that may take turns."""
_CYCLES, _TELLING, _MOSTLY = 3, 2, 0.8
"""Rounds of numbers that grow by zeros, the first one included; the digits with which a number tells itself
from others; the share that must come again."""
_MARKER = re.compile(r"^[ \t>*#-]*\d+[.)](?=\s)", re.MULTILINE)


class Course(Enum):
    """What the numbers of consecutive copies do."""

    MARKED = "marked"  # nothing changes but the marker of list items, whether it counts on or begins anew
    NAMED = "named"  # the same, but the items are named by it: "7. Item 7"
    COUNTED = "counted"  # a counter in the text
    GROWN = "grown"  # numbers that come again in the same order, each with more zeros
    VARIED = "varied"  # anything else


def course(copies: Sequence[str]) -> Course:
    """The course of the numbers in consecutive copies, which are equal but for these."""
    if len(copies) < _FEWEST:
        return Course.VARIED
    lines = _by_line(copies)
    marked = len({_MARKER.sub("", line) for line in lines}) == 1 < len(set(lines))
    if not _only_counters(copies, lambda number: _glued(number) or _of_version(number)):
        return Course.MARKED if marked and _begins_anew(lines) else Course.VARIED
    if marked:
        return Course.MARKED
    return Course.NAMED if len(set(map(_without_count, lines))) == 1 else Course.COUNTED


def copies_left(copies: Sequence[str]) -> int:
    """How many copies are still to come until what counts down in them is at zero, as in a song.

    0 if nothing counts, or some number goes up.
    """
    ends = []
    for column in zip(*(DECIMAL.finditer(copy) for copy in copies), strict=False):
        values = [int(match[0]) for match in column if len(match[0]) <= DIGITS]
        if len(values) == len(copies) and values[0] > values[-1]:
            ends.append(math.ceil(values[-1] * (len(values) - 1) / (values[0] - values[-1])))
        elif len(set(values)) != 1:
            return 0
    return max(ends, default=0)


def course_of_numbers(copies: Sequence[str]) -> Course:
    """The same where a copy is no more than a number with marks: several may take turns ("1.1: 1.2: ")."""
    for together in range(1, min(_TOGETHER, len(copies) // _FEWEST) + 1):
        first = len(copies) % together
        groups = ["".join(copies[at : at + together]) for at in range(first, len(copies), together)]
        if len({DECIMAL.sub("0", group) for group in groups}) == 1 and _only_counters(groups, _glued):
            return Course.COUNTED
    return Course.GROWN if _grown(copies) else Course.VARIED


def _grown(copies: Sequence[str]) -> bool:
    """Whether the latest numbers are earlier ones with zeros behind: "417, 529, … 4170, 5290, … 41700"."""
    text = "".join(copies)
    if "\n" in text:
        return False  # a table of powers
    numbers = DECIMAL.findall(text)
    values = [number.rstrip("0") for number in numbers]
    for back in range(1, len(values) // _CYCLES):
        latest = range(len(values) - (_CYCLES - 1) * back, len(values))
        again = [at for at in latest if values[at] == values[at - back] and numbers[at] != numbers[at - back]]
        if sum(len(values[at]) >= _TELLING for at in again) >= _MOSTLY * len(latest):
            return True
    return False


def _without_count(line: str) -> str:
    """The line without the number that marks it, wherever that stands."""
    marker = _MARKER.match(line)
    count = DECIMAL.search(marker[0]) if marker else None
    return re.sub(rf"(?<!\d){count[0]}(?!\d)", "", line) if count else line


def _only_counters(copies: Sequence[str], is_part: Callable[[re.Match[str]], bool]) -> bool:
    """Whether some number counts, and none changes in another way, or is a part of something else."""
    counting = False
    for column in zip(*(DECIMAL.finditer(copy) for copy in copies), strict=False):
        values = [match[0] for match in column]
        if len(set(values)) == 1:
            continue
        if not _counts(values) or any(map(is_part, column)):
            return False
        counting = True
    return counting


def _begins_anew(items: Sequence[str]) -> bool:
    """Whether the first number of an item is one more than the last one's, or less: the list starts again."""
    found = [number for item in items for number in DECIMAL.findall(item)[:1]]
    return max(map(len, found)) <= DIGITS and all(int(two) <= int(one) + 1 for one, two in pairwise(found))


def _counts(values: Sequence[str]) -> bool:
    """Whether these are a counter's: it goes on by the same step, or stands still."""
    if max(map(len, values)) > DIGITS:
        return False
    numbers = [int(value) for value in values]
    steps = Counter(two - one for one, two in pairwise(numbers))
    moves = Counter({step: times for step, times in steps.items() if step})
    _, times = moves.most_common(1)[0]
    return times > 1 and times + steps[0] >= _STEADY * steps.total()


def _glued(match: re.Match[str]) -> bool:
    """Whether the number belongs to an identifier (`module_12`, `x12`)."""
    # A copy is a circle: in front of its first character is its last.
    before = match.string[match.start() - 1]
    return before == "_" or (before.isalpha() and not UNSPACED.match(before))


def _of_version(match: re.Match[str]) -> bool:
    """Whether the number is the second of a version, an address or a decimal, or a later one."""
    return match.string[match.start() - 1] == "." and match.string[match.start() - 2].isdigit()


def _by_line(copies: Sequence[str]) -> list[str]:
    """The same copies, cut where a line begins, if there is such a place."""
    text = "".join(copies)
    if not all("\n" in copy for copy in copies):  # white space may differ
        return list(copies)
    ends = [0]
    for copy in copies:
        ends.append(ends[-1] + len(copy))
    cuts = [text.find("\n", end) + 1 for end in ends[:-1]]
    return [text[one:two] for one, two in pairwise(cuts)]
