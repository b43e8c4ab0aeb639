"""What the mock saw and did, request by request, so that a test can ask for it afterwards.

Times are `time.monotonic()` readings, which on one machine can be compared across threads and processes.
An entry may be read from any thread while its request is still running.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from mocks.http1 import Header, Request

FINISHED = "finished"  # the response ended as HTTP says it should
CLIENT_CLOSED = "client_closed"  # the client's EOF was seen before that
RESET = "reset"  # the client's RST was seen before that
FAULT = "fault"  # the script broke the connection itself
REFUSED = "refused"  # not HTTP as it should be


@dataclass(slots=True)
class Entry:
    """One request. `ended` is None while it runs; `events` counts the writes of a streamed answer."""

    id: int
    method: str
    target: str
    path: str
    headers: list[Header]
    opened_at: float
    body: Any = None  # decoded JSON; None if the body is empty or is not JSON
    body_bytes: int = 0
    body_sha256: str = ""
    model: str = ""
    script: str = ""
    attempt: int = 0  # 1 for the first request of its conversation
    status: int = 0
    events: int = 0
    characters: int = 0  # of generated text, all channels
    first_event_at: float | None = None
    last_event_at: float | None = None
    ended: str | None = None
    ended_at: float | None = None

    @property
    def client_left(self) -> bool:
        """Whether the client ended the exchange, by closing or by a reset."""
        return self.ended in (CLIENT_CLOSED, RESET)

    def header(self, name: str) -> str | None:
        """The first value of a header, by lower-case name."""
        return next((value for key, value in self.headers if key.lower() == name), None)

    def wrote(self, characters: int) -> None:
        """One event with so much generated text was written."""
        self.last_event_at = time.monotonic()
        self.first_event_at = self.first_event_at or self.last_event_at
        self.events += 1
        self.characters += characters


@dataclass
class Journal:
    """All requests since the start or the last reset, except those to the mock's own paths."""

    entries: list[Entry] = field(default_factory=list)
    _count: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    def open(self, request: Request) -> Entry:
        """Begin an entry."""
        with self._changed:
            self._count += 1
            entry = Entry(
                self._count, request.method, request.target, request.path, request.headers, time.monotonic()
            )
            self.entries.append(entry)
            self._changed.notify_all()
        return entry

    def end(self, entry: Entry, how: str, at: float | None = None) -> None:
        """Close an entry; the first closing counts."""
        with self._changed:
            if entry.ended is None:
                entry.ended, entry.ended_at = how, at or time.monotonic()
            self._changed.notify_all()

    def clear(self) -> None:
        """Forget all entries."""
        with self._changed:
            self.entries = []

    def wait(self, condition: Callable[["Journal"], bool], timeout: float = 5.0) -> bool:
        """Block, in a test's thread, until the condition holds; False after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while not condition(self):
            if (left := deadline - time.monotonic()) <= 0:
                return False
            with self._changed:
                # Events are not announced one by one; a short wait sees them soon enough.
                self._changed.wait(min(left, 0.01))
        return True

    async def until(self, condition: Callable[["Journal"], bool], timeout: float = 5.0) -> bool:  # noqa: ASYNC109
        """The same for a coroutine."""
        return await asyncio.to_thread(self.wait, condition, timeout)

    def settled(self, timeout: float = 5.0) -> bool:
        """Block until no request is running."""
        return self.wait(lambda journal: all(entry.ended for entry in journal), timeout)

    def generations(self) -> list[Entry]:
        """Only the requests that ran a script."""
        return [entry for entry in self.entries if entry.script]

    def rows(self, since: int = 0) -> list[dict[str, Any]]:
        """Entries with a greater id, as JSON values, with `now` to compare their times with."""
        now = time.monotonic()
        return [asdict(entry) | {"now": now} for entry in self.entries if entry.id > since]

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self.entries))

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> Entry:
        return self.entries[index]
