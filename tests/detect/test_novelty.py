import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.asked import Asked
from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.novelty import TOKEN, Novelty, _tokens
from ollama_guard.detect.page import Page
from ollama_guard.detect.rules import BALANCED, Bar, WatchRules
from ollama_guard.detect.run import Goal
from ollama_guard.detect.tracker import Tracker
from ollama_guard.detect.watch import Watch
from tests.detect.material import HEALTHY, deltas, words

FILLERS = [
    "OK. ",
    "Writing. ",
    "Let me write. ",
    "Go. ",
    "Now. ",
    "I will write it. ",
    "Here goes. ",
    "Wait. ",
]
THOUGHTS = [
    "Wait, let me reconsider the problem from the start. ",
    "Hmm, the answer should be the sum of both parts. ",
    "Actually, I think that the first approach was right. ",
    "But the problem says that each part counts once. ",
    "Let me check this again to be sure about it. ",
    "So we need to count the parts that are in both. ",
]

MEASURE = Measure(BALANCED.content, Asked(""))


def first(text: str, channel: str, rules: WatchRules = BALANCED) -> Finding | None:
    watch = Watch(rules)
    for delta in deltas(text, 16):
        finding = watch.feed(channel, delta)
        if finding is not None:
            return finding
    return None


def shuffled(parts: list[str], count: int) -> str:
    """In random order, but never the same twice in a row (that would be another family's matter)."""
    dice, out = random.Random(4), [""]
    for _ in range(count):
        out.append(dice.choice([part for part in parts if part not in out[-2:]]))
    return "".join(out)


def test_fillers_in_random_order_are_caught_in_reasoning() -> None:
    finding = first(words(2000) + shuffled(FILLERS, 4000), "reasoning")
    assert finding is not None
    assert finding.kind is Kind.NOVELTY
    assert finding.onset > 2000
    assert "had been said at least 4 times before" in finding.detail


def test_the_same_thoughts_in_random_order_are_caught_in_reasoning() -> None:
    finding = first(words(2000) + shuffled(THOUGHTS, 1500), "reasoning")
    assert finding is not None
    assert finding.kind is Kind.NOVELTY


@pytest.mark.parametrize(
    "parts", [FILLERS, THOUGHTS, [f"{n}. **{part}**\n" for n, part in enumerate(THOUGHTS)]]
)
def test_text_before_it_does_not_move_the_verdict(parts: list[str]) -> None:
    text, found = "\n" + shuffled(parts, 2500), set()
    for before in (2000, 2001, 2033, 2063, 3100):
        finding = first(words(before) + text, "reasoning")
        assert finding is not None
        found.add((finding.at - before, finding.onset - before, finding.detail.partition(",")[2]))
    assert len(found) == 1


def test_content_is_given_more_room_than_reasoning() -> None:
    text = shuffled(THOUGHTS, 1500)
    content, reasoning = first(text, "content"), first(text, "reasoning")
    assert content is not None
    assert reasoning is not None
    assert content.at > reasoning.at


def test_long_prose_is_never_stale() -> None:
    assert first(words(150_000), "reasoning") is None


def test_what_repeats_by_nature_is_not_stale() -> None:
    for name in (
        "lyrics with refrains",
        "cases worked through",
        "test cases",
        "JSON records",
        "a log",
        "a litany",
    ):
        assert first(HEALTHY[name], "reasoning" if name == "cases worked through" else "content") is None, (
            name
        )


def test_a_text_read_again_once_or_twice_is_not_stale() -> None:
    part = words(6000, 3)
    assert first(part + "\n\n" + words(500, 4) + part + words(700, 5) + part[:4000], "reasoning") is None


def test_a_word_longer_than_any_word_does_no_harm() -> None:
    assert first("x".join(words(300).split(" ")) * 1 + "ab" * 40 + words(3000, 7), "reasoning") is None


def test_encoded_data_and_indented_documentation_are_no_prose() -> None:
    dice = random.Random(5)
    names = ["AAAA", "CAAC", "EAAE", "GAAG", "IACD", "KAAK"]
    mappings = ",".join(dice.choice(names) for _ in range(9000))
    assert first(words(500) + mappings, "reasoning") is None
    documented = shuffled([f"        {thought.strip()}\n" for thought in THOUGHTS], 1500)
    assert first(words(500) + "\n" + documented, "reasoning") is None


