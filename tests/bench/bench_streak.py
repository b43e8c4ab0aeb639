"""What looking for a streak costs on a long history: `python -m tests.bench.bench_streak`.

2,000 messages and 4 MB: as it is in an agent's session (other calls each time), and at its worst (the same
call with the same 4 KB result a thousand times over). Milliseconds for the look, and for reading the request.
"""

import json
import time
from typing import Any

from ollama_guard.detect.streak import StreakRules, find
from ollama_guard.wire.table import DIALECTS

ROUNDS = 1000
RESULT = "x" * 4000
TOOLS = [{"type": "function", "function": {"name": "read"}, "name": "read", "input_schema": {}}]


def chat(same: bool, *, native: bool) -> dict[str, Any]:
    """A history in the form of /v1/chat/completions, or of /api/chat."""
    messages: list[Any] = [{"role": "user", "content": "Go."}]
    for n in range(ROUNDS):
        arguments = {"path": "a" if same else str(n)}
        function = {"name": "read", "arguments": arguments if native else json.dumps(arguments)}
        messages.append(
            {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{n}", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": RESULT})
    return {"messages": messages}


def responses(same: bool) -> dict[str, Any]:
    """A history in the form of /v1/responses."""
    items: list[Any] = [{"role": "user", "content": "Go."}]
    for n in range(ROUNDS):
        arguments = json.dumps({"path": "a" if same else str(n)})
        items.append({"type": "function_call", "call_id": f"c{n}", "name": "read", "arguments": arguments})
        items.append({"type": "function_call_output", "call_id": f"c{n}", "output": RESULT})
    return {"input": items}


def anthropic(same: bool) -> dict[str, Any]:
    """A history in the form of /v1/messages."""
    messages: list[Any] = [{"role": "user", "content": "Go."}]
    for n in range(ROUNDS):
        call = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"path": "a" if same else str(n)}}
        messages.append({"role": "assistant", "content": [call]})
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": RESULT}
        messages.append({"role": "user", "content": [result]})
    return {"messages": messages, "max_tokens": 100}


def main() -> None:
    """Print the table."""
    makers = {
        "openai-chat": lambda same: chat(same, native=False),
        "ollama-chat": lambda same: chat(same, native=True),
        "openai-responses": responses,
        "anthropic-messages": anthropic,
    }
    for dialect in DIALECTS:
        if dialect.name not in makers:
            continue
        for same in (False, True):
            body = json.dumps({"model": "m", "tools": TOOLS, **makers[dialect.name](same)}).encode()
            begun = time.perf_counter()
            request = dialect.request(body)
            read = time.perf_counter()
            assert request is not None
            streak = find(dialect.history(request), StreakRules())
            looked = time.perf_counter()
            kind = "same call" if same else "other calls"
            found = streak.count if streak else 0
            look_ms, read_ms = (looked - read) * 1e3, (read - begun) * 1e3
            size = f"{len(body) / 1e6:.1f} MB"
            print(
                f"{dialect.name:20} {kind:12} {size}: look {look_ms:6.2f} ms, read {read_ms:6.1f} ms, {found}"
            )


if __name__ == "__main__":
    main()
