"""Recorded runs, played again by the mock: one JSON object a line with `id`, `channel`, `text`, `chunks`.

`chunks` are the lengths in characters of the deltas as they came, so that the client sees the very stream
that was recorded, in every dialect, as the model `replay:ID`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mocks import script as scripts
from mocks.server import MockOllama


@dataclass(frozen=True, slots=True)
class Run:
    """One recorded generation. The lengths in `chunks` add up to len(text)."""

    id: str
    channel: str  # "reasoning" or "content"
    text: str
    chunks: tuple[int, ...]
    reason: str

    @property
    def model(self) -> str:
        return f"replay:{self.id}"

    @property
    def script(self) -> scripts.Json:
        """The run as a script. A run whose client stopped reading ends here as by its token limit."""
        kind = "think" if self.channel == "reasoning" else "say"
        return {"steps": [{kind: self.text, "chunks": list(self.chunks)}, {"end": self.reason}]}


def runs(path: Path) -> Iterator[Run]:
    """The runs of a file. Raises ValueError for a run whose chunks do not add up to its text."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            chunks = tuple(row.get("chunks") or [len(row["text"])])
            if sum(chunks) != len(row["text"]):
                raise ValueError(f"{path.name}: {row['id']}: the chunks do not add up to the text")
            reason = "stop" if row.get("finish_reason", "stop") == "stop" else "length"
            yield Run(row["id"], row.get("channel", "content"), row["text"], chunks, reason)


def register(mock: MockOllama, path: Path) -> int:
    """Make every run of a file a model of the mock; how many there were."""
    count = 0
    for count, run in enumerate(runs(path), 1):  # noqa: B007
        mock.script(run.model, run.script)
    return count
