"""How Ollama writes a generation in each of its six dialects. One module a family, one class a path."""

from mocks.ask import Ask
from mocks.dialects.anthropic_messages import Messages
from mocks.dialects.base import Call, Chunk, Meter, Part, Voice, error_body
from mocks.dialects.native import Chat, Generate
from mocks.dialects.openai_chat import ChatCompletions
from mocks.dialects.openai_completions import Completions
from mocks.dialects.openai_responses import Responses

PATHS: dict[str, type[Voice]] = {
    "/api/chat": Chat,
    "/api/generate": Generate,
    "/v1/chat/completions": ChatCompletions,
    "/v1/completions": Completions,
    "/v1/responses": Responses,
    "/v1/messages": Messages,
}

# Where a call's arguments may come in pieces.
STREAMED_ARGUMENTS = frozenset({"/v1/chat/completions", "/v1/responses", "/v1/messages"})

__all__ = ["PATHS", "STREAMED_ARGUMENTS", "Call", "Chunk", "Meter", "Part", "Voice", "error_body", "voice"]


def voice(ask: Ask) -> Voice:
    """The writer for a request's dialect."""
    return PATHS[ask.path](ask)
