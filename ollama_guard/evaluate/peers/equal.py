"""Ollama's own breaker: so many deltas in a row that are equal once white space around them is trimmed."""

from ollama_guard.evaluate.detector import Detector, Hit


def thirty() -> Detector:
    return Equal(30)


def hundred() -> Detector:
    return Equal(100)


class Equal:
    """All channels together: it counts events. It depends on how the text was split, as the original does."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._last: str | None = None
        self._count = 0
        self._lengths: dict[str, int] = {}

    def feed(self, channel: str, text: str) -> Hit | None:
        length = self._lengths[channel] = self._lengths.get(channel, 0) + len(text)
        trimmed = text.strip()
        self._count = self._count + 1 if trimmed == self._last else 0
        self._last = trimmed
        if self._count < self._most:
            return None
        return Hit("equal deltas", length, None, trimmed, self._count + 1)
