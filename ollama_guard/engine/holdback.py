"""Frames that were read but not shown yet, in order.

Held are: frames of a channel that is part of the way to a verdict, an incomplete tool call, and a frame that
looks like the death of the stream. They go out unchanged when that falls away, and are dropped when it is
confirmed.
"""

from collections import deque
from collections.abc import Iterator

from ollama_guard.engine.attempt import Judged
from ollama_guard.events import Finish, ToolDelta, UpstreamError


class HoldBack:
    """A bounded queue. `calling` is true while a tool call is being written and not whole."""

    def __init__(self, limit: int, *, whole_answers: bool = False) -> None:
        """`whole_answers`: calls are held until the answer ends, for they may have to be refused."""
        self._limit = limit
        self._whole_answers = whole_answers
        self._held: deque[Judged] = deque()
        self.size = 0
        self.calling = False

    def __bool__(self) -> bool:
        return bool(self._held)

    def __iter__(self) -> Iterator[Judged]:
        return iter(self._held)

    def wants(self, judged: Judged, *, suspect: bool) -> bool:
        """Whether this frame is to be held (and everything after it until it is released)."""
        for event in judged.events:
            if isinstance(event, ToolDelta):
                self.calling = self._whole_answers or not event.whole
            elif isinstance(event, UpstreamError):
                if not event.message:
                    return True
            elif self.calling and (isinstance(event, Finish) or not self._whole_answers):
                # Anything else after the pieces of a call says that the call is complete.
                self.calling = False
        if not judged.frame.whole:
            return bool(self._held)
        return (suspect or self.calling) and self.size < self._limit

    def hold(self, judged: Judged) -> None:
        """Keep a frame back."""
        self._held.append(judged)
        self.size += len(judged.frame.raw)

    def release(self) -> Iterator[Judged]:
        """Everything held, oldest first; the queue is empty afterwards."""
        while self._held:
            yield self._held.popleft()
        self.size = 0

    def drop(self) -> int:
        """Throw away what is held; how many bytes that was."""
        size, self.size, self.calling = self.size, 0, False
        self._held.clear()
        return size
