"""One line of a file of runs, checked field by field: a mistake in it must not become a figure.

Every complaint names the place, the field, its value and what is accepted.
"""

import json
import re
from typing import Any

from ollama_guard.evaluate.jsonlines import InputError, Row
from ollama_guard.evaluate.plain import one_line
from ollama_guard.evaluate.samples import Label, Sample, Truth

RUNS = "runs"
SAYS = ("class", "kind", "onset", "loop_onset", "degenerate_from")
"""Fields of which one at least makes a line a label."""
_CHANNEL = re.compile(r"reasoning|content|tool:\d{1,9}", re.ASCII)
_NO_KIND = (None, "", "none", "healthy")
_OFFSETS = ("onset", "loop_onset", "degenerate_from")


def sample_of(row: Row, label: Row | None, where: str, labelled: str = "") -> Sample:
    """The run in this row. Raises InputError.

    label: what is known from elsewhere, which goes before what the row says itself; labelled: its place.
    """
    name, text = ident(row, where), row.get("text")
    if not isinstance(text, str):
        raise _wrong(where, "text", text, "a string is needed")
    return Sample(
        name=name,
        group=RUNS,
        channel=_channel(row.get("channel"), where),
        text=text,
        label=_label(row, where, len(text))
        if label is None
        else _label(label, f"{labelled or where}", len(text)),
        prompt=_prompt(row.get("prompt")),
        chunks=_chunks(row.get("chunks"), len(text), where),
        first_line=None,
    )


def ident(row: Row, where: str) -> str:
    """The id, by which runs and labels are joined. Raises InputError."""
    said = row.get("id")
    if isinstance(said, str) and said:
        return said
    if type(said) is int:
        return str(said)
    if "id" not in row:
        raise InputError(f"{where}: id is missing; each run and each label needs one, a text or whole number")
    raise _wrong(where, "id", said, "a text or a whole number is needed")


def says(row: Row) -> bool:
    """Whether it holds a label."""
    return any(key in row for key in SAYS)


def _label(row: Row, where: str, size: int) -> Label:
    """What the row says of a text of `size` characters."""
    said, kind = row.get("class"), row.get("kind")
    onset, begins = (
        _offset(row, "loop_onset" if row.get("onset") is None else "onset", where, size),
        _offset(row, "degenerate_from", where, size),
    )
    period = _offset(row, "period", where, size)
    if kind is not None and not isinstance(kind, str):
        raise _wrong(where, "kind", kind, "a text is needed")
    if said is None and onset is None and begins is None and kind not in _NO_KIND:
        raise _wrong(
            where,
            "kind",
            kind,
            'this names a loop, but there is neither an onset nor a class; add onset, or class "healthy" '
            'or "gray"',
        )
    if said is None:
        said = Truth.HEALTHY if onset is None and begins is None else Truth.LOOP
    if not isinstance(said, str) or said not in list(Truth):
        raise _wrong(where, "class", said, f"it is none of {', '.join(Truth)}")
    truth = Truth(said)
    if truth is Truth.HEALTHY:
        for name in _OFFSETS:
            if row.get(name) is not None:
                raise _wrong(
                    where, name, row[name], 'a healthy run has no loop; take it out, or write class "loop"'
                )
        return Label(truth)
    second = begins if onset is None else onset
    first = onset if begins is None else begins
    if second is None or first is None:
        if truth is Truth.GRAY:
            return Label(truth, kind or "")
        raise InputError(
            f"{where}: onset is missing; a loop needs one: how many characters stand before its second copy"
        )
    return Label(truth, kind or "loop", second, min(first, second), period or 0)


def _offset(row: Row, name: str, where: str, size: int) -> int | None:
    """A whole number of characters, not beyond the text. Tools for tables write 32.0, which is taken."""
    value = row.get(name)
    if value is None:
        return None
    whole = type(value) is int or (isinstance(value, float) and value.is_integer())
    if not whole or not 0 <= value <= size:
        raise _wrong(
            where,
            name,
            value,
            f"a whole number of characters from 0 to {size:,} is needed: so long is the text",
        )
    return int(value)


def _channel(said: object, where: str) -> str:
    if said is None:
        return "content"
    if not isinstance(said, str) or not _CHANNEL.fullmatch(said):
        raise _wrong(where, "channel", said, "accepted are reasoning, content and tool:0, tool:1, ...")
    return said


def _chunks(said: object, size: int, where: str) -> tuple[int, ...] | None:
    if said is None:
        return None
    if not isinstance(said, list):
        raise _wrong(where, "chunks", said, "a list of lengths is needed")
    for number, length in enumerate(said, start=1):
        if type(length) is not int or length < 1:
            raise _wrong(where, f"chunks[{number}]", length, "a length is a whole number of at least 1")
    if sum(said) != size:
        raise InputError(
            f"{where}: chunks add up to {one_line(sum(said))}, but text has {size:,} characters; correct "
            "them (characters are Unicode code points, not bytes), or leave chunks out"
        )
    return tuple(said) or None


def _prompt(said: object) -> str:
    return said if isinstance(said, str) else "" if said is None else json.dumps(said, ensure_ascii=False)


def _wrong(where: str, name: str, value: Any, what: str) -> InputError:
    return InputError(f"{where}: {name} = {_shown(value)}: {what}")


def _shown(value: object) -> str:
    """The value as JSON, one short line."""
    try:
        text = json.dumps(value)
    except (ValueError, RecursionError):  # digits without end, or nested without end
        return f"a very large {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
