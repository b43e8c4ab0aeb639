"""What is said to a model that is asked again."""

import pytest

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.engine.policy import Wording
from ollama_guard.engine.words import CHINESE, ENGLISH, Words, words_for

LOOPED = Finding(Kind.PERIODIC, "reasoning")
LOOP = {"en": "loop", "zh": "循环"}
CALL = {"en": "tool call", "zh": "工具调用"}
LANGUAGES = pytest.mark.parametrize(("name", "words"), [("en", ENGLISH), ("zh", CHINESE)])


@LANGUAGES
@pytest.mark.parametrize("wording", Wording)
@pytest.mark.parametrize("partial", [False, True])
def test_a_call_is_as_good_as_an_answer_where_there_are_tools(
    name: str, words: Words, wording: Wording, partial: bool
) -> None:
    fault = words.what(LOOPED)
    with_tools = words.steer(wording, fault, partial=partial, tools=True)
    without = words.steer(wording, fault, partial=partial, tools=False)
    assert CALL[name] in with_tools
    assert CALL[name] not in without
    assert "{" not in with_tools + without


@LANGUAGES
@pytest.mark.parametrize("wording", Wording)
def test_an_answer_that_is_gone_on_with_is_not_blamed(name: str, words: Words, wording: Wording) -> None:
    fault = words.what(LOOPED)
    assert fault in words.steer(wording, fault, partial=False, tools=False)
    on = words.steer(wording, fault, partial=True, tools=False)
    assert fault not in on
    assert LOOP[name] in on
    assert words_for(name, "") is words


def test_the_language_is_that_of_the_conversation() -> None:
    assert words_for("auto", "请写一个关于森林里的小熊的长故事。") is CHINESE
    assert words_for("auto", "这段代码为什么不工作? print(x)") is CHINESE
    assert words_for("auto", "森の中の小さな熊の話を書いて。") is ENGLISH
    assert words_for("auto", "") is ENGLISH
