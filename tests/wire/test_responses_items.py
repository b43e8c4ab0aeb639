"""Output items as the client has been shown them."""

import pytest

from ollama_guard.wire.responses_items import Item

MESSAGE = {"id": "m", "type": "message", "status": "in_progress", "role": "assistant", "content": []}
REASONING = {"id": "r", "type": "reasoning", "summary": []}


def test_a_message_tells_its_text_whole_when_it_ends() -> None:
    item = Item(2, MESSAGE)
    item.begin("output_text")
    assert item.say("The ")["content_index"] == 0
    item.say("sky")
    text_done, part_done, item_done = item.end()
    assert (text_done["type"], text_done["text"], text_done["output_index"]) == (
        "response.output_text.done",
        "The sky",
        2,
    )
    assert part_done["part"]["text"] == item_done["item"]["content"][0]["text"] == "The sky"
    assert item_done["item"]["status"] == "completed"
    assert item.done


def test_a_second_part_ends_the_first_and_has_the_next_index() -> None:
    item = Item(0, REASONING)
    item.begin("summary_text")
    item.say("One")
    begun = item.begin("summary_text")
    assert [payload["type"].rpartition(".")[2] for payload in begun] == ["done", "done", "added"]
    assert item.say("Two")["summary_index"] == 1


def test_summary_and_content_are_counted_apart() -> None:
    item = Item(0, REASONING)
    item.begin("summary_text")
    item.begin("reasoning_text")
    assert item.say("Hm")["content_index"] == 0


@pytest.mark.parametrize(
    ("kind", "name", "event"),
    [
        ("function_call", "arguments", "response.function_call_arguments.done"),
        ("custom_tool_call", "input", "response.custom_tool_call_input.done"),
    ],
)
def test_a_call_tells_its_arguments_whole(kind: str, name: str, event: str) -> None:
    item = Item(0, {"id": "c", "type": kind, "call_id": "x", name: ""})
    item.begin(name)
    item.say("{}")
    done, item_done = item.end()
    assert (done["type"], done[name], item_done["item"][name]) == (event, "{}", "{}")


def test_what_the_upstream_tells_of_the_very_same_text_is_kept() -> None:
    part = {"type": "output_text", "text": "sky", "annotations": [{"url": "u"}]}
    item = Item(0, MESSAGE, told={**MESSAGE, "id": "other", "status": "incomplete", "content": [part]})
    item.begin("output_text")
    item.say("sky")
    whole = item.whole()
    assert (whole["id"], whole["status"], whole["content"]) == ("m", "incomplete", [part])


def test_what_the_upstream_tells_of_another_text_is_not() -> None:
    part = {"type": "output_text", "text": "the sky", "annotations": [{"url": "u"}]}
    item = Item(0, MESSAGE, told={**MESSAGE, "content": [part]})
    item.begin("output_text")
    item.say("sky")
    assert item.whole()["content"] == [
        {"type": "output_text", "text": "sky", "annotations": [], "logprobs": []}
    ]


def test_reasoning_that_another_wrote_an_end_to_keeps_its_seal_only_if_it_is_the_same() -> None:
    told = {**REASONING, "summary": [{"type": "summary_text", "text": "so"}], "encrypted_content": "sealed"}
    for said, sealed in (("so", "sealed"), ("Hm, so", "Hm, so")):
        item = Item(0, REASONING, told=told)
        item.begin("summary_text")
        item.say(said)
        assert item.whole()["encrypted_content"] == sealed


def test_an_item_that_is_not_done_is_incomplete_in_a_failed_response() -> None:
    item = Item(0, MESSAGE)
    item.begin("output_text")
    item.say("sky")
    assert item.whole(status="incomplete")["status"] == "incomplete"
    assert not item.done
