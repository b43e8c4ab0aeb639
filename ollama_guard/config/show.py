"""The settings as text: what is in force and from where, a commented file to begin with, the README table."""

import json
import textwrap
from typing import Any

from ollama_guard.config.catalogue import FLAGS, SECTIONS, SETTINGS, Setting, value_of
from ollama_guard.config.load import Loaded


def as_table(loaded: Loaded) -> str:
    """One line a setting: name, value, where it comes from. What is not a default is marked with a star."""
    rows = []
    for key, setting in SETTINGS.items():
        origin = loaded.origins[key]
        mark = " " if origin.kind == "default" else "*"
        value = _line(setting.shown(value_of(loaded.settings, key))) or "-"
        rows.append((mark, key, value, "" if origin.kind == "default" else str(origin)))
    name_width = max(len(row[1]) for row in rows)
    value_width = min(max(len(row[2]) for row in rows), 44)
    lines = [f"settings file: {loaded.file or 'none'}", ""]
    for mark, key, value, where in rows:
        lines.append(f"{mark} {key:<{name_width}}  {value:<{value_width}}  {where}".rstrip())
    lines += ["", *(f"note: {note}" for note in loaded.notes)] if loaded.notes else []
    return "\n".join(lines)


def as_json(loaded: Loaded) -> str:
    """The same for programs. A secret is null when none is set, else "(set)"."""
    settings = {}
    for key, setting in SETTINGS.items():
        value = value_of(loaded.settings, key)
        origin = loaded.origins[key]
        settings[key] = {
            "value": (setting.shown(value) or None) if setting.secret else value,
            "origin": origin.kind,
            "where": origin.where,
        }
    whole = {"file": str(loaded.file) if loaded.file else None, "settings": settings, "notes": loaded.notes}
    return json.dumps(whole, indent=2, ensure_ascii=False)


def defaults_toml() -> str:
    """A settings file in which every setting stands, explained, with its default, commented out."""
    lines = ["# ollama-guard settings. A line that is commented out shows the default."]
    for section, about in SECTIONS.items():
        lines += [
            "",
            *textwrap.wrap(" ".join(about.split()), 100, initial_indent="# ", subsequent_indent="# "),
        ]
        lines += [f"[{section}]"]
        for setting in (row for row in SETTINGS.values() if row.section == section):
            explained = f"{setting.help} Accepted: {setting.accepted}."
            lines += textwrap.wrap(explained, 100, initial_indent="# ", subsequent_indent="#   ")
            lines += [f"#{setting.name} = {_toml(setting.default)}"]
    return "\n".join(lines)


def markdown() -> str:
    """The table of all settings for the README. A test holds the two together."""
    lines = ["| setting | default | accepted | flag | what it does |", "| --- | --- | --- | --- | --- |"]
    for setting in SETTINGS.values():
        flag = f"`{flag_spelling(setting)}`" if setting.flag else ""
        default = f"`{setting.shown(setting.default)}`" if setting.shown(setting.default) else "(none)"
        default = setting.auto if setting.default is None else default
        lines.append(f"| `{setting.key}` | {default} | {setting.accepted} | {flag} | {setting.help} |")
    return "\n".join(lines)


def flag_spelling(setting: Setting) -> str:
    """The flag as it is typed: --port, --retry-empty/--no-retry-empty."""
    if setting.kind is bool:
        return f"--{setting.flag}/--no-{setting.flag}"
    return f"--{setting.flag}"


def flag_help(flag: str) -> str:
    """The help text of one serve flag: meaning, default, what 0 means, the environment's name."""
    setting = SETTINGS[FLAGS[flag]]
    parts = [f"default: {setting.shown(setting.default) or setting.empty}"]
    parts += [f"0: {setting.zero}"] if setting.zero else []
    return f"{setting.help} [{'; '.join([*parts, f'env: {setting.flat_env}'])}]"


def flag_metavar(flag: str) -> str:
    """What stands for the flag's value in a help text: its choices, its unit, or its kind."""
    setting = SETTINGS[FLAGS[flag]]
    if setting.choices or setting.unit:
        return "|".join(setting.choices) or setting.unit.upper().replace("CHARACTERS", "CHARS")
    special = {"upstream": "URL", "log-file": "PATH", "host": "ADDRESS"}
    return special.get(flag, "NUMBER" if setting.kind in (int, float) else "TEXT")


def _line(value: str) -> str:
    return value if value.isprintable() else ascii(value)[1:-1]


def _toml(value: Any) -> str:
    if value is None:
        return '"auto"'
    if isinstance(value, tuple):
        return json.dumps(list(value))
    return json.dumps(value)
