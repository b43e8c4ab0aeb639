"""Scripts: what a generation does, as data.

A script is a JSON object, in mocks/scripts/, in the request's field `mock`, or posted to /_mock/script:

    about     what it does, in a line
    steps     list of steps, in order; after the last one the generation ends as by {"end": "stop"}
    delay     seconds between two events (default: the mock's)
    status    an HTTP error instead of a generation; with `message`, `headers`
    attempts  scripts or names: what the 1st, 2nd, ... request of a conversation gets; the last repeats
    answers   list of {"match": regex, "script": script}: taken when the last turn of the request matches
    wedges    after a cut every request for this model hangs, until it has been unloaded
    coding    "gzip": the answer is compressed, whether asked for or not
    limited   the request's token limit ends the generation (one event counts as one token)

A step is an object with one of these keys (and `delay`, to override the script's):

    think, say   text, or {"ramble": n} for n words that never repeat (null: for ever).
                 `chunk`: characters an event (4), or `chunks`: list of lengths;
                 `times`: repeats (null: for ever);
                 `optional` (think): left out when the request turns thinking off;
                 `resume` (say): goes on after what the request's partial answer has of this text already,
                 and `overlap`: restates so many characters of it first
    call         {"name": ..., "arguments": {...}}, or a list of such calls
    arguments    {"name": ..., "text": ..., "open": ...}: the JSON of a call's arguments in pieces, as cloud
                 models may write it: `open` once, `text` (`chunk`, `times`), then `more`; on dialects without
                 such a form silence, then the whole call
    wait         seconds of silence (null: for ever)
    end          "stop", "length" or another done_reason; `say`, `think`, `call` beside it ride on that record
    error        message of a failure after the generation began
    fault        "eof": the stream ends as HTTP should, without an ending of its own; "reset": TCP RST;
                 "torn": the socket closes inside the chunked body
    raw          text written as it is, as one HTTP chunk; or {"sse": ..., "ndjson": ...}
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mocks.ask import Ask

FOLDER = Path(__file__).parent / "scripts"
_KINDS = ("think", "say", "call", "arguments", "wait", "end", "error", "fault", "raw")
_FAULTS = ("eof", "reset", "torn")
_SCRIPT_KEYS = {
    "about", "steps", "delay", "status", "message", "headers", "attempts", "answers", "wedges", "coding",
    "limited",
}  # fmt: skip
_STEP_KEYS = {"delay", "chunk", "chunks", "times", "optional", "resume", "overlap", "more"}

Json = Mapping[str, Any]


class ScriptError(ValueError):
    """A script that is not as the module says; names the script and what is wrong."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step; `value` as in the JSON, `kind` the key it stood under."""

    kind: str
    value: Any
    options: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Script:
    """One generation's script, or an error status, or a choice between scripts."""

    name: str
    about: str = ""
    steps: tuple[Step, ...] = ()
    delay: float | None = None
    status: int = 0
    message: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    attempts: tuple["Script | str", ...] = ()
    answers: tuple[tuple[str, "Script | str"], ...] = ()
    wedges: bool = False
    coding: str = ""
    limited: bool = False


def parse(name: str, data: Json | str) -> "Script | str":
    """A script from its JSON value; a string is the name of another one. Raises ScriptError."""
    if isinstance(data, str):
        return data
    if not isinstance(data, Mapping):
        raise ScriptError(f"{name}: a script is an object or a name")
    if unknown := set(data) - _SCRIPT_KEYS:
        raise ScriptError(f"{name}: unknown keys {sorted(unknown)}")
    return Script(
        name=name,
        about=data.get("about", ""),
        steps=tuple(_step(name, step) for step in data.get("steps", ())),
        delay=data.get("delay"),
        status=data.get("status", 0),
        message=data.get("message", ""),
        headers=tuple(data.get("headers", {}).items()),
        attempts=tuple(
            parse(f"{name}#{number}", item) for number, item in enumerate(data.get("attempts", ()), 1)
        ),
        answers=tuple((item["match"], parse(name, item["script"])) for item in data.get("answers", ())),
        wedges=data.get("wedges", False),
        coding=data.get("coding", ""),
        limited=data.get("limited", False),
    )


def _step(name: str, data: Json) -> Step:
    kinds = [kind for kind in _KINDS if kind in data]
    kind = "end" if "end" in kinds else kinds[0] if kinds else ""
    extra = set(data) - {*kinds, *_STEP_KEYS}
    if not kind or extra or (len(kinds) > 1 and kind != "end"):
        raise ScriptError(f"{name}: a step has one of {', '.join(_KINDS)}; got {sorted(data)}")
    if kind == "fault" and data[kind] not in _FAULTS:
        raise ScriptError(f"{name}: fault is one of {', '.join(_FAULTS)}")
    return Step(kind, data[kind], {key: value for key, value in data.items() if key != kind})


def load_folder(folder: Path = FOLDER) -> dict[str, Script]:
    """All scripts of the JSON files in a folder, by name."""
    scripts: dict[str, Script] = {}
    for path in sorted(folder.glob("*.json")):
        for name, data in json.loads(path.read_text("utf-8")).items():
            script = parse(name, data)
            if name in scripts or isinstance(script, str):
                raise ScriptError(f"{path.name}: {name} is there twice, or is only a name")
            scripts[name] = script
    return scripts


def choose(script: Script, ask: Ask, attempt: int, look_up: Callable[[str], Script]) -> Script:
    """The script that this request plays: `answers` and `attempts` are followed to one that has neither."""
    for _ in range(8):  # a script may name another; a cycle is an error
        chosen: Script | str
        answer = next((then for match, then in script.answers if re.search(match, ask.last)), None)
        if answer is not None:
            chosen = answer
        elif script.attempts:
            chosen = script.attempts[min(attempt, len(script.attempts)) - 1]
        else:
            return script
        script = look_up(chosen) if isinstance(chosen, str) else chosen
    raise ScriptError(f"{script.name}: scripts name each other in a circle")
