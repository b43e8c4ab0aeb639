"""Settings while they are gathered: values with their origins, and what is wrong with the others.

A bad value is noted as a problem and the rest goes on, so that people see all that is wrong at once.
"""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from ollama_guard.config.catalogue import BY_MODEL, FLAGS, SECTIONS, SETTINGS, Setting
from ollama_guard.config.schema import Override
from ollama_guard.config.values import Fault, NotAcceptedError, quoted, read, read_text

MODELS = "models"
BY_MODEL_SECTIONS = f"SECTION is one of {', '.join(BY_MODEL)}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from. `where` names the file and line, the variable or the flag."""

    kind: Literal["default", "file", "env", "flag"] = "default"
    where: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.where}".rstrip()


@dataclass(slots=True)
class Draft:
    """Settings being gathered. `models`: those of some models only, in the order in which they were said."""

    values: dict[str, Any] = field(default_factory=dict)
    models: list[Override] = field(default_factory=list)
    origins: dict[str, Origin] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def offer(self, key: str, raw: Any, origin: Origin, *, text: bool) -> None:
        """Take one value, or note what is wrong with it."""
        self.take(Written(key, key, raw, origin, text=text), self.values)

    def take(self, one: "Written", into: dict[str, Any]) -> None:
        """Take one value into `into`, or note what is wrong with it."""
        setting = SETTINGS[one.key]
        try:
            into[one.key] = read_text(setting, one.raw) if one.text else read(setting, one.raw)
        except NotAcceptedError as error:
            self.problems += [one.complaint(fault) for fault in error.faults]
        except ValueError:
            named = complaint(setting, one.raw, one.origin, name=one.name)
            self.problems.append(f"{named}: accepted is {setting.accepted}")
        else:
            self.origins[one.name] = one.origin


@dataclass(frozen=True, slots=True)
class Written:
    """A value as it was written. `name`: its key in full; `inside`: where a part of it was written."""

    key: str
    name: str
    raw: Any
    origin: Origin
    text: bool
    inside: Callable[..., Origin] | None = None

    def complaint(self, fault: Fault) -> str:
        """The message about a fault inside."""
        origin = self.inside(*fault.path) if self.inside else self.origin
        named = complaint(SETTINGS[self.key], fault.raw, origin, name=self.name + fault.place)
        return f"{named}: {fault.what}"


def complaint(setting: Setting, raw: Any, origin: Origin, *, name: str = "") -> str:
    """The beginning of a message about a value: key (or the name it goes by), value, where it was written."""
    return f"{name or setting.key} = {quoted(setting, raw)} ({origin})"


def instead(key: str) -> str:
    """What may have been meant by an unknown key: the same name elsewhere, a flag's name, or a near miss."""
    section, _, name = key.rpartition(".")
    meant = [row.key for row in SETTINGS.values() if row.name == name]
    if not meant and (flag := name.replace("_", "-")) in FLAGS:
        meant = [FLAGS[flag]]
    if not meant:
        meant = _near(section, name) if section in SECTIONS else _close(key, [*SETTINGS, *SECTIONS])
    if meant:
        return f"did you mean {' or '.join(meant)}?"
    if section in SECTIONS:
        return f"[{section}] has {', '.join(_inside(section))}"
    return f"sections are {', '.join(name for name in SECTIONS if '.' not in name)}, {MODELS}"


def _inside(section: str) -> list[str]:
    """The names of what a section has."""
    keys = [key.rpartition(".") for key in (*SETTINGS, *SECTIONS)]
    return [name for outer, _, name in keys if outer == section]


def _near(section: str, name: str) -> list[str]:
    """Keys with a name like this: of the section, else of any."""
    if near := _close(name, _inside(section), 0.6):
        return [f"{section}.{near[0]}"]
    near = _close(name, [row.name for row in SETTINGS.values()])
    return [row.key for row in SETTINGS.values() if row.name in near]


def _close(word: str, known: Iterable[str], likeness: float = 0.7) -> list[str]:
    return difflib.get_close_matches(word, list(known), n=1, cutoff=likeness)
