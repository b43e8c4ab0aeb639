"""The mock's own scripts without their pauses and with longer deltas, and what they say."""

import json
from typing import Any

from mocks.script import FOLDER
from mocks.server import MockOllama

PREFIX = "quick-"
CHUNK = 12
"""Characters a delta, where a script does not say: three times the mock's own, for a third of the events."""


def _all() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(FOLDER.glob("*.json")):
        found |= json.loads(path.read_text("utf-8"))
    return found


SCRIPTS = _all()

LOOK = {"name": "read_file", "arguments": {"path": "src/main.py"}}
AGAIN = "I look at it once more, and then again. "
OWN: dict[str, Any] = {
    "call-then-loop": {"steps": [{"call": LOOK}, {"say": AGAIN, "times": None}]},
    "call-then-thought-loop": {"steps": [{"call": LOOK}, {"think": AGAIN, "times": None}]},
    "loop-then-call": {
        "attempts": [
            {"steps": [{"say": "Let me see. "}, {"say": AGAIN, "times": None}]},
            {"steps": [{"call": LOOK}]},
        ]
    },
    "restated-then-call": {
        "attempts": [
            SCRIPTS["loop-tool-args"]["attempts"][0],
            {"steps": [{"say": "I will write the file. First I read it."}, {"call": LOOK}]},
        ]
    },
    "loop-then-nothing": {
        "attempts": [
            SCRIPTS["loop-content"]["attempts"][0],
            {"steps": []},
            SCRIPTS["loop-content"]["attempts"][1],
        ]
    },
    "loop-then-nothing-always": {"attempts": [SCRIPTS["loop-content"]["attempts"][0], {"steps": []}]},
    "loop-of-forty": {"steps": [{"say": AGAIN, "times": 40}]},
}
"""Scripts of these tests alone."""


def _quick(value: Any) -> Any:
    """The same script with no delay anywhere, and the names of others turned into those of their copies."""
    if isinstance(value, str):
        return PREFIX + value
    made = {key: part for key, part in value.items() if key != "delay"}
    if "steps" in made:
        made["steps"] = [_longer(step) for step in made["steps"]]
    if "attempts" in made:
        made["attempts"] = [_quick(attempt) for attempt in made["attempts"]]
    if "answers" in made:
        made["answers"] = [answer | {"script": _quick(answer["script"])} for answer in made["answers"]]
    return made


def _longer(step: dict[str, Any]) -> dict[str, Any]:
    said = step.get("say", step.get("think"))
    return {"chunk": CHUNK, **step} if isinstance(said, str) and "end" not in step else step


def register_fast(mock: MockOllama) -> None:
    """Make every script `NAME` of the folder, and of OWN, available as the model `mock:quick-NAME`."""
    for name, script in (SCRIPTS | OWN).items():
        mock.script(PREFIX + name, _quick(script))


def text_of(name: str, kind: str) -> str:
    """What a script writes under `think` or `say`, in one piece."""
    return "".join(step[kind] for step in SCRIPTS[name]["steps"] if isinstance(step.get(kind), str))


HEALTHY_REASONING = text_of("healthy", "think")
HEALTHY_ANSWER = text_of("healthy", "say")
