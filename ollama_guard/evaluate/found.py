"""What is found at the paths that people name, and what they are to be told about it."""

import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ollama_guard.evaluate.jsonlines import InputError, lines, parsed
from ollama_guard.evaluate.labelled import BESIDE, Content, Labels, RunFile, content, is_one_run
from ollama_guard.evaluate.runrow import sample_of

_AS_TEXT = "to have the file played as one plain text, give it a name that ends in .txt"
_OPENED = Path("/dev")


@dataclass(slots=True)
class Found:
    """given: labels from files that were named; beside: from those beside runs, by path. odd: why files of
    JSON lines in a folder are texts. unused: labels in a folder that nothing says whose they are.
    """

    given: Labels = field(default_factory=Labels)
    beside: dict[Path, Labels] = field(default_factory=dict)
    runs: list[RunFile] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    unused: list[Path] = field(default_factory=list)

    def notes(self) -> Iterator[str]:
        """What may not be as it was meant. To be asked for when all has been played."""
        yield from (note for one in self.runs if (note := one.note) is not None)
        if self.odd:
            yield f"{len(self.odd):,} files of JSON lines count as plain text, the first since {self.odd[0]}"
        if self.unused:
            yield f"{self.unused[0]}: labels that are not used; name the file too, or call it {BESIDE}"

    def faults(self) -> list[str]:
        """What makes the figures wrong."""
        return [fault for one in (self.given, *self.beside.values()) if (fault := one.unmatched) is not None]


def labels_beside(file: Path, found: Found | None = None) -> list[Labels]:
    """The labels that hold for a file of runs, those that were named first. Raises InputError."""
    found = Found() if found is None else found
    path = file.with_name(BESIDE)
    if path != file and path not in found.beside and path.is_file() and content(path) is not Content.RUNS:
        found.beside[path] = Labels()
        found.beside[path].add(path)
    own = found.beside.get(path)
    return [one for one in (found.given, own) if one is not None and one.known]


def file_or_folder(path: Path) -> bool:
    """Whether it is a file. Raises InputError for what is neither, OSError for what cannot be looked at.

    A pipe with nobody behind it would be waited for without end; what a shell has opened is let through.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(f"{path}: no such file or folder") from None
    except ValueError as error:  # a null character
        raise InputError(f"{path}: not a path: {error}") from None
    if stat.S_ISDIR(mode):
        return False
    if not stat.S_ISREG(mode) and not path.is_relative_to(_OPENED):
        raise InputError(f"{path}: not a regular file; write what it gives into one first")
    return True


def odd(path: Path, holds: Content) -> InputError | None:
    """Why the file is not what its name says, and what to do; None when it is."""
    if holds is Content.ODD:
        for number, line in lines(path):
            where = f"{path}:{number}"
            try:
                sample_of(parsed(line, where), None, where)
            except InputError as error:
                return InputError(f"{error}; {_AS_TEXT}")
            return None
        if path.stat().st_size:  # else it counts as left out, like any other empty file
            return InputError(f"{path}: nothing but blank lines; write runs into it, one a line")
    elif path.suffix.lower() == ".json" and is_one_run(path):
        return InputError(
            f"{path}: this holds runs, one a line; give it a name that ends in .jsonl, or {_AS_TEXT}"
        )
    return None
