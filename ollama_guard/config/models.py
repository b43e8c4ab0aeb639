"""What holds for one model: the settings, with those on top whose pattern matches its name.

Patterns are those of `fnmatch` (*, ?, [abc]), upper and lower case alike. Where several match, the later one
wins; and any of them wins over what is said for all models, whatever source that comes from (see `layers`).
"""

import json
from fnmatch import fnmatchcase

from ollama_guard.config.layers import laid_over
from ollama_guard.config.schema import Settings


def override_key(pattern: str, key: str) -> str:
    """The name of a setting of some models, as it is written in a file."""
    dotted = f".{key}" if key else ""
    return f"models.{json.dumps(pattern, ensure_ascii=False)}{dotted}"


def is_cloud(model: str) -> bool:
    """Whether a model's name marks it as cloud: the tag `cloud`, or one that ends in `-cloud`.

    Ollama's own rule (server/cloud_proxy.go), case folded.
    """
    tag = model.lower().rpartition(":")[2]
    return tag == "cloud" or tag.endswith("-cloud")


def matches(pattern: str, model: str) -> bool:
    """Whether a pattern is for this model. To Ollama a name without a tag is the one with `:latest`."""
    name, wanted = model.lower(), pattern.lower()
    tagged = name if ":" in name.rpartition("/")[2] else f"{name}:latest"
    return any(fnmatchcase(one, wanted) for one in {name, tagged, tagged.removesuffix(":latest")})


def for_model(settings: Settings, model: str) -> Settings:
    """The settings of a request to this model."""
    for override in settings.models:
        if matches(override.pattern, model):
            settings = laid_over(settings, override.values)
    return settings


def could_meet(one: str, other: str) -> bool:
    """Whether some name may match both patterns. Never wrongly no; yes for any two sets of characters."""
    left, right = _tokens(one.lower()), _tokens(other.lower())
    seen: set[tuple[int, int]] = set()
    todo = [(0, 0)]
    while todo:
        at = i, j = todo.pop()
        if at == (len(left), len(right)):
            return True
        if at in seen:
            continue
        seen.add(at)
        if left[i : i + 1] == ["*"] or right[j : j + 1] == ["*"]:  # nothing, or one more of the other's
            todo += [(i + 1, j)] * (i < len(left)) + [(i, j + 1)] * (j < len(right))
        elif i < len(left) and j < len(right) and _same(left[i], right[j]):
            todo.append((i + 1, j + 1))
    return False


def _same(one: str, other: str) -> bool:
    """Whether one character may be both."""
    if len(one) > 1 and len(other) > 1:
        return True
    return fnmatchcase(one, other) or fnmatchcase(other, one) or "?" in (one, other)


def _tokens(pattern: str) -> list[str]:
    """What stands for one character each, and the stars."""
    found = []
    while pattern:
        end = pattern.find("]", 3 if pattern[1:2] == "!" else 2) + 1 if pattern[0] == "[" else 0
        found.append(pattern[: end or 1])
        pattern = pattern[end or 1 :]
    return found
