"""What the process has done since it began, in a few numbers, for /guard/health.

Fed with the rows of the engine; used by one event loop, so there is no lock. Names are bounded: what comes
from clients (models) is no name here.
"""

from collections import Counter
from typing import Any

from ollama_guard.engine.messages import Record

_EVENTS = {"recovery": "recoveries", "refused": "refused", "fault": "faults"}
_TOTALS = {"attempts": "attempts", "heartbeats": "heartbeats", "bytes": "bytes_to_clients"}


class Counters:
    """Counts of one process."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._findings: Counter[str] = Counter()
        self._totals: Counter[str] = Counter()

    def observe(self, record: Record) -> None:
        """Count a row: `verdict` by its kind, `exchange` by its outcome and in sums, others as such."""
        fields = record.fields
        if record.event == "verdict":
            self._findings[str(fields["kind"])] += 1
        elif record.event in _EVENTS:
            self._totals[_EVENTS[record.event]] += 1
        elif record.event == "exchange":
            self._outcomes[str(fields["outcome"])] += 1
            for field, name in _TOTALS.items():
                self._totals[name] += fields.get(field, 0)

    def relayed(self) -> None:
        """Count a request that was passed on without being guarded."""
        self._totals["relayed"] += 1

    def snapshot(self) -> dict[str, Any]:
        """The numbers as JSON data. Every total is there from the start; kinds and outcomes as they occur."""
        totals = {name: self._totals[name] for name in (*_TOTALS.values(), *_EVENTS.values(), "relayed")}
        return {"exchanges": dict(self._outcomes), "findings": dict(self._findings), **totals}
