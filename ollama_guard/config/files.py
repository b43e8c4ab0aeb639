"""Settings in a TOML file: read to the end into a `Draft`, each with the line it was written in."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ollama_guard.config.catalogue import BY_MODEL, SECTIONS, SETTINGS
from ollama_guard.config.draft import BY_MODEL_SECTIONS, MODELS, Draft, Origin, Written, instead
from ollama_guard.config.lines import Lines
from ollama_guard.config.models import override_key
from ollama_guard.config.schema import Override

_HOW_BY_MODEL = f'write [models."NAME*".SECTION], the name in quotes; {BY_MODEL_SECTIONS}'


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
            known = f"it is a section: write [{_name(path)}]" if section in SECTIONS else instead(section)
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
                self._problem(inner, f"no such setting; {instead(key)}")

    def _written(self, key: str, path: tuple[str, ...], raw: Any) -> Written:
        def inside(*rest: str) -> Origin:
            return self._origin(*path, *rest)

        return Written(key, _name(path), raw, self._origin(*path), text=False, inside=inside)

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
