"""The table: what happens upstream, and what an SDK must make of it through the guard.

A case is one behaviour of the upstream. `expect` says, door by door, the SDK's own accumulated message, or
the documented failure; a case is run at every door of its `paths`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.contract.asking import (
    CHAT,
    COMPLETIONS,
    MESSAGES,
    NATIVE_CHAT,
    NATIVE_GENERATE,
    PATHS,
    RESPONSES,
    WITH_TOOLS,
    Fault,
    Heard,
)
from tests.contract.scripts import AGAIN, HEALTHY_ANSWER, HEALTHY_REASONING, SCRIPTS, text_of
from tests.contract.sdks import Door

DEADLOOP, STALL = "ollama_loop_guard_deadloop", "ollama_loop_guard_stall"
TRUNCATED, UPSTREAM = "ollama_loop_guard_truncated", "ollama_loop_guard_upstream"

IMPATIENT: Mapping[str, object] = {
    "empty.max_retries": 2,
    "empty.pause_sec": 0.02,
    "empty.pause_max_sec": 0.05,
    "empty.keepalive_sec": 0.3,
}
STRICT_STALL: Mapping[str, object] = {"stall.reasoning_char_limit": 3000}
STOP: Mapping[str, object] = {"detect.action": "stop"}
OBSERVE: Mapping[str, object] = {"detect.action": "observe"}
THINKING = tuple(path for path in PATHS if path != COMPLETIONS)
"""On /v1/completions Ollama drops what is thought: neither the SDK nor the guard sees a word of it."""

CALL = ("read_file", {"path": "src/main.py"})
WRITTEN = ("write_file", {"path": "a.txt", "content": "Hello, world. This is the file."})
CALLS = (CALL, ("read_file", {"path": "README.md"}))

_FINISH: Mapping[str, Mapping[str, str]] = {
    CHAT: {"stop": "stop", "tool_calls": "tool_calls", "length": "length"},
    COMPLETIONS: {"stop": "stop", "length": "length"},
    RESPONSES: {"stop": "completed", "tool_calls": "completed", "length": "completed"},
    MESSAGES: {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"},
    NATIVE_CHAT: {"stop": "stop", "tool_calls": "stop", "length": "length"},
    NATIVE_GENERATE: {"stop": "stop", "length": "length"},
}

LONGEST_SHOWN = 140
"""Characters of repetition beyond the first copy of a short unit that a client may see before it is held
back: 120 until suspicion, and the events that were on their way."""


@dataclass(frozen=True)
class Joined:
    """An answer that was cut and gone on with: clean text, some of what looped, then the rest of the answer.

    seam: what stands between a loop that was shown, which ends anywhere, and the rest, if there is any; ""
    where nothing was shown: the loop could be cut after a copy, and at most a blank parts two words.
    """

    clean: str
    unit: str
    rest: str
    seam: str = "\n\n"
    shown: int = LONGEST_SHOWN

    def problem(self, text: str) -> str:
        """What is wrong with the joined text; "" if no word is lost, or doubled but a little of the loop."""
        if not text.startswith(self.clean):
            return f"the clean text is not there: {text[:80]!r}"
        rest = self.rest.lstrip() if self.seam else self.rest
        if not text.endswith(rest):
            return f"the rest of the answer is not whole: {text[-80:]!r}"
        between = text[len(self.clean) : len(text) - len(rest)]
        looped = between.removesuffix(self.seam) if self.seam else between.rstrip(" ")
        copies = self.unit * (len(looped) // len(self.unit) + 1)
        if not copies.startswith(looped):
            return f"something else stands at the joint: {between!r}"
        if len(looped) > len(self.unit) + self.shown:
            return f"{len(looped)} characters of the loop were shown"
        if looped and self.seam and rest and between != looped + self.seam:
            return f"the broken joint is not closed: {between!r}"
        return ""


@dataclass(frozen=True)
class Expected:
    """`reasoning` None: not looked at. `finish` in OpenAI's words. `attempts`: requests that the mock
    answered; None: not counted."""

    content: str | Joined = ""
    reasoning: str | None = None
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str = "stop"
    fault: Fault | None = None
    attempts: int | None = 1


Expect = Callable[[Door], Expected]


@dataclass(frozen=True)
class Case:
    """`model` is a script of the mock's, without its pauses. `core`: asked at the SDKs' further doors too."""

    name: str
    model: str
    expect: Expect
    paths: tuple[str, ...] = PATHS
    settings: Mapping[str, object] = field(default_factory=dict)
    tools: bool = False
    limit: int | None = None

    @property
    def core(self) -> bool:
        return self.name in CORE


def problems(heard: Heard, expected: Expected, door: Door) -> list[str]:
    """Everything in which the SDK heard something else than was expected."""
    if expected.fault is not None or heard.fault is not None:
        return _fault_problems(heard.fault, expected.fault)
    found = []
    if isinstance(expected.content, Joined):
        found += [text] if (text := expected.content.problem(heard.content)) else []
    elif heard.content != expected.content:
        found.append(f"content {heard.content!r} instead of {expected.content!r}")
    if expected.reasoning is not None and heard.reasoning != expected.reasoning:
        found.append(f"reasoning {heard.reasoning!r} instead of {expected.reasoning!r}")
    if heard.calls != list(expected.calls):
        found.append(f"calls {heard.calls}")
    if heard.finish != _FINISH[door.path][expected.finish]:
        found.append(f"finish {heard.finish}")
    if heard.usage is None or heard.usage[1] <= 0:
        found.append(f"usage {heard.usage}")
    return found


def _fault_problems(heard: Fault | None, expected: Fault | None) -> list[str]:
    if heard is None or expected is None:
        return [f"fault {heard}, expected {expected}"]
    found = [] if heard.how == expected.how else [f"how {heard}"]
    if expected.status and heard.status != expected.status:
        found.append(f"status {heard.status}")
    # The ollama SDK has no error types: there the type is in the text.
    if expected.kind not in (heard.kind or heard.message):
        found.append(f"kind {heard}")
    if expected.message not in heard.message:
        found.append(f"message {heard.message}")
    return found


# --- what is expected ---------------------------------------------------------------------------------------


def _said(text: str, **more: Any) -> Expect:
    return lambda _: Expected(text, **more)


def _healthy(door: Door) -> Expected:
    thought = "" if door.path == COMPLETIONS else HEALTHY_REASONING
    return Expected(HEALTHY_ANSWER, reasoning=thought)


def _second(door: Door) -> Expected:
    """Answered at the second attempt."""
    del door
    return Expected(HEALTHY_ANSWER, attempts=2)


def _joined(script: str, attempts: int = 2) -> Expect:
    """A content loop: the first attempt's clean text and unit, then the rest of the healthy answer."""
    clean, looped = SCRIPTS[script]["attempts"][0]["steps"][-2 - (script.startswith("breaker")) :][:2]
    texts = (clean["say"], looped["say"], HEALTHY_ANSWER[len(clean["say"]) :])
    exact, seen = Joined(*texts, seam="", shown=0), Joined(*texts)
    return lambda door: Expected(exact if door.whole else seen, attempts=attempts)


