"""One value, as written by a person, into the type that its setting has.

A file gives typed values and they are taken strictly (`port = "8080"` is an error); environment and command
line give text, which is read by the setting's type. None of Python's own messages reaches people: all that
matters to them is what is accepted.
"""

import difflib
from dataclasses import dataclass
from typing import Any

import msgspec

from ollama_guard.config.catalogue import STEP, Setting
from ollama_guard.config.schema import LadderStep

_BOOLS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong inside a value. `path`: where, as "[2].model" (counted from 1); `what`: what to do."""

    path: tuple[str, ...]
    raw: Any
    what: str

    @property
    def place(self) -> str:
        """The path as it is written behind the setting's key."""
        return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in self.path)


class NotAcceptedError(ValueError):
    """A value is wrong in places that can be named."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(f"{len(faults)} faults")
        self.faults = faults


def read(setting: Setting, raw: Any) -> Any:
    """The value of `raw`, which is text if it is a str. Raises ValueError when it is not accepted."""
    if setting.optional and isinstance(raw, str) and raw.strip().lower() == AUTO:
        return None
    if setting.kind is LadderStep:
        return _read_steps(raw)
    value: Any = msgspec.convert(raw, setting.annotation)  # ValidationError is a ValueError
    return value


def read_text(setting: Setting, raw: str) -> Any:
    """The same for a text from the environment or the command line. Lists have commas, or are JSON."""
    if setting.optional and raw.strip().lower() == AUTO:
        return None
    if setting.kind is tuple:
        if (found := _structure(raw)) is not None:
            return read(setting, found)
        return read(setting, [part.strip() for part in raw.split(",") if part.strip()])
    if setting.kind is bool:
        if raw.strip().lower() not in _BOOLS:
            raise ValueError(raw)
        return _BOOLS[raw.strip().lower()]
    if setting.kind is LadderStep:
        return read(setting, _json(raw))
    if setting.kind in (int, float):
        return read(setting, setting.kind(raw.strip()))
    return read(setting, raw)


def _json(raw: str) -> Any:
    try:
        return msgspec.json.decode(raw)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _structure(raw: str) -> Any:
    """The list or object that a text is as JSON; None of another text, which may begin with a bracket too."""
    if not raw.lstrip().startswith(("[", "{")):
        return None
    try:
        return _json(raw)
    except ValueError:
        if raw.lstrip().startswith('["'):
            raise
        return None


def _read_steps(raw: Any) -> tuple[LadderStep, ...]:
    """The steps of a ladder, from a list of tables. Everything that is wrong with them is told at once."""
    if not isinstance(raw, list):
        raise ValueError(raw)  # noqa: TRY004 - whatever is not accepted is a ValueError here
    faults: list[Fault] = []
    steps = [_read_step(str(number), one, faults) for number, one in enumerate(raw, start=1)]
    if faults:
        raise NotAcceptedError(faults)
    return tuple(steps)


def _read_step(number: str, raw: Any, faults: list[Fault]) -> LadderStep:
    given: dict[str, Any] = {}
    if not isinstance(raw, dict):
        faults.append(Fault((number,), raw, f"a step is a table of {', '.join(STEP)}"))
        raw = {}
    for name, value in raw.items():
        if name not in STEP:
            near = difflib.get_close_matches(name, STEP, n=1)
            meant = f"did you mean {near[0]}?" if near else f"a step has {', '.join(STEP)}"
            faults.append(Fault((number, name), value, f"no such setting; {meant}"))
            continue
        try:
            given[name] = read(STEP[name], value)
        except ValueError:
            faults.append(Fault((number, name), value, f"accepted is {STEP[name].accepted}"))
    return LadderStep(**given)


def quoted(setting: Setting, raw: Any) -> str:
    """The raw value as it may stand in a message: one line, of bounded length, and no secret."""
    if setting.secret:
        return "(hidden)"
    plain = list(raw) if isinstance(raw, tuple) else raw
    text = ascii(plain) if not isinstance(raw, bool) else str(raw).lower()
    return text if len(text) <= 80 else text[:77] + "..."