def test_chinese_without_blanks_is_prose() -> None:
    parts = [
        "等等，让我再想一想。",
        "其实第一种方法是对的。",
        "不过题目说每个部分只算一次。",
        "再检查一遍答案。",
    ]
    finding = first(words(500) + shuffled(parts * 2, 4000), "reasoning")
    assert finding is not None


@pytest.mark.parametrize(
    "form", ["{n}. {text}\n", "{n}) {text}\n", "- **Note:** {text}\n", "**{text}** ", "> {n}. {text}\n"]
)
def test_numbers_of_a_list_and_emphasis_are_nothing_new(form: str) -> None:
    dice = random.Random(6)
    said = "".join(form.format(n=n, text=dice.choice(THOUGHTS).strip()) for n in range(1, 1500))
    finding = first(words(500) + "\n\n" + said, "reasoning", replace(BALANCED, drift=False))
    assert finding is not None
    assert finding.kind is Kind.NOVELTY
    assert finding.at < 20_000


def test_numbers_in_the_text_are_something_new() -> None:
    verses = [
        f"Now {n} bottles hang on the wall, {n} bottles of beer. Take one down, {n - 1} bottles are left.\n"
        for n in range(99, 0, -1)
    ]
    text = "".join(verses)
    watch = Watch(replace(BALANCED, drift=False))  # which would be there before
    assert [finding for delta in deltas(text, 16) if (finding := watch.feed("content", delta))] == []


def test_prose_in_tool_arguments_is_given_the_most_room() -> None:
    text = shuffled(THOUGHTS, 2500)
    found = {channel: first(words(500) + text, channel) for channel in ("reasoning", "content", "tool:0")}
    places = [finding.at for finding in found.values() if finding is not None]
    assert len(places) == 3
    assert places == sorted(places)


def counted(tokens: list[str], times: int) -> int:
    """How many of the last 400 phrases had stood there so often before, one after the other."""
    known, seen = [], dict[tuple[str, ...], int]()
    for phrase in zip(["", "", "", *tokens], ["", "", *tokens], ["", *tokens], tokens, strict=False):
        known.append(seen.get(phrase, 0) >= times)
        seen[phrase] = seen.get(phrase, 0) + 1
    return sum(known[-400:])


@pytest.mark.parametrize("vocabulary", ["a b", "ab cd ef", "one two three 4 , (", "是 的 , one", "猫 two"])
@pytest.mark.parametrize("block", [7, 64, 5000])
def test_a_phrase_is_known_from_its_own_place_on_however_often_a_block_has_it(
    vocabulary: str, block: int
) -> None:
    dice = random.Random(block)
    tokens = [dice.choice(vocabulary.split()) for _ in range(900)]
    text = " ".join(tokens) + " "
    novelty = Novelty(Bar(2.0, 3, 99.0), Page(), MEASURE)
    for begin in range(0, len(text), block):
        novelty.feed(text[begin : begin + block])
    assert novelty._sum == counted(tokens, 3)


@pytest.mark.parametrize(
    "before", ["\U0001f600\U0001f602 ", "İb", "ab", "ß", "12 ", "是的", "(a) ", "no-way-"]
)
def test_text_that_turns_into_prose_is_prose_at_the_same_character_whatever_was_before(before: str) -> None:
    text = (before * 4000)[:4000] + "".join(THOUGHTS) * 12 + (before * 2000)[:3000] + "等等，让我再想。" * 400
    page = shown(text)
    subject, plain = Novelty(Bar(0.5, 2, 1.0), page, MEASURE), Novelty(Bar(0.5, 2, 1.0), page, MEASURE)
    verdicts = []
    for begin in range(0, len(text), 64):
        plain._hopeless = 0
        verdicts.append((subject.feed(text[begin : begin + 64]), plain.feed(text[begin : begin + 64])))
    assert [one for one, _ in verdicts] == [two for _, two in verdicts]
    assert any(one for one, _ in verdicts)


def shown(text: str) -> Page:
    """All of a text at once: what is looked at is told by offsets."""
    page = Page()
    tracker = Tracker(lambda _: Goal(1 << 40, 1 << 40), lambda _: 1 << 40, window=25_000, max_period=12_000)
    page.show(tracker)
    tracker.feed(text)
    return page


@given(st.text("啊吧 \u3000\n_-。12aб²½ßi\u0307😀가", min_size=1, max_size=80))
def test_tokens_found_by_the_run_are_those_found_one_by_one(text: str) -> None:
    assert _tokens(text) == TOKEN.findall(text)
