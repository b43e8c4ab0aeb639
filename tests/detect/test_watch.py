import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollama_guard.detect.chains import Chains
from ollama_guard.detect.drift import Drift
from ollama_guard.detect.finding import Kind
from ollama_guard.detect.lines import Lines
from ollama_guard.detect.novelty import Novelty
from ollama_guard.detect.page import Page
from ollama_guard.detect.rules import BALANCED, STRICT, Band, with_spans
from ollama_guard.detect.variant import Variant
from ollama_guard.detect.watch import MAX_CHANNELS, Watch, _Watched
from tests.bench import near
from tests.detect.material import HEALTHY, IN_PLACES, LOOPS, deltas, first, loop, words
from tests.detect.test_definitions import functions
from tests.detect.test_recurring import locked

# --- what must never be stopped ---


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("channel", ["content", "tool:0"])
def test_healthy_text_is_never_stopped(name: str, channel: str) -> None:
    assert first(words(1200, 77) + "\n" + HEALTHY[name] + "\n" + words(300, 78), channel) is None


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_text_in_a_fence_is_never_stopped(name: str) -> None:
    assert first("Here it is:\n\n```text\n" + HEALTHY[name] + "\n```\n") is None


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_text_alone_is_never_stopped(name: str) -> None:
    assert first(HEALTHY[name], size=1000) is None


@pytest.mark.parametrize("name", near.TEXTS)
def test_what_came_nearest_in_real_files_is_never_stopped(name: str) -> None:
    channel, text = near.TEXTS[name]
    assert first(text, channel, size=40) is None


@pytest.mark.parametrize(
    "text",
    [
        "10000000000",
        "It is really, really, really good.",
        "f(x: [string, string, string])",
        "a = 1\nb = 2\n" + "-" * 20 + "\n",
    ],
)
def test_strict_leaves_short_repetition_alone(text: str) -> None:
    assert first(text, "reasoning", rules=STRICT) is None


def test_ordinary_prose_is_hardly_ever_suspicious() -> None:
    watch = Watch(BALANCED)
    suspicious = 0
    for delta in deltas(words(60_000), 4):
        assert watch.feed("content", delta) is None
        suspicious += watch.suspect("content")
    assert suspicious == 0


# --- what must be caught ---


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("channel", ["content", "reasoning"])
def test_a_loop_is_caught(name: str, channel: str) -> None:
    before = words(1500, 5) + "\n\n"
    finding = first(before + LOOPS[name], channel)
    assert finding is not None
    assert finding.kind.loop
    assert finding.at > len(before)
    assert finding.onset >= len(before) - 1


@pytest.mark.parametrize("place", IN_PLACES)
@pytest.mark.parametrize("period", [1, 2, 7, 25, 80, 300, 1000, 3000, 10_000])
def test_each_period_is_caught_in_each_place(period: int, place: str) -> None:
    unit = "G" if period == 1 else words(period - 1, period).rstrip(" .").ljust(period - 1, "x") + " "
    before = words(900, 6) + "\n\n" + IN_PLACES[place]
    finding = first(before + loop(unit, 3 * period + 3000), size=17)
    assert finding is not None
    assert finding.kind is Kind.PERIODIC
    assert finding.period == period
    assert finding.onset - len(before) in range(period - 3, period + 1)


@pytest.mark.parametrize(
    ("unit", "channel", "most"),
    [
        ("\n", "content", 250),
        ("\n", "reasoning", 250),
        ("\t", "content", 250),
        (" ", "content", 3200),
        (" ", "reasoning", 3200),
        (" ", "tool:0", 3200),
        (" \n\t \n", "content", 510),
        (" \n\t \n", "tool:0", 510),
        ("| name | open |\n", "content", 1000),
        ("<td>0</td>\n", "content", 2000),
        ("\n# ", "content", 250),
        ("<check>\n", "reasoning", 250),
        ("\n|         |", "content", 370),
        ("12, 7, 30\n", "content", 6600),
        (",QUJDRE", "content", 8100),
    ],
)
def test_data_without_end_is_a_loop_in_the_end(unit: str, channel: str, most: int) -> None:
    before = (
        "data:application/octet-stream;base64," + "Q2hhcnQ" * 9 if "QUJ" in unit else words(600, 5) + " x:"
    )
    finding = first(before + loop(unit, 2 * most), channel, size=20)
    assert finding is not None
    assert len(before) < finding.at <= len(before) + len(unit) + most


