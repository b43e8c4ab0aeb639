"""Files that no detector may stop: any text, or trees of it, as a model might have written them.

Each is played in one or more *wrappings*: as the text of an answer, as a code block in an answer, as
reasoning, as the arguments of a tool call that writes a file.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ollama_guard.evaluate.samples import Sample

WRAPPINGS = ("content", "fence", "reasoning", "tool")
CUT = 1_000_000
"""Characters of a file that are played unless less is asked for."""
_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", ".mypy_cache", ".ruff_cache"}
)
_PIECE = 1 << 20
_TICKS = re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file and how it is played. cut: characters of it that are played at most."""

    path: Path
    wrappings: tuple[str, ...] = ("content",)
    cut: int = CUT

    def samples(self) -> Iterator[Sample]:
        """One for each wrapping; none when the file is no text."""
        text = read(self.path, self.cut + 1)
        if not text:
            return
        for wrapping in self.wrappings:
            yield replace(wrap(str(self.path), text[: self.cut], wrapping), cut=len(text) > self.cut)


def walk(folder: Path) -> Iterator[Path]:
    """The files of a tree in a fixed order; links, version control and what may not be read are left out."""
    try:
        entries = sorted(folder.iterdir())
    except PermissionError:
        return
    for entry in entries:
        if entry.is_symlink():
            continue
        if entry.is_dir():
            if entry.name not in _SKIPPED:
                yield from walk(entry)
        elif entry.is_file():
            yield entry


def read(path: Path, cut: int) -> str | None:
    """The beginning of a text file in UTF-8 or, failing that, Latin-1; None for binary data and what may not
    be read.
    """
    try:
        raw = _beginning(path, 4 * cut)
    except PermissionError:
        return None
    if raw is None:
        return None
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        text = raw.decode(errors="ignore") if error.start > len(raw) - 4 else raw.decode("latin-1")
    return text[:cut]


def _beginning(path: Path, most: int) -> bytes | None:
    """So many bytes at most, in pieces: a file may be endless, or the number larger than memory."""
    pieces, left = [], most
    with path.open("rb") as file:
        while left > 0 and (piece := file.read(min(left, _PIECE))):
            if b"\0" in piece:
                return None
            pieces.append(piece)
            left -= len(piece)
    return b"".join(pieces)


def wrap(name: str, text: str, wrapping: str) -> Sample:
    """The text as a model would have streamed it. ValueError for an unknown wrapping."""
    if wrapping in {"content", "reasoning"}:
        return Sample(name, wrapping, wrapping, text)
    if wrapping == "fence":
        ticks = "`" * (1 + max(map(len, _TICKS.findall(text)), default=2))
        return Sample(name, wrapping, "content", f"{ticks}\n{text}\n{ticks}\n", first_line=0)
    if wrapping == "tool":
        arguments = json.dumps({"path": Path(name).name, "content": text}, ensure_ascii=False)
        return Sample(name, wrapping, "tool:0", arguments, first_line=None)
    raise ValueError(f"no wrapping {wrapping!r}; there are {', '.join(WRAPPINGS)}")
