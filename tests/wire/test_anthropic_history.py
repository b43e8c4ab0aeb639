"""Tool calls in the conversation of a /v1/messages request."""

import json
from typing import Any

from ollama_guard.history import Call, Result, Round, Said
from ollama_guard.wire.anthropic_history import rounds
from ollama_guard.wire.anthropic_messages import AnthropicMessages
from ollama_guard.wire.dialect import Refused, Reissue

ASK = {"role": "user", "content": "Weather?"}


def use(ident: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": ident, "name": "look", "input": given}


def result(ident: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": ident, "content": content, **more}


def says(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_rounds_come_newest_first_with_their_results_in_order() -> None:
    messages = [
        ASK,
        says("assistant", text("I look"), use("a", at=1), use("b", at=2)),
        says("user", result("a", "one"), result("b", [text("two"), text("three")], is_error=True)),
        says("assistant", use("c", at=3)),
        says("user", result("c", None)),
    ]
    assert list(rounds(messages)) == [
        Round((Call("look", {"at": 3}, "c"),), (Result("", id="c"),)),
        Round(
            (Call("look", {"at": 1}, "a"), Call("look", {"at": 2}, "b")),
            (Result("one", id="a"), Result("two\nthree", error=True, id="b")),
        ),
        Said("Weather?"),
    ]


def test_results_in_several_messages_are_one_round() -> None:
    messages = [
        says("assistant", use("a"), use("b")),
        says("user", result("a", "one")),
        says("user", result("b", "two")),
    ]
    (only,) = rounds(messages)
    assert isinstance(only, Round)
    assert [each.text for each in only.results] == ["one", "two"]


def test_a_call_without_a_result_is_a_round_without_results() -> None:
    assert list(rounds([says("assistant", use("a"))])) == [Round((Call("look", {}, "a"),), ())]


def test_words_beside_a_result_begin_a_new_turn() -> None:
    messages = [says("assistant", use("a")), says("user", result("a", "one"), text("Go on."))]
    said, called = rounds(messages)
    assert said == Said("Go on.")
    assert isinstance(called, Round)


def test_what_claude_code_adds_to_results_is_not_said_by_the_user() -> None:
    reminder = text("<system-reminder>\nThe todo list is empty.\n</system-reminder>\n")
    messages = [says("assistant", use("a")), says("user", result("a", "one"), reminder)]
    assert [type(each) for each in rounds(messages)] == [Round]


def test_images_of_a_result_are_kept_as_they_are() -> None:
    data = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    url = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    messages = [says("assistant", use("a")), says("user", result("a", [data, url]))]
    (only,) = rounds(messages)
    assert isinstance(only, Round)
    assert only.results[0].images == ("aGk=", "https://example.org/a.png")


def test_a_picture_alone_is_said_by_the_user() -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "aGk="}}
    messages = [says("assistant", use("a")), says("user", result("a", "one")), says("user", picture)]
    assert [type(each) for each in rounds(messages)] == [Said, Round]


def test_odd_messages_are_passed_over() -> None:
    assert list(rounds([None, 3, {"role": "assistant", "content": 3}, says("assistant", None, 3), ASK])) == [
        Said("Weather?")
    ]


def rebuilt(*refused: Refused, steer: str | None = None) -> list[Any]:
    dialect = AnthropicMessages()
    request = dialect.request(json.dumps({"model": "m", "stream": True, "messages": [ASK]}).encode())
    assert request is not None
    messages: list[Any] = json.loads(dialect.rebuild(request, Reissue(refused=refused, steer=steer)))[
        "messages"
    ]
    return messages


def test_a_refused_call_becomes_a_turn_with_its_refusal_before_the_steer() -> None:
    call = Call("look", '{"at":1}', "a")
    assert rebuilt(Refused(call, "Not again."), steer="Answer now.") == [
        ASK,
        says("assistant", use("a", at=1)),
        says("user", result("a", "Not again.", is_error=True)),
        {"role": "user", "content": "Answer now."},
    ]


def test_refused_calls_without_ids_get_different_ones() -> None:
    turns = rebuilt(Refused(Call("look", {"at": 1}), "No."), Refused(Call("look", "oops"), "No."))
    first, second = turns[1]["content"][0], turns[3]["content"][0]
    assert first["id"] != second["id"]
    assert (first["input"], second["input"]) == ({"at": 1}, {})
    assert [turn["content"][0]["tool_use_id"] for turn in turns[2::2]] == [first["id"], second["id"]]


def test_the_dialect_walks_its_own_request() -> None:
    dialect = AnthropicMessages()
    request = dialect.request(json.dumps({"model": "m", "messages": [ASK]}).encode())
    assert request is not None
    assert list(dialect.history(request)) == [Said("Weather?")]
