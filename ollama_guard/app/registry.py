"""The exchanges that run, and the switch that ends the service.

Drain has two steps: `begin_drain` (nothing new is guarded; what runs goes on) and `end_all` (the deadline:
what still runs is ended, each in its own dialect's form).
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Registry:
    """Live exchanges and relays. Used from one event loop."""

    def __init__(self) -> None:
        self._live: dict[object, Callable[[], None]] = {}
        self._idle = asyncio.Event()
        self._idle.set()
        self.draining = False
        self.begun = 0

    @property
    def live(self) -> int:
        """How many are in flight."""
        return len(self._live)

    @contextmanager
    def entry(self, end: Callable[[], None]) -> Iterator[None]:
        """Count something as live while the block runs; `end` is called when the drain deadline comes."""
        key = object()
        self._live[key] = end
        self._idle.clear()
        self.begun += 1
        try:
            yield
        finally:
            del self._live[key]
            if not self._live:
                self._idle.set()

    def begin_drain(self) -> None:
        """Take nothing new from now on."""
        self.draining = True

    def end_all(self) -> None:
        """End everything that still runs."""
        for end in list(self._live.values()):
            end()

    async def wait_idle(self) -> None:
        """Wait until nothing is live."""
        await self._idle.wait()
