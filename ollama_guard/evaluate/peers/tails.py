"""How the end of a text repeats: the ground that most of the known rules stand on."""

from collections.abc import Callable
from typing import NamedTuple


class Tail(NamedTuple):
    """The text up to `at` ends in a run of this period: its last `mass` characters equal those before
    them."""

    period: int
    mass: int
    at: int


class Tails:
    """Every run at the end of a growing text, character by character, for all periods up to `reach`.

    What a reversed Z function at each character would find, as long as the mass that is needed is at least
    `anchor`: then a run is met when its last `anchor` characters are found a period earlier. need: the mass
    at which a period is a hit. Exact, and as slow as the number of runs alive.
    """

    def __init__(self, need: Callable[[int], float], *, anchor: int, reach: int) -> None:
        self._need = need
        self._anchor = anchor
        self._reach = reach
        self._buffer = ""
        self._base = 0
        self._masses: dict[int, int] = {}

    def feed(self, text: str) -> Tail | None:
        """Append; the first hit."""
        buffer = self._buffer + text
        for place in range(len(self._buffer), len(buffer)):
            masses = {d: mass + 1 for d, mass in self._masses.items() if buffer[place - d] == buffer[place]}
            self._masses = self._met(buffer, place + 1, masses)
            for period, mass in self._masses.items():
                if mass >= self._need(period):
                    self._buffer = buffer
                    return Tail(period, mass, self._base + place + 1)
        kept = self._reach + self._anchor
        cut = max(0, len(buffer) - kept) if len(buffer) > 2 * kept + 1000 else 0
        self._buffer = buffer[cut:]
        self._base += cut
        return None

    def reset(self) -> None:
        """What follows has nothing to do with what was."""
        self._base += len(self._buffer)
        self._buffer = ""
        self._masses = {}

    def unit(self, tail: Tail) -> str:
        """What repeats."""
        end = tail.at - self._base
        return self._buffer[end - tail.period : end]

    def _met(self, buffer: str, end: int, masses: dict[int, int]) -> dict[int, int]:
        """With the runs whose mass has just come to the anchor's length."""
        begin = end - self._anchor
        if begin < 1:
            return masses
        tail, low = buffer[begin:end], max(0, begin - self._reach)
        place = buffer.rfind(tail, low, end - 1)
        while place >= 0:
            masses.setdefault(begin - place, self._anchor)
            place = buffer.rfind(tail, low, place + self._anchor - 1)
        return masses


def longest_period(text: str, most: int) -> list[Tail]:
    """For each period up to `most`, how much of the text's end repeats with it (reversed Z function)."""
    turned = text[::-1]
    size = len(turned)
    z, left, right, found = [0] * size, 0, 0, []
    for at in range(1, size):
        length = min(right - at, z[at - left]) if at < right else 0
        while at + length < size and turned[length] == turned[at + length]:
            length += 1
        if at + length > right:
            left, right = at, at + length
        z[at] = length
        if at <= most and length:
            found.append(Tail(at, length, size))
    return found