@pytest.mark.parametrize(
    ("period", "most"),
    [(1, 250), (8, 250), (25, 250), (40, 250), (41, 164), (200, 800), (201, 603), (1000, 3000), (3000, 6000)],
)
def test_a_verdict_in_prose_falls_in_time(period: int, most: int) -> None:
    unit = "G" if period == 1 else words(period - 1, period).rstrip(" .").ljust(period - 1, "x") + " "
    finding = first(words(700, 8) + "\n" + loop(unit, 4 * period + 600))
    assert finding is not None
    assert finding.mass <= most


@pytest.mark.parametrize("period", [1, 8, 25, 80, 300, 1000])
def test_suspicion_begins_within_one_unit_or_120_characters(period: int) -> None:
    unit = "G" if period == 1 else words(period - 1, period).rstrip(" .").ljust(period - 1, "x") + " "
    before, watch = words(700, 8) + "\n", Watch(BALANCED)
    fed = 0
    for delta in deltas(before + loop(unit, 1000), 4):
        watch.feed("content", delta)
        fed += len(delta)
        if watch.suspect("content"):
            break
    assert fed - (len(before) + period) <= max(120, period) + 4


def test_a_loop_inside_a_tool_call_is_caught() -> None:
    finding = first('{"path": "a.py", "text": "' + loop("print('hello')\\n"), "tool:3")
    assert finding is not None
    assert finding.channel == "tool:3"


def test_a_whole_restart_of_a_long_answer_is_caught_when_it_comes_the_third_time() -> None:
    answer = words(5000, 21) + "\n\n"
    finding = first(answer * 4, size=40)
    assert finding is not None
    assert finding.period == len(answer)
    assert finding.at <= 3 * len(answer)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("wait, no " * 3, Kind.PERIODIC),
        ("Let me think. " * 3, Kind.PERIODIC),
        ("Wait, hmm... wait hmm! Wait; hmm, wait hmm? ", Kind.VARIANT),
    ],
)
def test_strict_stops_three_copies_in_reasoning(text: str, kind: Kind) -> None:
    finding = first(words(400) + "\n" + text + words(80, 3), "reasoning", rules=STRICT)
    assert finding is not None
    assert finding.kind is kind


def test_strict_stops_a_run_of_100_in_content() -> None:
    finding = first(words(400) + "\n" + "Let me write it down. " * 5, rules=STRICT)
    assert finding is not None
    assert finding.at == 401 + 100


def test_the_smallest_run_can_be_set() -> None:
    text = words(400) + "\n" + "Let me write it down. " * 30
    rules = with_spans(BALANCED, content_repeat_span_min=500)
    finding = first(text, rules=rules)
    assert finding is not None
    assert finding.at == 401 + 500
    assert first(text[: 401 + 499], rules=rules) is None


def test_a_table_of_ones_own_is_obeyed_to_the_character() -> None:
    table = (Band(1, 39, 0), Band(2, 29, 0), Band(8, 11, 0), Band(1 << 40, 9, 0))
    rules = replace(BALANCED, content=replace(BALANCED.content, text=table))
    for unit, copies in (("G", 40), ("ny", 30), ("court ", 12), ("I'm ready to assist. ", 10)):
        finding = first(words(300) + "\n" + unit * copies, rules=rules, size=1)
        assert finding is not None
        assert finding.at == 301 + len(unit) * copies
        assert first(words(300) + "\n" + (unit * copies)[:-1], rules=rules) is None


@pytest.mark.parametrize("name", ["a sentence", "a paragraph of 300", "a nested loop", "a table row"])
@pytest.mark.parametrize(("least", "most"), [(1, 10), (20, 60), (250, 5000)])
def test_no_unit_of_another_length_than_was_set_is_a_verdict(name: str, least: int, most: int) -> None:
    content = replace(BALANCED.content, unit_min=least, unit_max=most)
    finding = first(words(300) + "\n" + LOOPS[name], rules=replace(BALANCED, content=content), size=50)
    alone = first(words(300) + "\n" + LOOPS[name], size=50)
    assert alone is not None
    if finding is not None and finding.kind is Kind.PERIODIC:
        assert least <= finding.period <= most
    if alone.kind is Kind.PERIODIC and least <= alone.period <= most:
        assert finding == alone