def _called(text: str, calls: tuple[Any, ...], reasoning: str | None = None, attempts: int = 1) -> Expect:
    """A tool call. In one body of the Responses API, Ollama leaves out the text beside it."""

    def expect(door: Door) -> Expected:
        dropped = door.path == RESPONSES and door.whole
        return Expected("" if dropped else text, reasoning, calls, "tool_calls", attempts=attempts)

    return expect


def _told(kind: str, attempts: int | None = None, status: int = 502) -> Expect:
    """An error of the guard's own: inside a stream, or as the status of one body."""

    def expect(door: Door) -> Expected:
        fault = Fault("status", status, kind) if door.whole else Fault("told", kind=kind)
        return Expected(fault=fault, attempts=attempts)

    return expect


def _broken(_: Door) -> Expected:
    return Expected(fault=Fault("broken"), attempts=None)


def _runner_died(door: Door) -> Expected:
    """On native routes the upstream's own error line passes; elsewhere nothing comes, so the guard speaks."""
    message = "CUDA error: out of memory" if door.path.startswith("/api/") else ""
    if door.whole:
        return Expected(fault=Fault("status", 500 if message else 502, UPSTREAM, message))
    return Expected(fault=Fault("told", kind="" if message else UPSTREAM, message=message))


def _looped_tags(_: Door) -> Expected:
    unit = SCRIPTS["loop-think-tags"]["attempts"][0]["steps"][1]["say"]
    return Expected(Joined("<think>\n", unit, "</think>\n\n" + HEALTHY_ANSWER, seam=""), attempts=2)


