"""The one JSON body of POST /v1/messages without a stream, put together from what a stream would be given.

It is arranged as Ollama arranges it (ollama anthropic/anthropic.go, `ToMessagesResponse`): all thinking,
all text, then the calls. Where the server ran tools of its own, blocks stay in the order they came in.
"""

from typing import Any

from ollama_guard.wire.jsontext import loads
from ollama_guard.wire.peek import Payload, number, part, string

ORDER = ("thinking", "text", "tool_use")


class Block:
    """One content block, with the pieces of what it says."""

    def __init__(self, told: Payload) -> None:
        self.kind = string(told, "type")
        self._told = told
        self.pieces = [string(told, self.kind)] if self.kind in ORDER[:2] else []

    def add(self, delta: Payload) -> None:
        """A delta of this block. Citations and signatures are kept too."""
        match delta.get("type"):
            case "text_delta" | "thinking_delta":
                self.pieces.append(string(delta, self.kind))
            case "input_json_delta":
                self.pieces.append(string(delta, "partial_json"))
            case "signature_delta":
                self._told = {**self._told, "signature": string(delta, "signature")}
            case "citations_delta":
                self._told = {
                    **self._told,
                    "citations": [*(self._told.get("citations") or []), delta.get("citation")],
                }

    def joined(self, other: "Block") -> "Block":
        """This block with the words of another behind its own."""
        self.pieces += other.pieces
        return self

    def whole(self) -> dict[str, Any]:
        """The block as it is in a body."""
        said = "".join(self.pieces)
        if self.kind in ORDER[:2]:
            return {**self._told, self.kind: said}
        if not said:
            return dict(self._told)
        given = loads(said.encode("utf-8", "surrogatepass"))
        return {**self._told, "input": given if isinstance(given, dict) else {}}


class MessageBody:
    """Takes the events of a well-formed stream, gives the message."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, Block] = {}
        self._usage: dict[str, Any] = {}

    def add(self, payload: Payload) -> None:
        """One event."""
        index = number(payload, "index") or 0
        match payload.get("type"):
            case "message_start":
                self._message = dict(part(payload, "message"))
                self._usage = dict(part(self._message, "usage"))
            case "content_block_start":
                self._blocks[index] = Block(part(payload, "content_block"))
            case "content_block_delta" if index in self._blocks:
                self._blocks[index].add(part(payload, "delta"))
            case "message_delta":
                self._message |= {k: v for k, v in part(payload, "delta").items() if v is not None}
                self._usage |= part(payload, "usage")

    def message(self) -> dict[str, Any]:
        """The body as far as it is told; without content it has an empty list, where Ollama writes null."""
        blocks = self._arranged()
        return {**self._message, "content": [block.whole() for block in blocks], "usage": self._usage}

    def _arranged(self) -> list[Block]:
        blocks = list(self._blocks.values())
        if any(block.kind not in ORDER for block in blocks):
            return blocks
        arranged: list[Block] = []
        for block in sorted(blocks, key=lambda block: ORDER.index(block.kind)):
            if arranged and arranged[-1].kind == block.kind != "tool_use":
                arranged[-1].joined(block)
            else:
                arranged.append(block)
        return arranged
