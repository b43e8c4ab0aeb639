"""How much a run must repeat: a channel's rules, applied to one unit in its place."""

import functools
import math
from collections.abc import Sequence

from ollama_guard.detect import shape, suspicion
from ollama_guard.detect.asked import Asked
from ollama_guard.detect.fold import Text
from ollama_guard.detect.regions import Region
from ollama_guard.detect.rules import ANY, ChannelRules, OwnTable
from ollama_guard.detect.run import Goal
from ollama_guard.detect.shape import Shape
from ollama_guard.detect.tables import NEVER, by_span, by_table, copies, easiest, mass
from ollama_guard.detect.tracker import NEAR, Tier

_REMEMBERED = 1 << 14
"""Lengths of units: more than the longest period, so that none is worked out again in hostile text."""
_DENSE = 0.5
"""As much is said in so many of the characters where they are ideographs."""
_EDITED = 3
"""Times as much as of a counter: equal but for some words may be letters to many, verses or a litany."""
_COUNTED = 1.2
"""How far a count may go beyond the number that the request names."""
_EQUAL, _EQUAL_MASS = 64, 4000
"""Copies of a sentence in a list, and characters, from which a number in the request excuses no more."""


class Measure:
    """The thresholds of one channel, the request taken into account.

    `shown` is the length of a copy as it stands in the text, where it is counted in another one (folded). The
    range of units is about that one, and so is a table of one's own; the built-in tables are about the other.
    """

    def __init__(self, rules: ChannelRules, asked: Asked) -> None:
        self._rules = rules
        self._asked = asked
        self._least = _remembered(rules)
        self.by_span = rules.span_min is not None
        self.escaped = rules.escaped
        self.apart = rules.code <= 0
        self._own = isinstance(rules.text, OwnTable)
        self._longest = min(rules.unit_max, rules.text[-1].upto)
        self._all_units = rules.unit_min <= 1 and self._longest >= ANY
        self.thinking = rules.thinking
        self.scale = rules.scale
        self.drift, self.drift_data = rules.drift, rules.drift_data

    @property
    def shown(self) -> Sequence[str]:
        """The last lines of the request: a list in it may be one to go on with."""
        return self._asked.shown

    def look(self, period: int) -> int:
        """The least mass at which a run of this period is worth judging."""
        return self.least(period).alarm

    def later_look(self, period: int) -> int:
        """The same for folded text, where more of a run tells more: a whole copy of it, if it is short."""
        least = self.least(period).verdict
        if self._own:  # copies of this length may be longer in the text, and longer units need fewer
            fewest = copies(easiest(self._rules.text), period)
            least = min(least, math.ceil(fewest * period * self.scale)) if fewest < math.inf else least
        return suspicion.of_folded(least)

    def least(self, period: int) -> Goal:
        """What any unit of this length needs at the least, whatever it is made of and wherever it stands."""
        found = self._least.get(period)
        if found is None:
            if len(self._least) >= _REMEMBERED:
                self._least.clear()
            found = self._least[period] = _least(self._rules, period)
        return found

    def counter(self, folded: str, shown: int = 0, size: int = 0) -> int:
        """The repeated characters from which this unit is certain if nothing but a counter changes in it.

        size: the unit's length if it is not the folded one that counts.
        """
        size = size or len(folded)
        shown = shown or size
        if not (self._all_units or self._fits(folded, shown)):
            return NEVER
        counted = mass(self._rules.counter, size) * (_DENSE if shape.is_dense(folded) else 1)
        least = max(counted, self._text(size, shown))
        needed = math.ceil(least * self._rules.scale)
        needed = max(needed, self._asked.labels(folded, Text.NUMBERS) * size // len(folded))
        if self._asked.wants(folded, Text.NUMBERS, escaped=self.escaped):
            needed = math.ceil(needed * self._rules.asked) + self._asked.allowance(folded)
        return needed

    def words(self, size: int, shown: int = 0) -> int:
        """The repeated characters that words of this length need, whatever else is known of them."""
        if not self._rules.unit_min <= (shown or size) <= self._longest:
            return NEVER
        return math.ceil(self._text(size, shown or size) * self.scale)

    def promised(self, shown: int) -> int:
        """The repeated characters that settings of one's own ask for, 0 where there are none."""
        if not self._rules.unit_min <= shown <= self._longest:
            return NEVER
        return self.words(shown) if self._own else 0

    def again(self, said: str) -> tuple[float, int]:
        """How many times as long text that says nothing new may be because of the request, and for how many
        characters at least. said: a stretch of it."""
        wanted = self._asked.wants_again(said)
        return (self._rules.asked, wanted) if wanted else (1.0, 0)

    def edited(self, size: int) -> int:
        """The characters from which copies of this size are certain though each is edited a little."""
        counter = math.ceil(mass(self._rules.counter, size) * self.scale)
        return max(_EDITED * max(counter, self.words(size)), self.counted(size))

    def counted(
        self, size: int, *, equal: bool = False, spoken: bool = False, facts: frozenset[int] = frozenset()
    ) -> int:
        """The repeated characters that a number in the request may have asked for, of units of this size.

        equal: they are items of a list, the same but for its numbers; spoken: and they say something; facts:
        numbers that each of them states, which are no count.
        """
        upto = (self._asked.upto_but(facts) if facts else self._asked.upto) * _COUNTED
        if equal and self._rules.thinking:
            upto = 0.0  # no list is asked for in thought
        elif equal and spoken:
            upto = min(upto, _EQUAL, max(1, _EQUAL_MASS / size))  # 100 things have not 100 equal sentences
        return round(upto * size)

    def short_search(self) -> Tier | None:
        """The dense search that rules with verdicts on very few characters need, None for all others."""
        fewest = _fewest(self._rules)
        if fewest >= NEAR.anchor + NEAR.stride:
            return None
        anchor = next(size for size in (8, 4, 2, 1) if 2 * size <= max(fewest, 2))
        return Tier(anchor, anchor, NEAR.anchor)

    def goal(self, unit: str, region: Region, text: Text = Text.RAW, shown: int = 0) -> Goal:
        """The masses at which a run of this unit is suspicious, and at which it is certain.

        text: what the unit was found in. `span_min` is about text that is equal, numbers included.
        """
        period = len(unit)
        shown = shown or period
        if not self._all_units and not self._fits(unit, shown):
            return Goal(NEVER, NEVER)
        if self._rules.escaped and text is Text.RAW:
            unit = shape.unescaped(unit)
        plain = None if text is Text.NUMBERS else by_span(self._rules, unit, period)
        if plain is None or (self.apart and region is not Region.PROSE):
            # the built-in tables are about what is meant by an escape
            plain = by_table(self._rules, unit, region, *((period, shown) if self._own else ()))
        if text is not Text.RAW:
            plain = plain._replace(alarm=max(plain.alarm, suspicion.of_folded(plain.verdict)))
        plain = plain._replace(verdict=max(plain.verdict, self._asked.labels(unit, text)))
        if plain.verdict >= NEVER or not self._asked.wants(unit, text, escaped=self.escaped):
            return Goal(min(max(plain.alarm, self.look(len(unit))), plain.verdict), plain.verdict)
        verdict = max(
            math.ceil(plain.verdict * self._rules.asked), plain.verdict + self._asked.allowance(unit)
        )
        return Goal(verdict // 2, verdict)

    def _fits(self, unit: str, shown: int) -> bool:
        """Whether a unit may be a verdict of which a copy is shown as so many characters."""
        least = shown * len(shape.primitive(unit)) // len(unit)
        return self._rules.unit_min <= least and (least if shown == len(unit) else shown) <= self._longest

    def _text(self, size: int, shown: int) -> int:
        """What the table of words asks for."""
        return mass(self._rules.text, size, shown if self._own else size)


@functools.lru_cache(maxsize=64)
def _remembered(rules: ChannelRules) -> dict[int, Goal]:  # noqa: ARG001 (it is the key)
    """What is known already of units by their length: the same for all answers under the same rules."""
    return {}


@functools.lru_cache(maxsize=64)
def _fewest(rules: ChannelRules) -> int:
    """The least of all short units; remembered, for it is asked by every channel of every answer."""
    return min(_least(rules, period).verdict for period in range(1, NEAR.anchor + 1))


def _least(rules: ChannelRules, period: int) -> Goal:
    tables = [rules.table(kind) for kind in Shape]
    tables += [table for table in (rules.markup, rules.figures, rules.blob) if table is not None]
    verdict = math.ceil(min(mass(table, period) for table in tables) * rules.scale)
    if rules.span_min is not None:
        repeated = max(1.0, min(rules.span_copies - 1, *(copies(table, period) for table in tables)))
        verdict = min(verdict, max(rules.span_min - period, math.ceil(repeated * period)))
    return Goal(suspicion.earliest(period, verdict), verdict)
