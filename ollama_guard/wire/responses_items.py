"""The output items of one Responses API response, as the client has been shown them.

Items come one after the other; each is made of parts whose text is kept, because every `done` event, and
`response.completed` at the end, repeats it whole. What is kept is thus as long as the answer.
The methods give payloads without a `sequence_number`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ollama_guard.events import Channel
from ollama_guard.wire.peek import Payload, string


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of text appears: in which item, under which field of it, and in which events."""

    item: str
    field: str
    stem: str  # the events are <stem>.delta and <stem>.done
    position: str = ""  # the name of the part's index; "" where an item has one text only
    part: str = ""  # the events around it are <part>.added and <part>.done


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "output_text": Form(
            "message", "content", "response.output_text", "content_index", "response.content_part"
        ),
        "summary_text": Form(
            "reasoning",
            "summary",
            "response.reasoning_summary_text",
            "summary_index",
            "response.reasoning_summary_part",
        ),
        "reasoning_text": Form(
            "reasoning", "content", "response.reasoning_text", "content_index", "response.content_part"
        ),
        "arguments": Form("function_call", "arguments", "response.function_call_arguments"),
        "input": Form("custom_tool_call", "input", "response.custom_tool_call_input"),
    }
)
CALLS: Mapping[str, str] = MappingProxyType({"function_call": "arguments", "custom_tool_call": "input"})
IDS = ("id", "call_id")
ITEMS: Mapping[Channel, str] = MappingProxyType({Channel.REASONING: "reasoning", Channel.CONTENT: "message"})
KINDS: Mapping[str, str] = MappingProxyType(
    {f"{form.stem}.{end}": kind for kind, form in FORMS.items() for end in ("delta", "done")}
)


@dataclass(slots=True)
class Part:
    """One text of an item.

    announced: the client was told that it begins (Ollama leaves that out for reasoning); closed: that it is
    complete; stopped: the upstream says that it is complete.
    """

    kind: str
    announced: bool = False
    stopped: bool = False
    closed: bool = False
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All that was said in it."""
        return "".join(self.pieces)

    def body(self, given: Payload | None = None) -> dict[str, Any]:
        """The part as it is in its item. `given`: as the upstream has it, with annotations of its own, which
        hold only where the client has the very same text."""
        text = self.text
        if given is not None and given.get("text") == text:
            return dict(given)
        extra: Payload = {"annotations": [], "logprobs": []} if self.kind == "output_text" else {}
        return {"type": self.kind, "text": text, **extra}


@dataclass(slots=True)
class Item:
    """One item. `body` is as it was added, and once it is done as it was done.

    told: the item as the upstream says that it is at its end, while the client's is still open.
    """

    index: int
    body: Payload
    done: bool = False
    told: Payload | None = None
    parts: list[Part] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """message, reasoning, function_call, ..."""
        return string(self.body, "type")

    @property
    def part(self) -> Part | None:
        """The part that is being written."""
        return self.parts[-1] if self.parts and not self.parts[-1].closed else None

    def added(self) -> dict[str, Any]:
        """The item begins."""
        return {"type": "response.output_item.added", "output_index": self.index, "item": self.body}

    def begin(self, kind: str) -> list[Payload]:
        """A new part begins; the one before it is ended."""
        ended = self.end_part()
        part = Part(kind, announced=bool(FORMS[kind].part))
        self.parts.append(part)
        if not part.announced:
            return ended
        return [*ended, {"type": f"{FORMS[kind].part}.added", **self._place(part), "part": part.body()}]

    def say(self, text: str) -> dict[str, Any]:
        """More text in the open part."""
        part = self.parts[-1]
        part.pieces.append(text)
        logprobs: Payload = {"logprobs": []} if part.kind == "output_text" else {}
        return {"type": f"{FORMS[part.kind].stem}.delta", **self._place(part), "delta": text, **logprobs}

    def end_part(self) -> list[Payload]:
        """The open part, if there is one, is complete."""
        part = self.part
        if part is None:
            return []
        part.closed = True
        form = FORMS[part.kind]
        logprobs: Payload = {"logprobs": []} if part.kind == "output_text" else {}
        name = "text" if form.position else form.field
        ended: list[Payload] = [
            {"type": f"{form.stem}.done", **self._place(part), name: part.text, **logprobs}
        ]
        if part.announced:
            ended.append({"type": f"{form.part}.done", **self._place(part), "part": part.body()})
        return ended

    def end(self) -> list[Payload]:
        """The item is complete."""
        ended = self.end_part()
        self.body, self.done = self.whole(), True
        return [*ended, {"type": "response.output_item.done", "output_index": self.index, "item": self.body}]

    def whole(self, status: str = "completed") -> Payload:
        """The item with all the text that the client has, whatever the upstream takes it to be."""
        if self.done:
            return self.body
        ids = {name: self.body[name] for name in IDS if name in self.body}
        body = {**self.body, **(self.told or {}), **ids}
        if "status" in body and self.told is None:
            body["status"] = status
        for name in {FORMS[part.kind].field: None for part in self.parts}:
            parts = [part for part in self.parts if FORMS[part.kind].field == name]
            body[name] = self._texts(parts, body.get(name))
        said = self._reasoning(self.told or {})
        if self.kind == "reasoning" and said != (mine := self._reasoning(body)):
            # In Ollama's manner the plain text, which it reads back as thinking in a later turn.
            body["encrypted_content"] = mine
        return body

    @staticmethod
    def _texts(parts: Sequence[Part], told: Any) -> Any:
        if not FORMS[parts[0].kind].position:
            return parts[0].text
        same = isinstance(told, list) and len(told) == len(parts)
        return [
            part.body(was if isinstance(was, dict) else None)
            for part, was in zip(parts, told if same else [None] * len(parts), strict=True)
        ]

    @staticmethod
    def _reasoning(body: Payload) -> str:
        texts = [*_list(body.get("summary")), *_list(body.get("content"))]
        return "".join(string(text, "text") for text in texts if isinstance(text, dict))

    def _place(self, part: Part) -> dict[str, Any]:
        form = FORMS[part.kind]
        place = {"item_id": self.body.get("id"), "output_index": self.index}
        if form.position:  # always of the last part: earlier ones are ended before another begins
            place[form.position] = sum(FORMS[other.kind].field == form.field for other in self.parts) - 1
        return place


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
