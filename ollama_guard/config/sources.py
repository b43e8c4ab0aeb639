"""Where settings come from: a TOML file, the environment, the command line.

Each source is read to its end into a `Draft`; a bad entry is noted there as a problem, and the rest goes on,
so that people see all that is wrong at once. Later sources win over earlier ones. What is said for some
models only can stand in a file or on the command line: no variable can carry such a name.
"""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ollama_guard.config.catalogue import (
    BY_MODEL,
    ENV_PREFIX,
    FLAGS,
    SECTIONS,
    SETTINGS,
    Setting,
    differs_by_model,
)
from ollama_guard.config.lines import Lines
from ollama_guard.config.models import override_key
from ollama_guard.config.schema import Override
from ollama_guard.config.values import Fault, NotAcceptedError, quoted, read, read_text

CONFIG_ENV = f"{ENV_PREFIX}CONFIG"
MODELS = "models"
_HOW_BY_MODEL = f'write [models."NAME*".SECTION], the name in quotes; SECTION is one of {", ".join(BY_MODEL)}'
_FOREIGN = re.compile(r"TEST_.*|SERVICE_(HOST|PORT).*|PORT_\d+_(TCP|UDP).*")
"""Names after our prefix that are not for us: the test suite's, and those Kubernetes makes for a service."""


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
        self.take(_Written(key, key, raw, origin, text=text), self.values)

    def take(self, one: "_Written", into: dict[str, Any]) -> None:
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
class _Written:
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