def _cut_by_length(door: Door) -> Expected:
    if door.name == "openai chat helper":  # it has no answer for a length, with or without a guard
        return Expected(fault=Fault("LengthFinishReasonError"))
    return Expected(text_of("truncated-content", "say"), finish="length")


def _awkward(door: Door) -> Expected:
    """The ollama SDK splits lines at U+0085, which Ollama writes raw; without a verdict so does the guard."""
    if door.path.startswith("/api/") and not door.whole:
        return Expected(fault=Fault("JSONDecodeError"))
    return Expected(text_of("unicode", "say"))


def _looped_only(attempts: int | None = 1) -> Expect:
    """What was sent is kept, and ends as the model's own stop would."""
    clean, looped = SCRIPTS["loop-content"]["attempts"][0]["steps"][1:3]
    return lambda _: Expected(Joined(clean["say"], looped["say"], "", seam=""), attempts=attempts)


def _called_first(text: str) -> Expect:
    """A call that was delivered is acted on: what loops after it is cut, and the answer ends with it."""

    def expect(door: Door) -> Expected:
        if (
            door.name == "openai responses helper"
        ):  # it refuses the index that Ollama gives to what comes after
            return Expected(fault=Fault("RuntimeError"))
        return Expected(Joined("", AGAIN, "", seam="") if text else "", calls=(CALL,), finish="tool_calls")

    return expect


def _looped_first(door: Door) -> Expected:
    seen = Joined("Let me see. ", AGAIN, "", *(("", 0) if door.whole else ()))
    content = "" if door.whole and door.path == RESPONSES else seen
    return Expected(content, calls=(CALL,), finish="tool_calls", attempts=2)


TAGGED = text_of("think-tags", "say")

