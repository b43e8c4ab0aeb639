"""The settings as text: what is in force and from where, a commented file to begin with, the README table."""

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from ollama_guard.config.catalogue import (
    BY_MODEL,
    FLAGS,
    SECTIONS,
    SETTINGS,
    STEP,
    Setting,
    value_of,
    without_defaults,
)
from ollama_guard.config.load import Loaded, Origin
from ollama_guard.config.models import override_key
from ollama_guard.config.schema import LadderStep

_CHANNELS = "detect.channels."
_EXAMPLES = {
    "intervene": """
[[intervene.ladder]]
name = "steer"
[[intervene.ladder]]
name = "other"
wording = "firm"
model = "qwen3:8b"
""",
    "log": """
[models."qwen3*".stall]
max_total_sec = 600
""",
}
"""What a single line cannot show, after the section of this name."""


def as_table(loaded: Loaded) -> str:
    """One line a setting: name, value, where it comes from. What is not a default is marked with a star."""
    rows = []
    for key, setting, value in _all_values(loaded):
        origin = loaded.origins[key]
        shown = _line(setting.shown(value)) or "-"
        where = "" if origin == Origin() else str(origin)
        rows.append((" " if origin.kind == "default" else "*", key, shown, where))
    name_width = max(len(row[1]) for row in rows)
    value_width = min(max(len(row[2]) for row in rows), 44)
    lines = [f"settings file: {loaded.file or 'none'}"]
    lines += [f"model: {_line(loaded.model)}"] if loaded.model is not None else []
    lines += [""]
    for mark, key, shown, where in rows:
        lines.append(f"{mark} {_line(key):<{name_width}}  {shown:<{value_width}}  {where}".rstrip())
    lines += ["", *(f"note: {note}" for note in loaded.notes)] if loaded.notes else []
    return "\n".join(lines)


def as_json(loaded: Loaded) -> str:
    """The same for programs. A secret is null when none is set, else "(set)"."""
    settings = {}
    for key, setting, value in _all_values(loaded):
        origin = loaded.origins[key]
        settings[key] = {
            "value": (setting.shown(value) or None) if setting.secret else _plain(value),
            "origin": origin.kind,
            "where": origin.where,
        }
    whole = {
        "file": str(loaded.file) if loaded.file else None,
        "model": loaded.model,
        "settings": settings,
        "notes": loaded.notes,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False)


def _all_values(loaded: Loaded) -> Iterator[tuple[str, Setting, Any]]:
    """Every setting, then what is said for some models."""
    for key, setting in SETTINGS.items():
        yield key, setting, value_of(loaded.settings, key)
    for override in loaded.settings.models:
        for key, value in override.values.items():
            yield override_key(override.pattern, key), SETTINGS[key], value


def _plain(value: Any) -> Any:
    """For JSON: the steps of a ladder as what was said of them."""
    if isinstance(value, tuple):
        return [without_defaults(one) if isinstance(one, LadderStep) else one for one in value]
    return value


def defaults_toml() -> str:
    """A settings file in which every setting stands, explained, with its default, commented out."""
    lines = ["# ollama-guard settings. A line that is commented out shows the default."]
    for section, about in SECTIONS.items():
        lines += ["", *_wrapped(" ".join(about.split())), f"[{section}]"]
        for setting in (row for row in SETTINGS.values() if row.section == section):
            lines += _wrapped(f"{setting.help} Accepted: {setting.accepted}.", more="#   ")
            lines += [f"#{setting.name} = {_toml(setting.default)}"]
        if section in _EXAMPLES:
            lines += ["# For example:", *(f"#   {line}" for line in _EXAMPLES[section].strip().split("\n"))]
    return "\n".join(lines)


def _wrapped(text: str, more: str = "# ") -> list[str]:
    return textwrap.wrap(text, 100, initial_indent="# ", subsequent_indent=more)


def markdown() -> str:
    """The table of all settings for the README. A test holds the two together.

    The channels have the same settings, so these stand there once.
    """
    lines = ["| setting | default | accepted | flag | what it does |", "| --- | --- | --- | --- | --- |"]
    for setting in SETTINGS.values():
        first = setting.section == f"{_CHANNELS}reasoning"
        if not setting.section.startswith(_CHANNELS) or first:
            lines.append(
                _markdown_row(setting, f"{_CHANNELS}CHANNEL.{setting.name}" if first else setting.key)
            )
        if setting.key == "intervene.ladder":
            lines += [_markdown_row(row, row.key) for row in STEP.values()]
    sections = ", ".join(BY_MODEL)
    lines.append(
        '| `models."PATTERN".SECTION.KEY` | (none) | a key of '
        f"{sections} | | Holds for models whose name matches, like `qwen3*`; later ones win. |"
    )
    return "\n".join(lines)


def _markdown_row(setting: Setting, key: str) -> str:
    flag = f"`{flag_spelling(setting)}`" if setting.flag else ""
    default = f"`{setting.shown(setting.default)}`" if setting.shown(setting.default) else "(none)"
    default = setting.auto if setting.default is None else default
    return f"| `{key}` | {default} | {setting.accepted} | {flag} | {setting.help} |"


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
