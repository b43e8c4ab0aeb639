"""The recorded runs, played by the mock and asked for through the guard: each exact loop is cut, each healthy
run passes byte for byte.

OLLAMA_GUARD_TEST_CORPUS names another folder; OLLAMA_GUARD_TEST_REPORT a file for the figures (JSON lines).
/api/chat has the same detectors behind it, and is played too with OLLAMA_GUARD_TEST_WHOLE=1.
"""

import asyncio
import json
import os
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from mocks.clients import Seen, ask
from mocks.replay import register
from mocks.server import MockOllama
from tests.live.look import rows, wait_rows
from tests.live.talk import PATH, body
from tests.live.tee import Tap, tapped
from tests.net import Guard, guard_server, mock_server

BESIDE = Path(__file__).parents[2].parent / "shared" / "corpus"
FOLDER = Path(os.environ.get("OLLAMA_GUARD_TEST_CORPUS") or BESIDE)

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not (FOLDER / "labels.jsonl").is_file(), reason="the recorded runs are not here"),
    pytest.mark.timeout(600),
]

ONLY_LOOPS = {"intervene.max_retries": 0, "truncated.retry": False, "empty.retry": False}
"""A verdict ends the answer at once; endings are not what is looked at here."""


@dataclass(frozen=True)
class Outcome:
    """What became of one run. Offsets in characters of its text; None where there was no verdict."""

    id: str
    kind: str
    label: str
    onset: int | None
    degenerate_from: int | None
    verdict_at: int | None
    rule: str | None
    shown: int
    same_bytes: bool


@dataclass(frozen=True)
class Way:
    """A guard, with a tap on its way to a mock that plays the runs."""

    mock: MockOllama
    tap: Tap
    guard: Guard

    def ask(self, path: str, run: str) -> tuple[Seen, bool]:
        """Ask for a run; what the client saw, and whether that is what the upstream sent."""
        before = len(self.tap.taken)
        seen = asyncio.run(ask(self.guard.url, path, body(f"replay:{run}")))
        assert len(self.tap.taken) == before + 1
        return seen, seen.body == self.tap.taken[before].body


@pytest.fixture(scope="module")
def way() -> Iterator[Way]:
    with mock_server() as mock:
        register(mock, FOLDER / "real_runs.jsonl")
        with tapped(mock.url) as tap, guard_server(tap.url, ONLY_LOOPS) as guard:
            yield Way(mock, tap, guard)


def labels() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / "labels.jsonl").read_text("utf-8").splitlines()]


def play(way: Way, path: str) -> list[Outcome]:
    """Every run through one dialect, one after another."""
    outcomes, told = [], len(rows(way.guard, "exchange"))
    for number, label in enumerate(labels(), 1):
        seen, same = way.ask(path, label["id"])
        row = wait_rows(way.guard, "exchange", told + number)[-1]
        verdicts = [one for one in rows(way.guard, "verdict") if one["exchange"] == row["exchange"]]
        verdict = verdicts[0] if verdicts else {}
        outcomes.append(
            Outcome(
                label["id"],
                label["class"],
                label["kind"],
                label["loop_onset"],
                label["degenerate_from"],
                verdict.get("at"),
                verdict.get("kind"),
                len(seen.body),
                same,
            )
        )
    return outcomes


def spread(values: Sequence[int]) -> str:
    if len(values) < 2:
        return f"{list(values)}"
    ninth = statistics.quantiles(values, n=10, method="inclusive")[8]
    return f"median {statistics.median(values):.0f}, 90th percentile {ninth:.0f}, most {max(values)}"


def figures(path: str, outcomes: Sequence[Outcome]) -> str:
    """The counts, and how late the cuts came."""
    lines = [f"{path}: {len(outcomes)} runs"]
    groups = Counter((one.kind, one.label) for one in outcomes)
    for (kind, label), count in sorted(groups.items()):
        cut = [
            one for one in outcomes if (one.kind, one.label) == (kind, label) and one.verdict_at is not None
        ]
        late = [(one.verdict_at or 0) - one.onset for one in cut if one.onset is not None]
        told = f"; characters after the onset: {spread(late)}" if late else ""
        lines.append(f"  {kind:8} {label:17} {len(cut):3} of {count:3} cut{told}")
    early = [
        one.id
        for one in outcomes
        if one.verdict_at is not None
        and one.degenerate_from is not None
        and one.verdict_at < one.degenerate_from
    ]
    lines.append(f"  cut before the labelled degeneration: {early}")
    return "\n".join(lines)


@pytest.mark.parametrize("path", list(PATH.values())[: 2 if os.environ.get("OLLAMA_GUARD_TEST_WHOLE") else 1])
def test_each_exact_loop_is_cut_and_each_healthy_run_passes(
    way: Way, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = play(way, path)
    with capsys.disabled():
        print(f"\n{figures(path, outcomes)}")
    if report := os.environ.get("OLLAMA_GUARD_TEST_REPORT"):
        with Path(report).open("a", encoding="utf-8") as out:
            out.writelines(json.dumps({"path": path} | asdict(one)) + "\n" for one in outcomes)
    exact = [one for one in outcomes if (one.kind, one.label) == ("loop", "exact")]
    healthy = [one for one in outcomes if one.kind == "healthy"]
    assert exact
    assert healthy
    assert [one.id for one in exact if one.verdict_at is None] == []
    assert [one.id for one in healthy if one.verdict_at is not None or not one.same_bytes] == []
    # Text before the labelled degeneration is healthy too.
    assert not any(one.verdict_at < (one.degenerate_from or 0) for one in exact if one.verdict_at is not None)