def test_white_space_without_end_is_a_unit_of_one() -> None:
    text = words(300) + " \n  \n\t" * 3000
    rules = replace(BALANCED, variant=False, content=replace(BALANCED.content, unit_min=2, unit_max=4))
    assert first(text) is not None
    assert first(text, rules=rules) is None


def test_a_channel_with_no_settings_of_this_kind_has_nothing_more_in_its_way() -> None:
    watch = Watch(BALANCED)
    watch.feed("content", "some text")
    state = watch._channels["content"]
    assert type(state) is _Watched
    assert {type(one) for one in state._families} == {Variant, Drift, Lines, Chains}
    assert type(state._novelty) is Novelty
    assert type(state._periodic.page) is Page
    assert state._periodic.page._indents is None


# --- what the request asked for ---


def test_a_repetition_that_was_asked_for_is_left_alone() -> None:
    text = "I must not talk in class.\n" * 100
    assert first(text, prompt="Write 'I must not talk in class.' 100 times, please.") is None
    assert first(text) is not None


def test_a_repetition_that_was_asked_for_but_never_ends_is_caught() -> None:
    finding = first(
        "I must not talk in class.\n" * 500, prompt="Write 'I must not talk in class.' 100 times."
    )
    assert finding is not None
    assert 100 < finding.repeats < 160


def test_a_repetition_that_the_prompt_holds_already_is_given_more_room() -> None:
    line = "Retrying the connection to the server in 5 seconds\n"
    assert first(line * 12, prompt="Copy this log:\n" + line * 12) is None
    assert first(line * 12) is not None


# --- promises of the interface ---


def test_after_the_first_finding_the_watch_says_nothing_more() -> None:
    watch = Watch(BALANCED)
    assert watch.feed("content", "spam " * 200) is not None
    assert watch.feed("content", "spam " * 200) is None
    assert watch.feed("reasoning", "eggs " * 200) is None


def test_channels_are_watched_apart() -> None:
    watch = Watch(BALANCED)
    for part in range(60):
        assert watch.feed("reasoning", f"thought {part * part} ") is None
        assert watch.feed("content", "again ") is None or part > 35
    assert watch.length("content") > 0


def test_a_channel_can_be_turned_off() -> None:
    rules = replace(BALANCED, content=replace(BALANCED.content, enabled=False))
    assert first("spam " * 1000, rules=rules) is None
    assert first("spam " * 1000, "reasoning", rules=rules) is not None


def test_equal_deltas_are_counted_after_trimming() -> None:
    watch = Watch(BALANCED)
    assert watch.equal_deltas("content") == 0
    for delta, expected in [("a", 1), (" a", 2), ("a\n", 3), ("b", 1), (" ", 1), ("\n", 2), ("\t \n", 3)]:
        watch.feed("content", delta)
        assert watch.equal_deltas("content") == expected


def test_lengths_are_in_code_points() -> None:
    watch = Watch(BALANCED)
    watch.feed("content", "né🌱")
    watch.feed("content", "")
    assert watch.length("content") == 3
    assert watch.length("reasoning") == 0


def test_more_channels_than_are_watched_are_counted() -> None:
    watch = Watch(BALANCED)
    for index in range(MAX_CHANNELS + 5):
        assert watch.feed(f"tool:{index}", "{}") is None
    assert watch.feed(f"tool:{MAX_CHANNELS + 1}", "spam " * 2000) is None
    assert watch.length(f"tool:{MAX_CHANNELS + 1}") == 10_002


def test_a_finding_says_what_repeats_how_often_and_where() -> None:
    before = words(100)
    finding = first(before + "I'm ready to assist. " * 30)
    assert finding is not None
    assert finding.unit == "I'm ready to assist. "
    assert (finding.onset, finding.period, finding.mass) == (121, 21, 240)
    assert finding.at == 121 + 240
    assert finding.repeats == pytest.approx(12.43, abs=0.01)
    assert "21 characters" in finding.detail
    assert "12 times" in finding.detail


def test_a_very_long_unit_is_shortened_in_the_finding() -> None:
    finding = first(loop(words(2998, 13) + "\n\n", 9000), size=100)
    assert finding is not None
    assert finding.period == 3000
    assert len(finding.unit) <= 400


