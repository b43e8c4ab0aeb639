"""What the real SDKs make of an answer: each door asks one question and says what it heard, or how it failed.

    heard = DOORS["openai chat helper"].ask(clients, Question("mock:healthy"))
    assert heard.content == HEALTHY_ANSWER and heard.fault is None

The text is what the SDK itself has put together (final message, final response) wherever it does that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anthropic
import ollama
import openai

from tests.contract import by_anthropic, by_ollama, by_openai
from tests.contract.asking import (
    CHAT,
    COMPLETIONS,
    MESSAGES,
    NATIVE_CHAT,
    NATIVE_GENERATE,
    RESPONSES,
    Clients,
    Fault,
    Heard,
    Question,
    Reader,
)

_BROKEN = ("RemoteProtocolError", "ReadError", "APIConnectionError")


@dataclass(frozen=True)
class Door:
    """One way to ask through an SDK. `whole`: not streamed."""

    name: str
    path: str
    whole: bool
    read: Reader

    def ask(self, clients: Clients, question: Question) -> Heard:
        """Ask; whatever the SDK raises is in `fault`."""
        heard = Heard()
        try:
            self.read(clients, question, heard)
        except Exception as error:
            heard.fault = _fault(error)
        return heard


def _fault(error: Exception) -> Fault:
    if isinstance(error, openai.APIStatusError | anthropic.APIStatusError):
        how = "told" if error.status_code == 200 else "status"
        return Fault(how, error.status_code, _kind(error.body), str(error))
    if isinstance(error, ollama.ResponseError):
        how = "told" if error.status_code == -1 else "status"
        return Fault(how, error.status_code, "", error.error)
    seen: BaseException | None = error
    while seen is not None:
        if type(seen).__name__ in _BROKEN:
            return Fault("broken", message=repr(error))
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, openai.APIError):
        return Fault("told", 200, error.type or "", str(error))
    return Fault(type(error).__name__, message=repr(error))


def _kind(body: Any) -> str:
    """The type of an error object: the SDKs give it bare, or in its envelope, or in two."""
    while isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    return str(body.get("type") or "") if isinstance(body, Mapping) else ""


def _doors() -> dict[str, Door]:
    found = [
        Door("openai chat", CHAT, False, by_openai.chat),
        Door("openai chat async", CHAT, False, by_openai.chat_async),
        Door("openai chat helper", CHAT, False, by_openai.chat_helper),
        Door("openai chat whole", CHAT, True, by_openai.chat_whole),
        Door("openai completions", COMPLETIONS, False, by_openai.completions),
        Door("openai completions whole", COMPLETIONS, True, by_openai.completions_whole),
        Door("openai responses", RESPONSES, False, by_openai.responses),
        Door("openai responses helper", RESPONSES, False, by_openai.responses_helper),
        Door("openai responses whole", RESPONSES, True, by_openai.responses_whole),
        Door("anthropic messages", MESSAGES, False, by_anthropic.messages),
        Door("anthropic messages helper", MESSAGES, False, by_anthropic.messages_helper),
        Door("anthropic messages helper async", MESSAGES, False, by_anthropic.messages_helper_async),
        Door("anthropic messages whole", MESSAGES, True, by_anthropic.messages_whole),
        Door("ollama chat", NATIVE_CHAT, False, by_ollama.answer(NATIVE_CHAT, whole=False)),
        Door("ollama chat async", NATIVE_CHAT, False, by_ollama.answer_async(NATIVE_CHAT)),
        Door("ollama chat whole", NATIVE_CHAT, True, by_ollama.answer(NATIVE_CHAT, whole=True)),
        Door("ollama generate", NATIVE_GENERATE, False, by_ollama.answer(NATIVE_GENERATE, whole=False)),
        Door("ollama generate async", NATIVE_GENERATE, False, by_ollama.answer_async(NATIVE_GENERATE)),
        Door("ollama generate whole", NATIVE_GENERATE, True, by_ollama.answer(NATIVE_GENERATE, whole=True)),
    ]
    return {door.name: door for door in found}


DOORS = _doors()

MAIN = [
    door
    for door in DOORS.values()
    if door.name.endswith(("whole", "helper"))
    or door.name in ("openai completions", "ollama chat", "ollama generate")
]
"""One door for each path, streaming and not: the one that joins the message itself, if there is one."""
