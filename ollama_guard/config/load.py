"""The settings in force: defaults < TOML file < environment < command line, with where each came from.

All problems of all sources are reported together, as one `ConfigError`. OLLAMA_HOST and OLLAMA_ORIGINS,
which people have set for Ollama already, stand in for the defaults of upstream.url and
server.allowed_origins.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import platformdirs

from ollama_guard.config.addresses import is_ourselves, ollama_host
from ollama_guard.config.catalogue import SETTINGS, with_values
from ollama_guard.config.checks import check, remarks, valid_origin
from ollama_guard.config.draft import Draft, Origin
from ollama_guard.config.files import read_file
from ollama_guard.config.layers import channel_key, effect, settle
from ollama_guard.config.models import for_model, is_cloud, matches, override_key
from ollama_guard.config.schema import Override, Settings
from ollama_guard.config.sources import CONFIG_ENV, read_environment, read_flags

__all__ = ["ConfigError", "Loaded", "Origin", "asked_for", "default_file", "in_force", "load"]


class ConfigError(Exception):
    """The settings cannot be used. `problems` has one line for each thing that is wrong."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Loaded:
    """What holds. `notes` are for the log at start. `file` is the file that was read, or None.

    `origins` has an entry for every setting, and for each that is said for some models
    (`models.override_key`). `model` is the one that this was narrowed to (`in_force`), or None.
    """

    settings: Settings
    origins: dict[str, Origin]
    notes: list[str]
    file: Path | None = None
    model: str | None = None


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
    asked = asked_for(file, environ)
    path = asked or fallback
    found = path is not None and read_file(draft, path, must_exist=asked is not None)
    read_environment(draft, environ)
    read_flags(draft, flags)
    _ollama_origins(draft, environ)
    _ollama_host(draft, environ)
    _tidy(draft.values)
    settle(draft.values, draft.origins)
    settings = with_values(Settings(models=tuple(draft.models)), draft.values)
    problems = [*draft.problems, *check(settings, draft.origins)]
    if problems:
        raise ConfigError(problems)
    notes = [*draft.notes, *remarks(settings, draft.origins)]
    origins = {key: Origin() for key in SETTINGS} | draft.origins
    return Loaded(settings, origins, notes, path if found else None)


def asked_for(file: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The settings file that somebody names: the command line, else the environment."""
    return file or (Path(environ[CONFIG_ENV]) if environ.get(CONFIG_ENV) else None)


def in_force(loaded: Loaded, model: str) -> Loaded:
    """The same for a request to this model: with what is said for it, and with "auto" by its kind told."""
    settings, origins = loaded.settings, dict(loaded.origins)
    for override in settings.models:
        if matches(override.pattern, model):
            origins |= {key: _origin_for(loaded, override, key) for key in effect(override.values)}
    settings = msgspec.structs.replace(for_model(settings, model), models=())
    kind = "cloud" if is_cloud(model) else "local"
    by_kind = {
        "max_reasoning_sec": f"{kind}_reasoning_sec",
        "reasoning_char_limit": f"{kind}_reasoning_chars",
        "max_total_sec": f"{kind}_total_sec",
    }
    for name, source in by_kind.items():
        if getattr(settings.stall, name) is None:
            value = getattr(settings.stall, source)
            settings = with_values(settings, {f"stall.{name}": value})
            origins[f"stall.{name}"] = Origin(origins[f"stall.{source}"].kind, f"by stall.{source}")
    return replace(loaded, settings=settings, origins=origins, model=model)


def _origin_for(loaded: Loaded, override: Override, key: str) -> Origin:
    """Where a value of some models comes from; nowhere, if they only undo what holds for the others."""
    span = next((one for one in override.values if channel_key(one) == key), key)
    said = key if key in override.values else span
    return loaded.origins.get(override_key(override.pattern, said), Origin())


def _ollama_host(draft: Draft, environ: Mapping[str, str]) -> None:
    """Take the upstream from OLLAMA_HOST, unless it aims the `ollama` command at the guard itself."""
    value = environ.get("OLLAMA_HOST", "")
    meant = ollama_host(value)
    if meant is None or "upstream.url" in draft.values:
        return
    ourselves = None if "@" in value else _is_ourselves(draft, meant.url)
    if ourselves is None:
        shown = re.sub(r"[^/@]*@", "…@", value)  # user and password are nobody's business
        draft.notes.append(f"OLLAMA_HOST={shown!a} is no address: ignored")
        return
    if meant.bad_port:
        draft.notes.append(
            f"OLLAMA_HOST: {meant.bad_port!a} is no port (0 to 65535); Ollama's default is taken: {meant.url}"
        )
    if ourselves:
        draft.notes.append(f"OLLAMA_HOST={value!a} is the guard itself: not taken as the upstream")
        return
    draft.offer("upstream.url", meant.url, Origin("env", "OLLAMA_HOST"), text=True)


def _is_ourselves(draft: Draft, url: str) -> bool | None:
    """Whether this URL is where the guard will listen; None if it is no address."""
    default = Settings().server
    try:
        return is_ourselves(
            url,
            draft.values.get("server.host", default.host),
            draft.values.get("server.port", default.port),
        )
    except ValueError:
        return None


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
