"""Which dialect speaks at which path. A path that is not here is relayed untouched."""

from ollama_guard.wire.anthropic_messages import AnthropicMessages
from ollama_guard.wire.dialect import Dialect
from ollama_guard.wire.ollama_chat import OllamaChat
from ollama_guard.wire.ollama_generate import OllamaGenerate
from ollama_guard.wire.openai_chat import OpenAIChat
from ollama_guard.wire.openai_completions import OpenAICompletions
from ollama_guard.wire.openai_responses import OpenAIResponses

DIALECTS: tuple[Dialect, ...] = (
    OpenAIChat(),
    OpenAICompletions(),
    OpenAIResponses(),
    AnthropicMessages(),
    OllamaChat(),
    OllamaGenerate(),
)

_BY_PATH = {dialect.path: dialect for dialect in DIALECTS}


def dialect_for(method: str, path: str) -> Dialect | None:
    """The dialect of a request, by its exact path; generations are asked for by POST alone."""
    return _BY_PATH.get(path) if method == "POST" else None
