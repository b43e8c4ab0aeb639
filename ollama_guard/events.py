"""The neutral vocabulary that every dialect is read into. Frozen values: msgspec's, since several are made
for each event, and a frozen dataclass takes ten times as long to make.

A dialect turns one frame into zero or more of these, in the order a reader of the stream would meet
them. What a dialect does not know yields no event: the frame stays opaque and passes untouched.
"""

from enum import StrEnum

from msgspec import Struct


class Channel(StrEnum):
    """Where generated text appears: what is thought, what is answered."""

    REASONING = "reasoning"
    CONTENT = "content"


class Text(Struct, frozen=True):
    """A delta of generated text, never empty. `choice` is the index of the alternative (OpenAI `n`)."""

    channel: Channel
    text: str
    choice: int = 0


class ToolDelta(Struct, frozen=True):
    """A piece of a tool call. `name` comes once; `arguments` is JSON text, to be joined.

    `whole` is true when this one delta carries the complete call (local Ollama always writes so).
    """

    index: int
    name: str | None
    arguments: str
    whole: bool = False
    choice: int = 0


class Finish(Struct, frozen=True):
    """The generation's own end. `reason` is normalised: stop | length | tool_calls, else Ollama's word."""

    reason: str
    choice: int = 0


class Usage(Struct, frozen=True):
    """Token counts of one attempt, as the upstream reports them."""

    prompt: int
    completion: int


class UpstreamError(Struct, frozen=True):
    """The upstream says, or by its shape shows, that the generation failed. `message` may be empty."""

    message: str


class Done(Struct, frozen=True):
    """The protocol's terminator (`[DONE]`, `"done": true`, `message_stop`)."""


Event = Text | ToolDelta | Finish | Usage | UpstreamError | Done