CASES = [
    Case("healthy", "healthy", _healthy),
    Case("healthy without reasoning", "plain", _said(HEALTHY_ANSWER, reasoning="")),
    Case("every script and escape", "unicode", _awkward),
    Case("content on the final record", "mixed", _said("The sky is blue.")),
    Case("loop in reasoning", "loop-reasoning", _second, THINKING),
    Case("variant loop", "loop-variant", _second, THINKING),
    Case("loop of one token in reasoning", "loop-token", _second, THINKING),
    Case("loop in Chinese", "loop-unicode", _second, THINKING),
    Case("loop in content", "loop-content", _joined("loop-content")),
    Case("loop of one token in content", "loop-content-token", _joined("loop-content-token")),
    Case("loop, then nothing", "loop-then-nothing", _joined("loop-content", 3)),
    Case("loop, then nothing for ever", "loop-then-nothing-always", _looped_only(3)),
    Case(
        "loop in tool arguments", "loop-tool-args", _called("I will write the file.", (CALL,), attempts=2),
        (CHAT, RESPONSES, MESSAGES), tools=True,
    ),
    Case(
        "loop twice", "loop-twice", lambda _: Expected(HEALTHY_ANSWER, attempts=3), THINKING,
    ),
    Case("loop for ever in reasoning", "loop-reasoning-always", _told(DEADLOOP, 3), THINKING),
    Case("loop for ever in content", "loop-content-always", _told(DEADLOOP, 3)),
    Case("stall", "think-forever-then-healthy", _second, THINKING, STRICT_STALL),
    Case("stall for ever", "think-fast-forever", _told(STALL, 3), THINKING, STRICT_STALL),
    Case("empty, then healthy", "empty-then-healthy", lambda _: Expected(HEALTHY_ANSWER, attempts=3),
         settings=IMPATIENT),
    Case("nothing, then healthy", "nothing-then-healthy", _second, settings=IMPATIENT),
    Case("empty for ever", "empty", _broken, settings=IMPATIENT),
    Case("truncated thinking", "truncated", _second, settings=IMPATIENT, limit=50),
    Case("truncated thinking for ever", "truncated-always", _told(TRUNCATED, 3), THINKING, limit=50),
    Case("truncated answer", "truncated-content", _cut_by_length),
    Case("error in the middle", "error-line", _runner_died),
    Case("EOF in the middle", "eof", _told(UPSTREAM, 1)),
    Case("reset in the middle", "dies", _told(UPSTREAM, 1)),
    Case("torn chunked body", "torn", _told(UPSTREAM, 1)),
    Case("half an event, then EOF", "half-line", _told(UPSTREAM, 1)),
    Case("reset before the first byte", "dies-first", _second, settings=IMPATIENT),
    Case("tool call", "tool-call", _called("", (CALL,), text_of("tool-call", "think")), WITH_TOOLS,
         tools=True),
    Case("text, then tool call", "tool-call-text", _called("Let me read that file. ", (CALL,)), WITH_TOOLS,
         tools=True),
    Case("two tool calls", "tool-calls", _called("", CALLS), WITH_TOOLS, tools=True),
    Case("tool call on the final record", "tool-call-final", _called("Reading. ", (CALL,)), WITH_TOOLS,
         tools=True),
    Case("tool call in pieces", "tool-call-streamed",
         _called("Writing. ", (WRITTEN,)),
         WITH_TOOLS, tools=True),
    Case("think tags in content", "think-tags", _said(TAGGED)),
    Case("loop in think tags", "loop-think-tags", _looped_tags),
    Case("Ollama's own breaker, silent", "breaker", _joined("breaker")),
    Case("Ollama's own breaker, with an error", "breaker-error", _joined("breaker-error")),
    Case("loop, then a call", "loop-then-call", _looped_first, WITH_TOOLS, tools=True),
    Case("call, then loop in content", "call-then-loop", _called_first(AGAIN), (CHAT, MESSAGES, NATIVE_CHAT),
         tools=True),
    Case("call, then loop in reasoning", "call-then-thought-loop", _called_first(""), WITH_TOOLS, tools=True),
    Case("loop in arguments, text restated", "restated-then-call",
         _called("I will write the file. First I read it.", (CALL,), attempts=2), (CHAT, RESPONSES, MESSAGES),
         tools=True),
    Case("stopped in content", "loop-content", _looped_only(), settings=STOP),
    Case("stopped in reasoning", "loop-reasoning", _said(""), THINKING, STOP),
    Case("observed", "loop-of-forty", _said(AGAIN * 40), settings=OBSERVE),
    Case("refused after a loop", "loop-then-500", _told(UPSTREAM, 5, 500), THINKING, IMPATIENT),
]  # fmt: skip

CORE = frozenset(
    {
        "healthy", "loop in reasoning", "loop in content", "loop in tool arguments",
        "loop for ever in content",
        "empty, then healthy", "empty for ever", "EOF in the middle", "tool call", "text, then tool call",
    }
)  # fmt: skip

SAME = (
    "healthy", "plain", "unicode", "mixed", "truncated-content", "think-tags",
    "tool-call", "tool-call-only", "tool-call-text", "tool-calls", "tool-call-final", "tool-call-streamed",
    "status-400", "status-401", "status-403", "status-404", "status-429", "status-500", "status-502",
    "status-503",
)  # fmt: skip
"""Scripts after which there is nothing to do: the SDK must hear through the guard what it hears without."""
