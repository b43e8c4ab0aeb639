"""Recorded runs come out as they were recorded."""

import asyncio
import json
from pathlib import Path

import pytest

from mocks import clients
from mocks.judges import judge
from mocks.replay import register, runs
from mocks.server import MockOllama
from tests.mocks.asking import request

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "real_runs.jsonl"


def written(folder: Path, *rows: dict[str, object]) -> Path:
    path = folder / "runs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize(("channel", "reason"), [("content", "stop"), ("reasoning", "length")])
@pytest.mark.parametrize("path", ["/api/chat", "/v1/chat/completions"])
def test_a_run_is_streamed_delta_by_delta(
    mock: MockOllama, tmp_path: Path, path: str, channel: str, reason: str
) -> None:
    row: dict[str, object] = {
        "id": "a.b",
        "channel": channel,
        "text": "Grüße 👋 an\u2028alle",
        "chunks": [1, 6, 3, 1, 4],
    }
    assert register(mock, written(tmp_path, row | {"finish_reason": reason})) == 1
    seen = asyncio.run(clients.ask(mock.url, path, request(path, "replay:a.b")))
    report = judge(path, seen.body)
    assert (report.problems, report.finish) == ([], [reason])
    assert (report.content or report.reasoning, bool(report.content)) == (row["text"], channel == "content")
    assert len(seen.chunks) == 6  # five deltas and the ending


def test_chunks_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="do not add up"):
        list(runs(written(tmp_path, {"id": "a", "text": "abc", "chunks": [1, 1]})))


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.exists(), reason="no corpus here")
def test_the_runs_of_the_corpus_come_back_whole(mock: MockOllama) -> None:
    assert register(mock, CORPUS) > 100

    async def play() -> None:
        for number, run in enumerate(list(runs(CORPUS))[::4]):
            path = ("/api/chat", "/v1/chat/completions")[number % 2]
            seen = await clients.ask(mock.url, path, request(path, run.model))
            report = judge(path, seen.body)
            assert report.problems == []
            assert (report.reasoning if run.channel == "reasoning" else report.content) == run.text

    asyncio.run(play())
