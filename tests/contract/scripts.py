"""The mock's own scripts without their pauses, and what they say."""

import json
from typing import Any

from mocks.script import FOLDER
from mocks.server import MockOllama

PREFIX = "quick-"


def _all() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(FOLDER.glob("*.json")):
        found |= json.loads(path.read_text("utf-8"))
    return found


SCRIPTS = _all()


def _quick(value: Any) -> Any:
    """The same script with no delay anywhere, and the names of others turned into those of their copies."""
    if isinstance(value, str):
        return PREFIX + value
    made = {key: part for key, part in value.items() if key != "delay"}
    if "attempts" in made:
        made["attempts"] = [_quick(attempt) for attempt in made["attempts"]]
    if "answers" in made:
        made["answers"] = [answer | {"script": _quick(answer["script"])} for answer in made["answers"]]
    return made


def register_fast(mock: MockOllama) -> None:
    """Make every script `NAME` of the folder available as the model `mock:quick-NAME`."""
    for name, script in SCRIPTS.items():
        mock.script(PREFIX + name, _quick(script))


def text_of(name: str, kind: str) -> str:
    """What a script writes under `think` or `say`, in one piece."""
    return "".join(step[kind] for step in SCRIPTS[name]["steps"] if isinstance(step.get(kind), str))


HEALTHY_REASONING = text_of("healthy", "think")
HEALTHY_ANSWER = text_of("healthy", "say")
