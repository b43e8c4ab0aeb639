"""Channels of whose text the detectors see a part."""

import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.ignored import Ignored, Sieve
from ollama_guard.detect.rules import BALANCED, WatchRules
from ollama_guard.detect.watch import Watch
from tests.detect.material import HEALTHY, LOOPS, deltas, words


def ignoring(ignored: Ignored, **more: object) -> WatchRules:
    return replace(
        BALANCED,
        content=replace(BALANCED.content, ignored=ignored, **more),  # type: ignore[arg-type]
        tool=replace(BALANCED.tool, ignored=ignored),
    )


def first(text: str, rules: WatchRules, channel: str = "content", size: int = 4) -> Finding | None:
    watch = Watch(rules)
    for delta in deltas(text, size):
        finding = watch.feed(channel, delta)
        if finding is not None:
            return finding
    return None


SENTENCE = "I am still thinking about it. "
BULLETS = ("-", "*", "+", "o", "#")


def scattered(unit: str, marks: tuple[str, ...], count: int) -> str:
    """The unit again and again, with another mark in another place each time."""
    out = ""
    for turn in range(count):
        cut = (turn * 7) % len(unit)
        out += unit[:cut] + marks[turn % len(marks)] * (1 + turn * turn % 4) + unit[cut:]
    return out


def test_ignored_characters_do_not_hide_a_repetition() -> None:
    before = words(300) + "\n"
    text = before + scattered(SENTENCE, ("5", "07", "118"), 40)
    plain = replace(BALANCED, variant=False, drift=False, novelty=False)
    assert first(text, plain) is None
    found = first(text, replace(ignoring(Ignored(chars="0123456789")), variant=False, drift=False))
    assert found is not None
    assert found.kind is Kind.PERIODIC
    assert found.channel == "content"
    assert found.at > len(before) + 240
    assert text[found.onset : found.onset + found.period] == found.unit
    assert "".join(char for char in found.unit if not char.isdigit()) == SENTENCE
    assert found.mass == found.at - found.onset


def test_places_are_those_of_the_whole_text() -> None:
    """One ignored character behind each visible one: all places are twice as far."""
    text = words(301) + SENTENCE * 20
    alone, rules = first(text, BALANCED), ignoring(Ignored(chars="¦"))
    found = first("".join(f"{char}¦" for char in text), rules)
    assert alone is not None
    assert found is not None
    assert (found.onset, found.at) == (2 * alone.onset, 2 * alone.at - 1)
    assert found.unit.replace("¦", "") == alone.unit
    assert found.period == 2 * alone.period
    assert found.repeats == alone.repeats
    assert f"from character {2 * (alone.onset - alone.period)}" in found.detail


@pytest.mark.parametrize("size", [1, 4, 7, 5000])
def test_ignored_strings_are_matched_over_the_ends_of_deltas(size: int) -> None:
    text = words(300) + "\n" + scattered(SENTENCE, ("<br>", "&nbsp;", "<br/>"), 40)
    rules = replace(ignoring(Ignored(strings=("<br>", "<br/>", "&nbsp;"))), variant=False, drift=False)
    found = first(text, rules, size=size)
    assert found == first(text, rules, size=1)
    assert found is not None
    assert found.kind is Kind.PERIODIC


def test_without_white_space_text_is_matched_as_if_it_had_none() -> None:
    unit = "The answer depends on the input, so let us look at it again."
    text, dice = words(300) + "\n", 1
    for _ in range(30):
        dice = dice * 1103515245 + 12345 & 0x7FFFFFFF
        text += unit.replace(" ", "\n" if dice >> 16 & 1 else "  ", 3 + dice % 4) + " "
    off = replace(BALANCED, variant=False, drift=False, novelty=False)
    on = replace(off, content=replace(off.content, ignored=Ignored(space=True)))
    assert first(text, off) is None
    found = first(text, on)
    assert found is not None
    assert "".join(found.unit.split()) == "".join(unit.split())


def test_white_space_without_end_is_still_seen() -> None:
    text = words(300) + " \n  \n\t" * 600
    alone, found = first(text, BALANCED), first(text, ignoring(Ignored(space=True)))
    assert alone is not None
    assert found is not None
    assert found.unit.isspace()
    rules = ignoring(Ignored(space=True), blank_run=0, padding_run=0)
    assert first(text, rules) is None
    assert first(text, ignoring(Ignored(space=True), unit_min=2)) is None


def test_code_is_told_apart_in_the_whole_text() -> None:
    text = "```\n" + SENTENCE * 60 + "\n```\n" + words(200)
    rules = ignoring(Ignored(space=True), code=0.0)
    assert first(text, rules) is None
    assert first(text.replace("```", ""), rules) is not None
    assert first(text, ignoring(Ignored(space=True))) is not None


def test_text_around_code_is_not_joined_either() -> None:
    part = SENTENCE * 7
    text = words(200) + part + "\n```\n" + part + "\n```\n" + part + words(200, 2)
    assert first(text, ignoring(Ignored(space=True), code=0.0)) is None
    assert first(text.replace("```", ""), ignoring(Ignored(space=True), code=0.0)) is not None


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("ignored", [Ignored(space=True), Ignored("` ~\n"), Ignored("\n", ("`", "    "))])
@pytest.mark.parametrize("code", ["\n```\n{}\n```\n", "\n\n    {}\n\n", "`{}`"])
def test_not_even_where_the_marks_of_code_are_ignored(code: str, ignored: Ignored, size: int) -> None:
    part = SENTENCE * 7
    text = words(200) + part + code.format(part.strip()) + part + words(200, 2)
    assert first(text, ignoring(ignored, code=0.0), size=size) is None
    assert first(text, ignoring(ignored, code=1.0), size=size) is not None
    behind = first(text + SENTENCE * 20, ignoring(ignored, code=0.0), size=size)
    assert behind is not None
    assert behind.onset > len(text)


