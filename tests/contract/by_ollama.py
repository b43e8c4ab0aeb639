"""The ollama SDK: chat and generate."""

from typing import Any

from tests.contract.asking import NATIVE_CHAT, Clients, Heard, Question, Reader, fields


def _part(part: Any, heard: Heard) -> None:
    heard.model = part.model
    box = part if hasattr(part, "response") else part.message
    heard.reasoning += box.thinking or ""
    heard.content += (part.response if box is part else box.content) or ""
    for call in getattr(box, "tool_calls", None) or []:
        heard.calls.append((call.function.name, dict(call.function.arguments)))
    if part.done:
        heard.finish = part.done_reason
        heard.usage = (part.prompt_eval_count or 0, part.eval_count or 0)


def answer(path: str, *, whole: bool) -> Reader:
    def read(clients: Clients, question: Question, heard: Heard) -> None:
        asked: Any = clients.ollama.chat if path == NATIVE_CHAT else clients.ollama.generate
        answer = asked(**fields(path, question), stream=not whole)
        for part in [answer] if whole else answer:
            _part(part, heard)

    return read


def answer_async(path: str) -> Reader:
    def read(clients: Clients, question: Question, heard: Heard) -> None:
        async def run() -> None:
            client = clients.ollama_async
            asked = client.chat if path == NATIVE_CHAT else client.generate
            async for part in await asked(**fields(path, question), stream=True):
                _part(part, heard)

        clients.runner.run(run())

    return read
