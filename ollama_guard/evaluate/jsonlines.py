"""Files of JSON lines: one object a line, and whatever is wrong with one named with its line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class InputError(Exception):
    """A file cannot be used. The text names it, says why and what to do. listed: what there is to choose."""

    def __init__(self, what: str, listed: tuple[str, ...] = ()) -> None:
        super().__init__(what)
        self.listed = listed


def rows(path: Path) -> Iterator[tuple[int, Row]]:
    """The objects of a file with their line numbers; blank lines are none. Raises InputError, OSError."""
    for number, line in lines(path):
        yield number, parsed(line, f"{path}:{number}")


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Its lines that are not blank, without a byte order mark (Windows' editors write one)."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            bare = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if bare.strip():
                yield number, bare


def parsed(line: bytes, where: str) -> Row:
    """The object in this line. Raises InputError, which begins with `where`."""
    try:
        row = json.loads(line.rstrip(b"\r\n").decode())
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8"
        ) from None
    except json.JSONDecodeError as error:  # its own line number is that of this one line: always 1
        raise InputError(
            f"{where}: not JSON: {error.msg} at character {error.pos + 1} of the line; each line has to be "
            "one JSON object"
        ) from None
    except RecursionError:
        raise InputError(f"{where}: nested too deep to be read; leave out the nested field") from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"{where}: not readable as JSON: {error}") from None
    if not isinstance(row, dict):
        raise InputError(f'{where}: not an object; each line has to be one, like {{"id": ..., "text": ...}}')
    return row