def read_file(draft: Draft, path: Path, *, must_exist: bool) -> bool:
    """Read a TOML file (UTF-8, a byte order mark is allowed). False when there is none to read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        tree = tomllib.loads(text)
    except FileNotFoundError:
        if must_exist:
            draft.problems.append(f"{path}: there is no such file")
        return False
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        draft.problems.append(f"{path}: this is not TOML: {error}")
        return False
    except UnicodeDecodeError as error:
        draft.problems.append(f"{path}: this is not UTF-8 text (byte {error.start})")
        return False
    except OSError as error:
        draft.problems.append(f"{path}: cannot be read: {error.strerror or error}")
        return False
    _File(draft, Lines(path, text)).read(tree)
    return True


@dataclass(frozen=True, slots=True)
class _File:
    """A file that is TOML, on its way into the draft."""

    draft: Draft
    lines: Lines

    def read(self, tree: Mapping[str, Any]) -> None:
        for section, entries in tree.items():
            if section == MODELS:
                self._models(entries)
            else:
                self._section((section,), entries, self.draft.values)

    def _models(self, entries: Any) -> None:
        if not isinstance(entries, dict):
            self._problem((MODELS,), f"no such setting; {_HOW_BY_MODEL}")
            return
        for pattern, sections in entries.items():
            values: dict[str, Any] = {}
            if not isinstance(sections, dict) or not pattern.strip():
                self._problem((MODELS, pattern), f"no such setting; {_HOW_BY_MODEL}")
                continue
            for section, rest in sections.items():
                if section in BY_MODEL:
                    self._section((MODELS, pattern, section), rest, values)
                else:
                    self._problem((MODELS, pattern, section), f"cannot differ by model; {_HOW_BY_MODEL}")
            self.draft.models.append(Override(pattern, values))

    def _section(self, path: tuple[str, ...], entries: Any, into: dict[str, Any]) -> None:
        section = _plain(path)
        if section not in SECTIONS or not isinstance(entries, dict):
            known = f"it is a section: write [{_name(path)}]" if section in SECTIONS else _instead(section)
            self._problem(path, f"no such setting; {known}")
            return
        for name, raw in entries.items():
            inner = (*path, name)
            key = _plain(inner)
            if key in SETTINGS:
                self.draft.take(self._written(key, inner, raw), into)
            elif key in SECTIONS:
                self._section(inner, raw, into)
            else:
                self._problem(inner, f"no such setting; {_instead(key)}")

    def _written(self, key: str, path: tuple[str, ...], raw: Any) -> _Written:
        def inside(*rest: str) -> Origin:
            return self._origin(*path, *rest)

        return _Written(key, _name(path), raw, self._origin(*path), text=False, inside=inside)

    def _problem(self, path: tuple[str, ...], what: str) -> None:
        self.draft.problems.append(f"{_name(path)} ({self._origin(*path)}): {what}")

    def _origin(self, *path: str) -> Origin:
        return Origin("file", self.lines.where(*path))


def _plain(path: tuple[str, ...]) -> str:
    """The key that a path means, whichever models it is said for."""
    return ".".join(path[2:] if path[0] == MODELS else path)


def _name(path: tuple[str, ...]) -> str:
    """The key in full, as it goes by in messages."""
    return override_key(path[1], _plain(path)) if path[0] == MODELS and len(path) > 1 else ".".join(path)


def read_environment(draft: Draft, environ: Mapping[str, str]) -> None:
    """Read OLLAMA_GUARD_SECTION__KEY, and the short spellings of the flags. Empty variables say nothing."""
    ours = {name.upper(): value for name, value in environ.items() if name.upper().startswith(ENV_PREFIX)}
    short = {row.flat_env: row.key for row in SETTINGS.values() if row.flat_env}
    full = {row.env: row.key for row in SETTINGS.values()}
    for table in (short, full):  # the full name is the more exact one, so it wins
        for name, key in table.items():
            value = ours.get(name, "")
            if value.startswith("tcp://") and key == "server.port":
                draft.notes.append(f"{name}={value} is what Kubernetes sets for a service: ignored")
            elif value:
                draft.offer(key, value, Origin("env", name), text=True)
    for name in sorted(ours.keys() - short.keys() - full.keys() - {CONFIG_ENV}):
        _unknown_variable(draft, name, [*short, *full])


def _unknown_variable(draft: Draft, name: str, known: Iterable[str]) -> None:
    bare = name.removeprefix(ENV_PREFIX)
    if _FOREIGN.fullmatch(bare):
        return
    near = difflib.get_close_matches(
        bare, [other.removeprefix(ENV_PREFIX) for other in known], n=1, cutoff=0.75
    )
    if bare.startswith("MODELS__"):
        draft.problems.append(f"{name}: what differs by model is said in the file, or with --set")
    elif near:
        draft.problems.append(f"{name}: no such setting; did you mean {ENV_PREFIX}{near[0]}?")
    elif "__" in bare:
        draft.problems.append(f"{name}: no such setting; `ollama-guard config` lists all of them")
    else:
        draft.notes.append(f"{name} is not a setting: ignored")


def read_flags(draft: Draft, flags: Mapping[str, object]) -> None:
    """Read what the command line says: a flag's name ("max-retries"), or "section.key" from --set.

    None says nothing. A text is read by the setting's type, other values are taken as they are. A setting
    of some models only is named models.PATTERN.section.key.
    """
    for name, raw in flags.items():
        if raw is None:
            continue
        flag = name.replace("_", "-")
        key = name if "." in name else FLAGS.get(flag, name)
        if key.startswith(f"{MODELS}."):
            _read_model_flag(draft, key, raw)
            continue
        if key not in SETTINGS:
            draft.problems.append(f"{name} (flag --set): no such setting; {_instead(key)}")
            continue
        origin = Origin("flag", "--set" if "." in name else f"--{flag}")
        draft.offer(key, raw, origin, text=isinstance(raw, str))


def _read_model_flag(draft: Draft, name: str, raw: object) -> None:
    """models.PATTERN.section.key; the pattern may have dots of its own."""
    rest = name.removeprefix(f"{MODELS}.")
    keys = [key for key in SETTINGS if rest.endswith(f".{key}") and differs_by_model(key)]
    pattern = rest.removesuffix(f".{max(keys, key=len)}").strip("\"'") if keys else ""
    if not pattern.strip():
        draft.problems.append(
            f"{name} (flag --set): no such setting; write models.NAME*.SECTION.KEY; "
            f"SECTION is one of {', '.join(BY_MODEL)}"
        )
        return
    key, values = max(keys, key=len), dict[str, Any]()
    origin = Origin("flag", "--set")
    draft.take(_Written(key, override_key(pattern, key), raw, origin, text=isinstance(raw, str)), values)
    draft.models.append(Override(pattern, values))


def _instead(key: str) -> str:
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
    if near := _close(name, _inside(section)):
        return [f"{section}.{near[0]}"]
    near = _close(name, [row.name for row in SETTINGS.values()])
    return [row.key for row in SETTINGS.values() if row.name in near]


def _close(word: str, known: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(word, list(known), n=1, cutoff=0.7)