def test_lone_surrogates_do_no_harm() -> None:
    assert first("\ud83d" * 5 + words(100) + "\udc00") is None


def test_a_huge_delta_is_searched_piece_by_piece() -> None:
    finding = Watch(BALANCED).feed("content", words(2000) + "spam " * 2_000_000)
    assert finding is not None
    assert finding.at < 2300


# --- the split into deltas, and what stands before ---

SPLIT = [
    "a sentence",
    "a paragraph of 300",
    "the same words, other marks",
    "a counter in a sentence",
    "blanks in any mixture",
    "a table row",
    "growing indentation",
    "a nested loop",
    "special tokens",
]


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(SPLIT),
    st.lists(st.integers(1, 300), min_size=1, max_size=60),
    st.sampled_from(["content", "reasoning"]),
)
def test_the_split_into_deltas_changes_nothing(name: str, cuts: list[int], channel: str) -> None:
    text = words(333, 4) + "\n" + LOOPS[name][:30_000]
    whole = Watch(BALANCED).feed(channel, text)
    watch, place, turn = Watch(BALANCED), 0, 0
    split = None
    while split is None and place < len(text):
        size = cuts[turn % len(cuts)]
        split = watch.feed(channel, text[place : place + size])
        place, turn = place + size, turn + 1
    assert whole is not None
    assert split == whole


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 400),
    st.sampled_from(
        ["a sentence", "a line", "a word", "a paragraph of 300", "an emoji", "zeros", "a table row"]
    ),
)
def test_an_unrelated_prefix_moves_nothing(length: int, name: str) -> None:
    body = "\n#\n" + LOOPS[name][:9000]
    alone, behind = first(body, size=50), first(words(length, 31) + body, size=50)
    assert alone is not None
    assert behind is not None
    assert (behind.at - length, behind.onset - length, behind.unit) == (alone.at, alone.onset, alone.unit)


RUNNING = {
    "a step": "".join(f"Step {n}: Press the button and wait for the light. " for n in range(1, 90)),
    "a record": "".join(f"({n}, 'Saw', 14.40),\n" for n in range(1, 400)),
    "an equation": "So 25*48 + 129*7 " + "= 10*48 + 129*7 = 25*48 + 129*7 " * 40,
    "a function": functions("Python", 60),
    "blocks of lines": locked("{n}:00 {said}\n"),
    "what is said in other marks": "".join(f"It is done{'.!?…'[n * n % 4]} " * 2 for n in range(200)),
}


@pytest.mark.parametrize("length", [1, 8, 63, 64, 65, 1000])
@pytest.mark.parametrize("name", RUNNING)
def test_an_unrelated_prefix_moves_no_verdict_of_the_other_families(name: str, length: int) -> None:
    body = "word\n#\n" + RUNNING[name]
    alone, behind = first(body), first(words(length, 31) + body)
    assert alone is not None
    assert behind is not None
    assert (behind.at - length, behind.onset - length, behind.unit) == (alone.at, alone.onset, alone.unit)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 200))
def test_equal_lines_behind_a_fence_need_the_same_whatever_stands_before_it(length: int) -> None:
    line = "Connection to the database was refused by the host, next try in five seconds.\n"
    finding = first(words(length, 31) + "\n\n```\n" + line * 40, size=50)
    assert finding is not None
    assert finding.mass == 16 * len(line)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400), st.integers(1, 9))
def test_any_text_is_fed_without_an_error(text: str, size: int) -> None:
    watch = Watch(STRICT)
    for delta in deltas(text, size):
        if watch.feed("reasoning", delta):
            break
    assert watch.length("reasoning") <= len(text)


def test_memory_is_bounded_however_long_the_text() -> None:
    watch, text = Watch(BALANCED), words(200_000)
    tracemalloc.start()
    try:
        for delta in deltas(text, 50):
            assert watch.feed("reasoning", delta) is None
        after_one = tracemalloc.get_traced_memory()[0]
        for seed in range(2, 6):
            for delta in deltas(words(200_000, seed), 50):
                assert watch.feed("reasoning", delta) is None
        assert tracemalloc.get_traced_memory()[0] < 1.5 * after_one
        assert after_one < 2_000_000
    finally:
        tracemalloc.stop()
