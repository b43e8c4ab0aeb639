"""Renders a generation as Ollama writes it on its chat, completions, /api/chat and /api/generate routes."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from ollama_guard.events import Channel, Done, Event, Finish, Text, ToolDelta, Usage
from ollama_guard.wire.dialect import Dialect, Request, Session
from ollama_guard.wire.frame import Frame
from ollama_guard.wire.framing import Framer
from ollama_guard.wire.ollama_chat import OllamaChat
from ollama_guard.wire.ollama_generate import OllamaGenerate
from ollama_guard.wire.openai_chat import OpenAIChat
from ollama_guard.wire.openai_completions import OpenAICompletions

THINK, SAY = Channel.REASONING, Channel.CONTENT
STOP = (Finish("stop"), Usage(31, 54), Done())

ALL: tuple[Dialect, ...] = (OpenAIChat(), OpenAICompletions(), OllamaChat(), OllamaGenerate())


def request(dialect: Dialect, **fields: Any) -> Request:
    talk = {"messages": [{"role": "user", "content": "Why?"}]}
    content = talk if "chat" in dialect.name else {"prompt": "Why?"}
    made = dialect.request(json.dumps({"model": "demo:8b", **content, "stream": True, **fields}).encode())
    assert made is not None
    return made


def go(value: Any) -> bytes:
    """JSON as Go writes it: HTML escapes, U+0085 raw."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode()


def sse(value: Any) -> bytes:
    return b"data: " + go(value) + b"\n\n"


def chat(
    events: Sequence[Event], *, ident: str = "chatcmpl-417", created: int = 1790000000, model: str = "demo:8b"
) -> bytes:
    head = {
        "id": ident,
        "object": "chat.completion.chunk",
        "created": created,
        "model": model,
        "system_fingerprint": "fp_ollama",
    }
    out = b""
    role: dict[str, Any] = {"role": "assistant"}
    for event in events:
        reason = None
        delta: dict[str, Any]
        if isinstance(event, Text):
            delta = (
                {"content": event.text} if event.channel is SAY else {"content": "", "reasoning": event.text}
            )
        elif isinstance(event, ToolDelta):
            delta = {"content": "", "tool_calls": [_openai_call(event)]}
        elif isinstance(event, Finish):
            delta, reason = {}, event.reason
        elif isinstance(event, Usage):
            out += sse({**head, "choices": [], "usage": _usage(event)})
            continue
        else:
            out += b"data: [DONE]\n\n"
            continue
        out += sse({**head, "choices": [{"index": 0, "delta": {**role, **delta}, "finish_reason": reason}]})
        role = {}
    return out


def completions(
    events: Sequence[Event], *, ident: str = "cmpl-88", created: int = 1790000000, model: str = "demo:8b"
) -> bytes:
    """With include_usage, so that every chunk has an all-zero one."""
    zero = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    out = b""
    for n, event in enumerate(events):
        tail = {"model": model, "system_fingerprint": "fp_ollama"}
        head = {"id": ident, "object": "text_completion", "created": created + n}
        if isinstance(event, Usage):
            out += sse({**head, "choices": [], **tail, "usage": _usage(event)})
        elif isinstance(event, Done):
            out += b"data: [DONE]\n\n"
        else:
            text = event.text if isinstance(event, Text) and event.channel is SAY else ""
            reason = event.reason if isinstance(event, Finish) else None
            choice = {"text": text, "index": 0, "finish_reason": reason}
            out += sse({**head, "choices": [choice], **tail, "usage": zero})
    return out


def native(events: Sequence[Event], *, nested: bool = True, model: str = "demo:8b", second: int = 0) -> bytes:
    """Each event a line of its own, but for the ending, which is one."""
    out = b""
    line: dict[str, Any]
    ending: dict[str, Any] = {}
    for n, event in enumerate(events):
        head = {"model": model, "created_at": f"2026-08-22T10:{second:02}:{n % 60:02}.12Z"}
        box: dict[str, Any] = {"content": ""} if nested else {"response": ""}
        if isinstance(event, Text):
            box |= {next(iter(box)): event.text} if event.channel is SAY else {"thinking": event.text}
        elif isinstance(event, ToolDelta):
            function = {"index": event.index, "name": event.name, "arguments": json.loads(event.arguments)}
            box |= {"tool_calls": [{"id": f"call_{event.index}", "function": function}]}
        elif isinstance(event, Finish):
            ending |= {"done_reason": event.reason}
            continue
        elif isinstance(event, Usage):
            ending |= {"prompt_eval_count": event.prompt, "eval_count": event.completion}
            continue
        line = {**head, "message": {"role": "assistant", **box}} if nested else {**head, **box}
        line |= (
            {"done": True, **ending, "total_duration": 910000000}
            if isinstance(event, Done)
            else {"done": False}
        )
        out += go(line) + b"\n"
    return out


def generate(events: Sequence[Event], *, model: str = "demo:8b", second: int = 0) -> bytes:
    return native(events, nested=False, model=model, second=second)


WRITERS: dict[str, Callable[..., bytes]] = {
    "openai-chat": chat,
    "openai-completions": completions,
    "ollama-chat": native,
    "ollama-generate": generate,
}


def frames(dialect: Dialect, stream: bytes) -> list[Frame]:
    framer = Framer(dialect.framing)
    return [*framer.feed(stream), *framer.close()]


def read(session: Session, found: Sequence[Frame]) -> list[Event]:
    session.begin_attempt()
    return [event for frame in found for event in session.read(frame)]


def payloads(stream: bytes) -> list[Any]:
    """Every JSON value of an SSE or NDJSON stream of ours, in order."""
    lines = (line.removeprefix(b"data: ") for line in stream.split(b"\n"))
    return [json.loads(line) for line in lines if line.startswith(b"{")]


def _usage(usage: Usage) -> dict[str, int]:
    total = usage.prompt + usage.completion
    return {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion, "total_tokens": total}


def _openai_call(event: ToolDelta) -> dict[str, Any]:
    call: dict[str, Any] = {"index": event.index}
    if event.name is not None:
        call = {"id": f"call_{event.index}", "index": event.index, "type": "function"}
    function = {"arguments": event.arguments} | ({"name": event.name} if event.name is not None else {})
    return {**call, "function": function}


words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8) | st.sampled_from(
    ["\u2028", "\u0085", "<think>", "}\n\n"]
)
texts = st.builds(Text, st.sampled_from(Channel), words)


@st.composite
def generations(draw: st.DrawFn, *, thinks: bool = True, calls: bool = True) -> list[Event]:
    """The events of a whole answer."""
    out: list[Event] = list(draw(st.lists(texts, max_size=6)))
    if not thinks:
        out = [event for event in out if isinstance(event, Text) and event.channel is SAY]
    called = draw(st.integers(0, 2)) if calls else 0
    for index in range(called):
        arguments = json.dumps(
            draw(st.dictionaries(words, words, max_size=2)), separators=(",", ":"), ensure_ascii=False
        )
        out.append(ToolDelta(index, "look", arguments, whole=True))
    reason = "tool_calls" if called and calls else draw(st.sampled_from(["stop", "length"]))
    return [*out, Finish(reason), Usage(draw(st.integers(1, 99)), draw(st.integers(1, 99))), Done()]
