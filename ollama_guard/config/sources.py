"""Settings from the environment and from the command line, into a `Draft`.

What is said for some models only can stand in a file or on the command line: no variable can carry such a
name.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ollama_guard.config.catalogue import ENV_PREFIX, FLAGS, SETTINGS, differs_by_model
from ollama_guard.config.draft import BY_MODEL_SECTIONS, MODELS, Draft, Origin, Written, complaint, instead
from ollama_guard.config.models import override_key
from ollama_guard.config.schema import Override
from ollama_guard.config.values import quoted

CONFIG_ENV = f"{ENV_PREFIX}CONFIG"
_FOREIGN = re.compile(r"TEST_.*|SERVICE_(HOST|PORT).*|PORT_\d+_(TCP|UDP).*")
"""Names after our prefix that are not for us: the test suite's, and those Kubernetes makes for a service."""


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
    models: list[Override] = []
    said: dict[str, tuple[str, object]] = {}
    for name, raw in flags.items():
        if raw is None:
            continue
        flag = name.replace("_", "-")
        key = name if "." in name else FLAGS.get(flag, name)
        if key.startswith(f"{MODELS}."):
            _read_model_flag(draft, key, raw, models)
            continue
        if key not in SETTINGS:
            draft.problems.append(f"{name} (flag --set): no such setting; {instead(key)}")
            continue
        origin = Origin("flag", "--set" if "." in name else f"--{flag}")
        where, other = said.setdefault(key, (origin.where, raw))
        if str(other) != str(raw):
            named, before = complaint(SETTINGS[key], raw, origin), quoted(SETTINGS[key], other)
            draft.problems.append(f"{named}: {where} says {before}; keep one of them")
            continue
        draft.offer(key, raw, origin, text=isinstance(raw, str))
    draft.models += models


def _read_model_flag(draft: Draft, name: str, raw: object, models: list[Override]) -> None:
    """models.PATTERN.section.key, appended to `models`; the pattern may have dots of its own.

    What is said of one pattern after the other is one place.
    """
    rest = name.removeprefix(f"{MODELS}.")
    keys = [key for key in SETTINGS if rest.endswith(f".{key}") and differs_by_model(key)]
    pattern = rest.removesuffix(f".{max(keys, key=len)}").strip("\"'") if keys else ""
    if not pattern.strip():
        draft.problems.append(
            f"{name} (flag --set): no such setting; write models.NAME*.SECTION.KEY; {BY_MODEL_SECTIONS}"
        )
        return
    key, values = max(keys, key=len), dict[str, Any]()
    origin = Origin("flag", "--set")
    draft.take(Written(key, override_key(pattern, key), raw, origin, text=isinstance(raw, str)), values)
    if models and models[-1].pattern == pattern:
        values = {**models.pop().values, **values}
    models.append(Override(pattern, values))
