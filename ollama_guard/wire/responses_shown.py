"""What the client has been shown of a Responses API response: its items, and which upstream item each one is.

Items are told apart by their id, never by `output_index`: Ollama gives a call the index of the message
before it, and leaves that message open.
"""

from ollama_guard.wire.peek import Payload, number, part, string
from ollama_guard.wire.responses_items import FORMS, KINDS, Item

IDS = ("id", "call_id")
PARTS_ADDED = frozenset(f"{form.part}.added" for form in FORMS.values() if form.part)
PARTS_DONE = frozenset(f"{form.part}.done" for form in FORMS.values() if form.part)


class Shown:
    """The items, in order; the last one may be open."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._of_attempt: dict[str, Item] = {}
        self._taken: set[str] = set()

    def begin_attempt(self) -> None:
        """Ids that come now are another attempt's; an item that is open may be gone on with."""
        self._of_attempt.clear()
        if self.items and not self.items[-1].done:
            self.items[-1].told = None
            if part := self.items[-1].part:
                part.stopped = False

    def item(self, ident: str) -> Item | None:
        """The client's item for an item of this attempt, while it is not done."""
        item = self._of_attempt.get(ident)
        return None if item is None or item.done else item

    def open(self, kind: str) -> Item | None:
        """The last item, if it is of this kind and not done."""
        last = self.items[-1] if self.items else None
        return last if last and not last.done and last.kind == kind else None

    def new(self, told: Payload) -> Item:
        """An item at the next index. `told` is the upstream's; an id that was used before is changed."""
        index = max((item.index for item in self.items), default=-1) + 1
        body = dict(told)
        for name in IDS:  # Ollama's ids are random numbers of few digits
            ident = string(told, name)
            if ident in self._taken:
                body[name] = f"{ident}_{index}"
        return self._add(string(told, "id"), Item(index, body))

    def passed(self, payload: Payload) -> None:
        """The client has this event as the upstream wrote it."""
        kind = string(payload, "type")
        if kind in KINDS:  # nearly every event
            if item := self.item(string(payload, "item_id")):
                self._passed_text(item, kind, payload)
        elif kind == "response.output_item.added":
            self._told(payload)
        elif kind == "response.output_item.done":
            body = part(payload, "item")
            done = self._of_attempt.get(string(body, "id")) or self._told(payload)
            done.body, done.done = body, True
        elif kind in PARTS_ADDED:
            text, item = string(part(payload, "part"), "type"), self.item(string(payload, "item_id"))
            if item and text in FORMS:
                item.begin(text)

    @staticmethod
    def _passed_text(item: Item, kind: str, payload: Payload) -> None:
        if kind.endswith(".done"):
            if item.part:
                item.part.closed = True
            return
        if item.part is None:
            item.begin(KINDS[kind])
            item.parts[-1].announced = False  # Ollama does not announce reasoning
        item.parts[-1].pieces.append(string(payload, "delta"))

    def _told(self, payload: Payload) -> Item:
        body = part(payload, "item")
        return self._add(string(body, "id"), Item(number(payload, "output_index") or 0, body))

    def _add(self, ident: str, item: Item) -> Item:
        self.items.append(item)
        self._of_attempt[ident] = item
        self._taken |= {string(item.body, name) for name in IDS} - {""}
        return item
