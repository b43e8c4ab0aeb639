"""Where settings come from: a TOML file, the environment, the command line.

Each source is read to its end into a `Draft`; a bad entry is noted there as a problem, and the rest goes on,
so that people see all that is wrong at once. Later sources win over earlier ones.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ollama_guard.config.catalogue import ENV_PREFIX, FLAGS, SECTIONS, SETTINGS, Setting
from ollama_guard.config.values import quoted, read, read_text

CONFIG_ENV = f"{ENV_PREFIX}CONFIG"
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
    """Settings being gathered."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def offer(self, key: str, raw: Any, origin: Origin, *, text: bool) -> None:
        """Take one value, or note what is wrong with it."""
        setting = SETTINGS[key]
        try:
            self.values[key] = read_text(setting, raw) if text else read(setting, raw)
        except ValueError:
            self.problems.append(f"{complaint(setting, raw, origin)}: accepted is {setting.accepted}")
        else:
            self.origins[key] = origin


def complaint(setting: Setting, raw: Any, origin: Origin) -> str:
    """The beginning of a message about a value: key, value, where it was written."""
    return f"{setting.key} = {quoted(setting, raw)} ({origin})"


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
    for section, entries in tree.items():
        _read_section(draft, section, entries, _Lines(path, text))
    return True


def _read_section(draft: Draft, section: str, entries: Any, lines: "_Lines") -> None:
    if section not in SECTIONS or not isinstance(entries, dict):
        known = f"it is a section: write [{section}]" if section in SECTIONS else _instead(section)
        draft.problems.append(f"{section} ({lines.origin('', section)}): no such setting; {known}")
        return
    for name, raw in entries.items():
        key, origin = f"{section}.{name}", lines.origin(section, name)
        if key in SETTINGS:
            draft.offer(key, raw, origin, text=False)
        else:
            draft.problems.append(f"{key} ({origin}): no such setting; {_instead(key)}")


class _Lines:
    """Line numbers of keys, by a plain scan. Given only where one line alone can be meant."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._at: dict[tuple[str, str], list[int]] = {}
        section = ""
        for number, line in enumerate(text.split("\n"), start=1):
            if header := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
                section = header[1]
                self._at.setdefault(("", section), []).append(number)
            elif entry := re.match(r"\s*([\w-]+)\s*=", line):
                self._at.setdefault((section, entry[1]), []).append(number)

    def origin(self, section: str, name: str) -> Origin:
        found = self._at.get((section, name), [])
        return Origin("file", f"{self._path}, line {found[0]}" if len(found) == 1 else str(self._path))


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
    if near:
        draft.problems.append(f"{name}: no such setting; did you mean {ENV_PREFIX}{near[0]}?")
    elif "__" in bare:
        draft.problems.append(f"{name}: no such setting; `ollama-guard config` lists all of them")
    else:
        draft.notes.append(f"{name} is not a setting: ignored")


def read_flags(draft: Draft, flags: Mapping[str, object]) -> None:
    """Read what the command line says: a flag's name ("max-retries"), or "section.key" from --set.

    None says nothing. A text is read by the setting's type, other values are taken as they are.
    """
    for name, raw in flags.items():
        if raw is None:
            continue
        flag = name.replace("_", "-")
        key = name if "." in name else FLAGS.get(flag, name)
        if key not in SETTINGS:
            draft.problems.append(f"{name} (flag --set): no such setting; {_instead(key)}")
            continue
        origin = Origin("flag", "--set" if "." in name else f"--{flag}")
        draft.offer(key, raw, origin, text=isinstance(raw, str))


def _instead(key: str) -> str:
    """What may have been meant by an unknown key: the same name elsewhere, a flag's name, or a near miss."""
    section, _, name = key.rpartition(".")
    meant = [row.key for row in SETTINGS.values() if row.name == name]
    if not meant and (flag := name.replace("_", "-")) in FLAGS:
        meant = [FLAGS[flag]]
    if not meant:
        meant = difflib.get_close_matches(key, [*SETTINGS, *SECTIONS], n=1, cutoff=0.7)
    if meant:
        return f"did you mean {' or '.join(meant)}?"
    if section in SECTIONS:
        names = ", ".join(row.name for row in SETTINGS.values() if row.section == section)
        return f"[{section}] has {names}"
    return f"sections are {', '.join(SECTIONS)}"
