"""A detector simple enough to count by hand, and runs to count it on."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ollama_guard.evaluate.detector import Hit


class Finds:
    """Says at the delta in which a marker is complete that it loops, from the marker's start."""

    def __init__(self, marker: str) -> None:
        self._marker = marker
        self._text = ""

    def feed(self, channel: str, text: str) -> Hit | None:
        self._text += text
        place = self._text.find(self._marker)
        return None if place < 0 else Hit("marker", len(self._text), place, self._marker, 2.0, channel)


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