TAGS = Ignored(strings=("<br>", "&nbsp;"))


@pytest.mark.parametrize("code", [0.0, 4.0])
def test_what_is_ignored_makes_no_markup_of_prose(code: float) -> None:
    text = "Hi<br>there&nbsp;you<br><br> are good. " * 60
    found = first(text, ignoring(TAGS, code=code))
    assert found is not None
    assert found.repeats == pytest.approx(1 + 240 / len("Hithereyou are good. "), abs=0.01)


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE * 60,
        "".join(f"Step {n}: let us look at it once more. " for n in range(200)),
        "| a | b |\n" * 400,
        "<td>0</td>" * 800,
        "f(x) = [1];\n" * 200,
        "    indented(x)\n" * 200,
        "Q2hhcnQgb2YgdGhlIHllYXI" * 600,
    ],
)
@pytest.mark.parametrize("mark", ["<br>", "|{|", "\\_/", "~=~", "1"])
@pytest.mark.parametrize("code", [0.0, 1.0, 4.0])
def test_a_verdict_falls_where_it_does_in_the_visible_text(text: str, mark: str, code: float) -> None:
    """However much of the text is ignored, and whatever it is."""
    whole, ignored = "", Ignored(strings=(mark,))
    for n, char in enumerate(words(100).replace("1", "") + "\n" + text.replace("1", "2")):
        whole += (mark if n % 3 == 0 else "") + char
    sieve = Sieve(ignored, held=len(whole))
    plain = replace(BALANCED, content=replace(BALANCED.content, code=code))
    alone, found = first(sieve.feed(whole), plain), first(whole, ignoring(ignored, code=code))
    assert (alone is None) is (found is None)
    if alone is not None and found is not None:
        assert (found.kind, found.at) == (alone.kind, sieve.place(alone.at - 1) + 1)


def test_without_its_white_space_code_is_still_told_by_its_lines() -> None:
    text = words(100) + "\n" + "    total += item\n" * 40
    assert first(text, ignoring(Ignored(space=True))) is None
    assert first(text.replace("\n    ", " "), ignoring(Ignored(space=True))) is not None


def test_white_space_in_arguments_of_a_tool_is_ignored_as_it_is_written_there() -> None:
    unit = "The answer depends on the input, so let us look at it again."
    said = "".join(unit.replace(" ", "\\n", n % 5) + "\\t" * (n % 3) for n in range(60))
    rules = replace(ignoring(Ignored(space=True)), variant=False, drift=False)
    assert first('{"text": "' + said, replace(BALANCED, variant=False, drift=False), "tool:0") is None
    assert first('{"text": "' + said, rules, "tool:0") is not None


def test_a_channel_counts_what_came_whatever_is_ignored() -> None:
    watch = Watch(ignoring(Ignored(space=True)))
    for delta in (" ", "\n", "a", " a"):
        watch.feed("content", delta)
    assert watch.length("content") == 5
    assert watch.equal_deltas("content") == 2


def test_suspicion_is_that_of_the_visible_text() -> None:
    watch = Watch(ignoring(Ignored(chars="0123456789")))
    watch.feed("content", words(300) + scattered(SENTENCE, ("5", "07", "118"), 6))
    assert watch.suspect("content")
    watch.feed("content", words(200, 5))
    assert not watch.suspect("content")


@pytest.mark.parametrize("name", [name for name in HEALTHY if "JSON" in name or "table" in name])
def test_healthy_text_is_healthy_without_its_white_space(name: str) -> None:
    assert first(words(300) + "\n" + HEALTHY[name], ignoring(Ignored(space=True))) is None


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(
        ["a sentence", "the same words, other marks", "a counter in a sentence", "a nested loop"]
    ),
    st.sampled_from(
        [
            Ignored(chars=",. "),
            Ignored(space=True),
            Ignored(strings=("the", "there", "e r")),
            Ignored(chars="e", strings=(" a",), space=True),
        ]
    ),
    st.lists(st.integers(1, 200), min_size=1, max_size=40),
    st.booleans(),
)
def test_the_split_into_deltas_changes_nothing(
    name: str, ignored: Ignored, cuts: list[int], apart: bool
) -> None:
    text = words(333, 4) + "\n" + LOOPS[name][:9000]
    rules = ignoring(ignored, code=0.0 if apart else 2.0)
    whole = Watch(rules).feed("content", text)
    watch, place, turn, split = Watch(rules), 0, 0, None
    while split is None and place < len(text):
        size = cuts[turn % len(cuts)]
        split = watch.feed("content", text[place : place + size])
        place, turn = place + size, turn + 1
    assert whole is not None
    assert split == whole
    assert 333 <= whole.onset < whole.at <= len(text)


def test_memory_is_bounded_however_long_the_text() -> None:
    rules = replace(ignoring(Ignored(chars="e", space=True)), novelty=False, window=3000, max_period=500)
    watch = Watch(rules)
    tracemalloc.start()
    try:
        for seed in range(4):
            for delta in deltas(words(15_000, seed), 60):
                assert watch.feed("content", delta) is None
            if seed == 0:
                early = tracemalloc.get_traced_memory()[0]
        assert tracemalloc.get_traced_memory()[0] < 1.5 * early
    finally:
        tracemalloc.stop()
