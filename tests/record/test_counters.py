from ollama_guard.engine.messages import Record
from ollama_guard.record.counters import Counters


def test_a_new_process_has_every_total_at_nothing() -> None:
    assert Counters().snapshot() == {
        "exchanges": {},
        "findings": {},
        "attempts": 0,
        "heartbeats": 0,
        "bytes_to_clients": 0,
        "recoveries": 0,
        "relayed": 0,
        "refused": 0,
        "faults": 0,
    }


def test_rows_are_counted_by_what_they_say() -> None:
    counters = Counters()
    counters.observe(Record("verdict", {"kind": "periodic", "unit": "x"}))
    counters.observe(Record("verdict", {"kind": "stall"}))
    counters.observe(Record("recovery", {"model": "m"}))
    for outcome, attempts in (("done", 1), ("recovered", 2)):
        counters.observe(
            Record(
                "exchange",
                {"outcome": outcome, "attempts": attempts, "bytes": 100, "heartbeats": 3, "model": "m"},
            )
        )
    counters.observe(Record("fault", {"model": "m", "error": "KeyError in shape.py:1"}))
    counters.observe(Record("something_else", {}))
    counters.relayed()
    for status in (413, 503):
        counters.observe(Record("refused", {"status": status}))
    assert counters.snapshot() == {
        "exchanges": {"done": 1, "recovered": 1},
        "findings": {"periodic": 1, "stall": 1},
        "attempts": 3,
        "heartbeats": 6,
        "bytes_to_clients": 200,
        "recoveries": 1,
        "relayed": 1,
        "refused": 2,
        "faults": 1,
    }


def test_a_snapshot_does_not_change_afterwards() -> None:
    counters = Counters()
    before = counters.snapshot()
    counters.observe(Record("exchange", {"outcome": "done"}))
    assert before["exchanges"] == {}
