"""What the client has of each alternative answer (OpenAI `n`), and chunks rewritten to go on from that."""

from collections.abc import Mapping, Sequence
from typing import Any

from ollama_guard.events import Channel, Event, Finish, ToolDelta, Usage
from ollama_guard.wire.openai_chunks import Form, choice_index, tool_deltas
from ollama_guard.wire.textparts import joined, reasoning_key, write_texts
from ollama_guard.wire.toolcalls import Indexes, pair

_KNOWN = frozenset({"index", "delta", "text", "content", "finish_reason", "logprobs", "role", "tool_calls"})


class Choices:
    """begun: choices the client has seen, and with that their role. finished: those that have ended.

    first_only: a later attempt goes on from the first choice alone, and the others stay as they are.
    """

    def __init__(self, form: Form) -> None:
        self.first_only = False
        self.begun: set[int] = set()
        self.finished: set[int] = set()
        self.reasoning = "reasoning"  # the name under which this server writes a thought
        self.tools = Indexes()
        self._form = form

    def passed(self, chunk: Mapping[str, Any]) -> None:
        """The client was given this chunk as it came."""
        for choice in listed(chunk):
            self.begun.add(choice_index(choice))
            box = choice.get("delta")
            self.reasoning = (isinstance(box, dict) and reasoning_key(box)) or self.reasoning

    def open(self) -> list[int]:
        """Choices that are still to be ended; an answer that never began has one."""
        return sorted((self.begun or {0}) - self.finished)

    def reason(self, finish: Finish) -> str:
        """A call that the client was given makes a `stop` a `tool_calls`, as Ollama has it."""
        if finish.reason == "stop" and self.tools.used(finish.choice):
            return "tool_calls"
        return finish.reason

    def begin_attempt(self) -> None:
        """What comes from now on is another attempt's."""
        self.tools.begin_attempt()
        self.first_only = bool(self.begun)

    def taken(self, choices: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those that go on what the client has."""
        return [choice for choice in choices if not (self.first_only and choice_index(choice))]

    def left_behind(self, events: Sequence[Event]) -> list[dict[str, Any]]:
        """The ends of choices that nothing goes on from, due when the first one ends."""
        if not self.first_only or not any(isinstance(each, Finish) and not each.choice for each in events):
            return []
        ended = [self.own(index, self._nothing(), "length") for index in self.open() if index]
        self.finished.update(choice["index"] for choice in ended)
        return ended

    def _nothing(self) -> dict[str, Any]:
        return {} if self._form.nested else {self._form.content: ""}

    def rewrite(self, raw: Mapping[str, Any], events: Sequence[Event]) -> tuple[dict[str, Any], bool]:
        """A choice that says what the events say, as it goes to the client, and whether that is anything."""
        choice = dict(raw)
        index = choice_index(choice)
        box = choice
        if self._form.nested:
            delta = choice.get("delta")
            box = choice["delta"] = dict(delta) if isinstance(delta, dict) else {}
        news = "role" in box and index not in self.begun
        if index in self.begun:
            box.pop("role", None)
        answer = joined(events, Channel.CONTENT, index)
        thought = joined(events, Channel.REASONING, index) if self._form.nested else ""
        if write_texts(box, self._form.content, self.reasoning, thought, answer):
            choice.pop("logprobs", None)  # they are of the tokens that were there
        news = self._calls(box, index, events) or news
        news = self._finish(choice, index, events) or news
        news = bool(news or thought or answer or choice.get("logprobs"))
        news = news or any(value for key, value in box.items() if key not in _KNOWN)
        if news:
            self.begun.add(index)
        return choice, news

    def own(self, index: int, box: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        """A choice of ours; the first of its index brings the role."""
        if not self._form.nested:
            self.begun.add(index)
            return {**box, "index": index, "finish_reason": reason}
        if index not in self.begun:
            self.begun.add(index)
            box = {"role": "assistant", **box}
        return {"index": index, "delta": box, "finish_reason": reason}

    def _finish(self, choice: dict[str, Any], index: int, events: Sequence[Event]) -> bool:
        finish = next((each for each in events if isinstance(each, Finish) and each.choice == index), None)
        if finish is None:
            choice["finish_reason"] = None
            return False
        self.finished.add(index)
        own = choice.get("finish_reason")
        if self.reason(finish) != ("tool_calls" if own == "function_call" else own):
            choice["finish_reason"] = self.reason(finish)
        return True

    def _calls(self, box: dict[str, Any], index: int, events: Sequence[Event]) -> bool:
        """Take out the calls that have no event any more, and give the others the client's indexes."""
        if "tool_calls" not in box:
            return False
        own = tool_deltas(box, index)
        entries = [call for call in box["tool_calls"] if isinstance(call, dict)] if own else []
        wanted = [each for each in events if isinstance(each, ToolDelta) and each.choice == index]
        kept = []
        for entry, said, delta in zip(entries, own, pair(own, wanted), strict=True):
            if delta is None:
                continue
            call = {**entry, "index": self.tools.place(delta)}
            if (said.name, said.arguments) != (delta.name, delta.arguments):
                changed = {"arguments": delta.arguments} | ({"name": delta.name} if delta.name else {})
                call["function"] = {**(entry.get("function") or {}), **changed}
            kept.append(call)
        if kept:
            box["tool_calls"] = kept
        else:
            del box["tool_calls"]
        return bool(kept)


def listed(chunk: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The choices of a chunk, whatever else is in their place."""
    choices = chunk.get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


def counts(usage: Usage) -> dict[str, int]:
    """Token counts as OpenAI writes them."""
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
    }


def write_usage(chunk: dict[str, Any], own: Sequence[Event], events: Sequence[Event]) -> bool:
    """Put the given counts in the place of the chunk's own, or take those out; true if it has some now."""
    usage = next((each for each in events if isinstance(each, Usage)), None)
    if usage is not None:
        had = chunk.get("usage")
        chunk["usage"] = {**(had if isinstance(had, dict) else {}), **counts(usage)}
        return True
    if any(isinstance(each, Usage) for each in own):
        del chunk["usage"]
    return False
