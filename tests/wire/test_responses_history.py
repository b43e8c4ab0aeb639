"""Tool calls in the input of a /v1/responses request."""

import json
from typing import Any

from ollama_guard.history import Call, Result, Round, Said
from ollama_guard.wire.dialect import Refused, Reissue
from ollama_guard.wire.openai_responses import OpenAIResponses
from ollama_guard.wire.responses_history import rounds

ASK = {"role": "user", "content": "Weather?"}
REASONING = {"type": "reasoning", "summary": []}


def call(ident: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": ident, "name": "look", "arguments": arguments}


def output(ident: str, said: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": ident, "output": said}


def test_rounds_come_newest_first_with_their_results_in_order() -> None:
    items = [
        ASK,
        REASONING,
        call("a"),
        call("b"),
        output("a", "one"),
        output("b", "two"),
        call("c"),
        output("c", ""),
    ]
    assert list(rounds(items)) == [
        Round((Call("look", "{}", "c"),), (Result("", id="c"),)),
        Round(
            (Call("look", "{}", "a"), Call("look", "{}", "b")), (Result("one", id="a"), Result("two", id="b"))
        ),
        Said("Weather?"),
    ]


def test_a_call_without_a_result_is_a_round_without_results() -> None:
    assert list(rounds([call("a")])) == [Round((Call("look", "{}", "a"),), ())]


def test_texts_and_images_of_a_result_are_kept() -> None:
    parts = [{"type": "input_text", "text": "hot"}, {"type": "input_image", "image_url": "data:a"}, 3]
    (only,) = rounds([call("a"), output("a", parts)])
    assert isinstance(only, Round)
    assert only.results == (Result("hot", ("data:a",), id="a"),)


def test_custom_tools_count_as_well() -> None:
    made = {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "*** Begin"}
    came = {"type": "custom_tool_call_output", "call_id": "a", "output": "done"}
    assert list(rounds([made, came])) == [
        Round((Call("patch", "*** Begin", "a"),), (Result("done", id="a"),))
    ]


def test_a_message_between_ends_the_turn() -> None:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]}
    kinds = [type(each) for each in rounds([call("a"), output("a", "1"), message, ASK, None, call("b")])]
    assert kinds == [Round, Said, Round]


def rebuilt(given: Any, *refused: Refused, steer: str | None = None) -> list[Any]:
    dialect = OpenAIResponses()
    request = dialect.request(json.dumps({"model": "m", "stream": True, "input": given}).encode())
    assert request is not None
    items: list[Any] = json.loads(dialect.rebuild(request, Reissue(refused=refused, steer=steer)))["input"]
    return items


def test_a_refused_call_is_followed_by_its_refusal_before_the_steer() -> None:
    assert rebuilt([ASK], Refused(Call("look", {"at": 1}, "a"), "Not again."), steer="Answer now.") == [
        ASK,
        call("a", '{"at":1}'),
        output("a", "Not again."),
        {"role": "user", "content": "Answer now."},
    ]


def test_refused_calls_without_ids_get_different_ones() -> None:
    _, first, _, second, result = rebuilt("Weather?", *[Refused(Call("look", ""), "No.")] * 2)
    assert first["call_id"] != second["call_id"] == result["call_id"]
    assert first["arguments"] == "{}"


def test_the_dialect_walks_its_own_request() -> None:
    dialect = OpenAIResponses()
    request = dialect.request(b'{"model":"m","input":"Weather?"}')
    assert request is not None
    assert list(dialect.history(request)) == [Said("Weather?")]
