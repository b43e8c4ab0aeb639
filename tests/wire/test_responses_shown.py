"""Which items the client has, and which upstream item each one is."""

from typing import Any

from ollama_guard.wire.responses_shown import Shown
from tests.wire.ollama_responses import payloads, stream

MESSAGE = {"id": "m", "type": "message", "content": []}
CALL = ("function_call", ("look", {"at": "sky"}))


def shown(*parts: bytes) -> Shown:
    made = Shown()
    for payload in payloads(b"".join(parts)):
        made.passed(payload)
    return made


def test_passed_events_leave_the_open_item_with_its_text() -> None:
    made = shown(*stream([("reasoning", "Hm"), ("message", "The "), ("message", "sky")], end=False))
    reasoning, message = made.items
    assert (reasoning.done, message.done) == (True, False)
    assert made.open("message") is message
    assert made.open("reasoning") is None
    assert message.part is not None
    assert message.part.text == "The sky"


def test_a_call_that_shares_its_index_with_a_message_is_told_apart() -> None:
    made = shown(*stream([("message", "I look"), CALL], end=False))
    assert [(item.kind, item.index, item.done) for item in made.items] == [
        ("message", 0, False),
        ("function_call", 0, True),
    ]
    assert made.new(MESSAGE).index == 1


def test_an_id_that_was_used_before_is_changed() -> None:
    made = Shown()
    assert made.new(MESSAGE).body["id"] == "m"
    assert made.new(MESSAGE).body["id"] == "m_1"


def test_an_upstream_id_names_the_item_of_its_own_attempt() -> None:
    made = Shown()
    first = made.new(MESSAGE)
    made.begin_attempt()
    assert made.item("m") is None
    second = made.new(MESSAGE)
    assert made.item("m") is second is not first


def test_an_item_that_is_only_told_at_its_end_is_known() -> None:
    told: dict[str, Any] = {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE}
    made = Shown()
    made.passed(told)
    assert [(item.done, item.body) for item in made.items] == [(True, MESSAGE)]


def test_an_open_item_may_be_gone_on_with_by_the_next_attempt() -> None:
    made = shown(*stream([("message", "a")], end=False))
    item = made.items[0]
    item.told = MESSAGE
    assert item.part is not None
    item.part.stopped = True
    made.begin_attempt()
    assert not item.part.stopped
    assert item.told is None
