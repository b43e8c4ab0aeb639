"""The official SDKs as judges of a stream, fed from memory."""

from importlib import import_module
from typing import Any

import anthropic
import openai


def _transport(client_class: type, body: bytes, status: int, media_type: str) -> Any:
    # The SDKs stand on httpx or, later, on httpx2; a transport must be of the same package.
    http_client = next(base for base in client_class.__mro__ if base.__module__.startswith("httpx"))
    http: Any = import_module(http_client.__module__.partition(".")[0])
    response = {"headers": {"content-type": media_type}, "content": body}
    return client_class(transport=http.MockTransport(lambda request: http.Response(status, **response)))


def claude(body: bytes, *, status: int = 200, media_type: str = "text/event-stream") -> anthropic.Anthropic:
    """An Anthropic client whose every request is answered with these bytes."""
    http_client = _transport(anthropic.DefaultHttpxClient, body, status, media_type)
    return anthropic.Anthropic(
        api_key="none", base_url="http://guard", http_client=http_client, max_retries=0
    )


def gpt(body: bytes, *, status: int = 200, media_type: str = "text/event-stream") -> openai.OpenAI:
    """An OpenAI client whose every request is answered with these bytes."""
    http_client = _transport(openai.DefaultHttpxClient, body, status, media_type)
    return openai.OpenAI(api_key="none", base_url="http://guard/v1", http_client=http_client, max_retries=0)


def message(body: bytes) -> Any:
    """What the Anthropic SDK accumulates from a stream."""
    ask = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}
    with claude(body) as client, client.messages.stream(**ask) as stream:  # type: ignore[arg-type]
        return stream.get_final_message()


def response(body: bytes) -> Any:
    """What the OpenAI SDK accumulates from a Responses stream."""
    with gpt(body) as client, client.responses.stream(model="m", input="hi") as stream:
        return stream.get_final_response()
