"""One value, as written by a person, into the type that its setting has.

A file gives typed values and they are taken strictly (`port = "8080"` is an error); environment and command
line give text, which is read by the setting's type. None of Python's own messages reaches people: all that
matters to them is what is accepted.
"""

from typing import Any

import msgspec

from ollama_guard.config.catalogue import Setting

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


def read(setting: Setting, raw: Any) -> Any:
    """The value of `raw`, which is text if it is a str. Raises ValueError when it is not accepted."""
    if setting.optional and isinstance(raw, str) and raw.strip().lower() == AUTO:
        return None
    value: Any = msgspec.convert(raw, setting.annotation)  # ValidationError is a ValueError
    return value


def read_text(setting: Setting, raw: str) -> Any:
    """The same for a text from the environment or the command line. Lists are separated by commas."""
    if setting.optional and raw.strip().lower() == AUTO:
        return None
    if setting.kind is tuple:
        return read(setting, [part.strip() for part in raw.split(",") if part.strip()])
    if setting.kind is bool:
        if raw.strip().lower() not in _BOOLS:
            raise ValueError(raw)
        return _BOOLS[raw.strip().lower()]
    if setting.kind in (int, float):
        return read(setting, setting.kind(raw.strip()))
    return read(setting, raw)


def quoted(setting: Setting, raw: Any) -> str:
    """The raw value as it may stand in a message: one line, of bounded length, and no secret."""
    if setting.secret:
        return "(hidden)"
    text = ascii(raw) if not isinstance(raw, bool) else str(raw).lower()
    return text if len(text) <= 80 else text[:77] + "..."
