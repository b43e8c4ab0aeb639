"""In which line of a TOML file something was written: what the parser does not say.

By a plain scan of headers and of the beginnings of entries, both read by the parser itself. A line is named
only where one alone can be meant.
"""

import re
import tomllib
from collections import Counter
from pathlib import Path

_HEADER = re.compile(r"\s*(\[\[?)(.*?)\]\]?\s*(?:#.*)?$")
_PART = r"""(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_ENTRY = re.compile(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=")


class Lines:
    """The lines of one file. A path is what leads to a value: ("models", "qwen*", "stall", "gap_sec")."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._at: dict[tuple[str, ...], list[int]] = {}
        self._seen: Counter[tuple[str, ...]] = Counter()
        table: tuple[str, ...] = ()
        for number, line in enumerate(text.split("\n"), start=1):
            if header := _HEADER.match(line):
                table = self._table(_keys(header[2]), number, listed=header[1] == "[[")
            elif entry := _ENTRY.match(line):
                self._note((*table, *_keys(entry[1])), number)

    def where(self, *path: str) -> str:
        """The file, and the line of this value, or else of the first thing in it, or of what it is in."""
        if path not in self._at:
            inner = [lines for there, lines in self._at.items() if there[: len(path)] == path]
            self._at[path] = min(inner, default=[])
        for end in range(len(path), 0, -1):
            if found := self._at.get(path[:end]):
                return f"{self._path}, line {found[0]}" if len(found) == 1 else str(self._path)
        return str(self._path)

    def _table(self, keys: tuple[str, ...], number: int, *, listed: bool) -> tuple[str, ...]:
        if not listed:
            self._note(keys, number)
            return keys
        self._seen[keys] += 1
        if self._seen[keys] == 1:
            self._note(keys, number)
        one = (*keys, str(self._seen[keys]))
        self._note(one, number)
        return one

    def _note(self, path: tuple[str, ...], number: int) -> None:
        self._at.setdefault(path, []).append(number)


def _keys(written: str) -> tuple[str, ...]:
    """The parts of a key as TOML reads it; what is none (inside a text of several lines) is kept as it is."""
    try:
        tree = tomllib.loads(f"{written} = 0")
    except tomllib.TOMLDecodeError:
        return (written,)
    parts = []
    while isinstance(tree, dict) and len(tree) == 1:
        [(part, tree)] = tree.items()
        parts.append(part)
    return tuple(parts)
