"""Where suspicion begins: the repeated characters from which a channel is held back, long before the verdict.

Held back too soon, healthy text stutters; too late, the client reads the loop. Measured on 2,200 healthy
files and answers (played at 30 deltas a second) and on recorded loops: `tests/bench/holdback.py`.
"""

from ollama_guard.detect.regions import Region
from ollama_guard.detect.shape import Shape

_SOON = ((48, 32), (64, 48))
"""Up to these lengths, words and emoji that have come back for so many characters hardly ever stop there."""
_LATER = 60
_SHORT_CODE, _SOON_CODE = 16, 48
_BLOCK = 100
"""Longer units of code and data come back in part all the time; coming back whole is another matter."""


def begins(period: int, verdict: int, kind: Shape = Shape.TEXT, region: Region = Region.PROSE) -> int:
    """The mass from which a unit is suspicious that is certain at `verdict`. It grows with `verdict`."""
    quarter = verdict // 4
    if region is not Region.PROSE:
        return _in_code(period, verdict, kind)
    if kind not in {Shape.TEXT, Shape.EMOJI}:
        return max(1, quarter)
    for upto, soon in _SOON:
        if period <= upto:
            return max(1, min(soon, verdict // 2), verdict // 8)
    return of_folded(verdict)


def earliest(period: int, verdict: int) -> int:
    """What `begins` says at the least for a unit of this length, whatever it is and wherever it stands."""
    return min(begins(period, verdict), begins(period, verdict, Shape.RULE), _in_code(period, verdict))


def of_folded(verdict: int) -> int:
    """The same for folded text. It is looked at by the block, so what is held for it is held for longer."""
    return max(1, min(_LATER, verdict // 2), verdict // 4)


def _in_code(period: int, verdict: int, kind: Shape = Shape.TEXT) -> int:
    if period > _BLOCK:
        whole = min(period, verdict // 2)
        return max(1, whole if kind is Shape.TEXT else max(whole, verdict // 4))
    if period <= _SHORT_CODE and kind is Shape.TEXT:
        return max(1, min(_SOON_CODE, verdict // 4), verdict // 16)
    return max(1, verdict // 4)
