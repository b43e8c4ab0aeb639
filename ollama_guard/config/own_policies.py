"""Policies that the settings name: tried at the start, each in a process of its own.

Settings are read without running any of them. Whoever puts the settings in force calls `try_all` once: what
works becomes the table that it gives; what fails is told with cause and remedy, and holds as little as if it
were not set: then the built-in table does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ollama_guard.config.catalogue import SETTINGS, value_of, with_values
from ollama_guard.config.load import Loaded
from ollama_guard.config.models import override_key
from ollama_guard.config.schema import Override, Settings
from ollama_guard.evaluate.custom import PolicyError, PolicyTable, load_policy, rows

INSTEAD = "what holds without it (the built-in table, if nothing else is set)"
_KEYS = tuple(key for key in SETTINGS if key.endswith(".policy"))
Load = Callable[..., PolicyTable]


@dataclass(frozen=True, slots=True)
class Tried:
    """A policy, the settings that name it, and what came of it: its table as text, or the fault."""

    source: str
    keys: tuple[str, ...]
    table: str = ""
    fault: str = ""
    folders: tuple[Path, ...] = ()

    @property
    def remedy(self) -> str:
        """What to do about a fault."""
        where = " or ".join(dict.fromkeys(map(str, self.folders)))
        return (
            f"`ollama-guard policy {self.source}` tries it again. Its module has to be where Python finds "
            f"it, or in {where}. To do without it, take out {' and '.join(self.keys)}."
        )

    def __str__(self) -> str:
        named = " and ".join(self.keys)
        if self.fault:
            return f"{named} is not used, but {INSTEAD}: {self.fault}. {self.remedy}"
        return f"{named} is in force: {self.source} was tried for all lengths"


def try_all(loaded: Loaded, load: Load = load_policy) -> list[Tried]:
    """Try each policy that is named, once. What a policy does wrong is never raised."""
    folders = searched(loaded.file)
    named: dict[str, list[str]] = {}
    for key, source in _named(loaded.settings):
        named.setdefault(source, []).append(key)
    return [_try(source, tuple(keys), folders, load) for source, keys in named.items()]


def searched(file: Path | None) -> tuple[Path, ...]:
    """Where the module of a policy may lie besides where Python looks: beside the settings file, or here."""
    return (*((file.parent.absolute(),) if file else ()), Path.cwd())


def with_tables(settings: Settings, tried: Sequence[Tried]) -> Settings:
    """The same settings with tables in the place of policies."""
    if not tried:
        return settings
    tables = {one.source: one.table or None for one in tried}
    values: dict[str, Any] = {}
    for key in _KEYS:
        if source := value_of(settings, key):
            values |= _as_table(key, tables[source])
    models = tuple(Override(one.pattern, _override(one.values, tables, settings)) for one in settings.models)
    return msgspec.structs.replace(with_values(settings, values), models=models)


def _override(said: Mapping[str, Any], tables: Mapping[str, str | None], general: Settings) -> dict[str, Any]:
    values = {key: value for key, value in said.items() if key not in _KEYS}
    for key in _KEYS:
        if table := tables.get(said.get(key, "")):
            values |= _as_table(key, table)
        elif key in said and not said[key] and value_of(general, key):  # "auto" undoes what holds for others
            values |= _as_table(key, None)
    return values


def _as_table(key: str, table: str | None) -> dict[str, Any]:
    return {key: None, f"{key.removesuffix('policy')}table": table}


def _named(settings: Settings) -> Iterator[tuple[str, str]]:
    """The settings that name a policy, with its name."""
    for key in _KEYS:
        if source := value_of(settings, key):
            yield key, source
    for one in settings.models:
        for key in _KEYS:
            if source := one.values.get(key):
                yield override_key(one.pattern, key), source


def _try(source: str, keys: tuple[str, ...], folders: tuple[Path, ...], load: Load) -> Tried:
    try:
        return Tried(source, keys, rows(load(source, folders=folders)), folders=folders)
    except PolicyError as error:
        return Tried(source, keys, fault=str(error), folders=folders)
    except OSError as error:  # no process could be started
        return Tried(source, keys, fault=f"{source} cannot be tried: {error}", folders=folders)
