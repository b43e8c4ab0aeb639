"""The settings in force: defaults < TOML file < environment < command line, with where each came from.

All problems of all sources are reported together, as one `ConfigError`. OLLAMA_HOST and OLLAMA_ORIGINS,
which people have set for Ollama already, stand in for the defaults of upstream.url and
server.allowed_origins.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from ollama_guard.config.addresses import is_ourselves, ollama_url
from ollama_guard.config.catalogue import SETTINGS
from ollama_guard.config.checks import check, valid_origin
from ollama_guard.config.schema import Settings
from ollama_guard.config.sources import CONFIG_ENV, Draft, Origin, read_environment, read_file, read_flags

__all__ = ["ConfigError", "Loaded", "Origin", "default_file", "load"]


class ConfigError(Exception):
    """The settings cannot be used. `problems` has one line for each thing that is wrong."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Loaded:
    """What holds. `origins` has an entry for every setting; `notes` are for the log at start.

    `file` is the file that was read, or None.
    """

    settings: Settings
    origins: dict[str, Origin]
    notes: list[str]
    file: Path | None = None


def default_file() -> Path:
    """Where the settings file is when nobody says otherwise: the user's configuration folder."""
    return platformdirs.user_config_path("ollama-guard", appauthor=False) / "config.toml"


def load(
    *,
    file: Path | None,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    fallback: Path | None = None,
) -> Loaded:
    """Read all sources. Raises ConfigError with everything that is wrong.

    file: the file asked for, which must be there; else the one named by OLLAMA_GUARD_CONFIG, which must be
    there too; else `fallback`, if it is there (the command line gives `default_file()`).
    flags: values by flag name ("port") or setting ("server.port"); see `sources.read_flags`.
    """
    draft = Draft()
    asked = file or (Path(environ[CONFIG_ENV]) if environ.get(CONFIG_ENV) else None)
    path = asked or fallback
    found = path is not None and read_file(draft, path, must_exist=asked is not None)
    read_environment(draft, environ)
    read_flags(draft, flags)
    _ollama_origins(draft, environ)
    _ollama_host(draft, environ)
    _tidy(draft.values)
    settings = _build(draft.values)
    problems = [*draft.problems, *check(settings, draft.origins)]
    if problems:
        raise ConfigError(problems)
    if settings.log.content:
        draft.notes.append("log.content is on: pieces of prompts and answers go to the log")
    origins = {key: draft.origins.get(key, Origin()) for key in SETTINGS}
    return Loaded(settings, origins, draft.notes, path if found else None)


def _ollama_host(draft: Draft, environ: Mapping[str, str]) -> None:
    """Take the upstream from OLLAMA_HOST, unless it aims the `ollama` command at the guard itself."""
    value = environ.get("OLLAMA_HOST", "")
    url = ollama_url(value)
    if url is None or "upstream.url" in draft.values:
        return
    host = draft.values.get("server.host", Settings().server.host)
    port = draft.values.get("server.port", Settings().server.port)
    try:
        ourselves = is_ourselves(url, host, port)
    except ValueError:
        draft.notes.append(f"OLLAMA_HOST={value!a} is no address: ignored")
        return
    if ourselves:
        draft.notes.append(f"OLLAMA_HOST={value!a} is the guard itself: not taken as the upstream")
        return
    draft.offer("upstream.url", url, Origin("env", "OLLAMA_HOST"), text=True)


def _ollama_origins(draft: Draft, environ: Mapping[str, str]) -> None:
    """Take OLLAMA_ORIGINS as the allowed origins, so that one setting serves both."""
    value = environ.get("OLLAMA_ORIGINS", "").strip().strip("\"'")
    if not value or "server.allowed_origins" in draft.values:
        return
    origins = [part.strip() for part in value.split(",") if part.strip()]
    for bad in [origin for origin in origins if not valid_origin(origin)]:
        draft.notes.append(f"OLLAMA_ORIGINS: {bad!a} is no origin: ignored")
    good = ",".join(origin for origin in origins if valid_origin(origin))
    if "*" in good.split(","):
        draft.notes.append("OLLAMA_ORIGINS=* lets every web page that is open in a browser here use Ollama")
    draft.offer("server.allowed_origins", good, Origin("env", "OLLAMA_ORIGINS"), text=True)


def _tidy(values: dict[str, Any]) -> None:
    """One spelling for what has several: no brackets around a host, no slash at the end of a URL."""
    if isinstance(host := values.get("server.host"), str):
        values["server.host"] = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if isinstance(url := values.get("upstream.url"), str):
        values["upstream.url"] = url.strip().rstrip("/")


def _build(values: Mapping[str, Any]) -> Settings:
    sections: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        section, name = key.split(".")
        sections.setdefault(section, {})[name] = value
    blank = Settings()
    return Settings(**{name: type(getattr(blank, name))(**given) for name, given in sections.items()})
