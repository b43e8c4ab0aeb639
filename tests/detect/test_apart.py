"""`code = 0`: no verdict in code, and nothing is joined over it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollama_guard.detect.finding import Finding
from ollama_guard.detect.ignored import Ignored
from ollama_guard.detect.rules import BALANCED, STRICT, WatchRules
from ollama_guard.detect.watch import Watch
from tests.detect.material import LOOPS, deltas, words
from tests.detect.test_cells import BEFORE, HEAD, table
from tests.detect.test_recurring import FORMS, locked

APART = replace(BALANCED, content=replace(BALANCED.content, code=0.0))


def first(text: str, rules: WatchRules = APART, size: int = 4) -> Finding | None:
    watch = Watch(rules)
    for delta in deltas(text, size):
        finding = watch.feed("content", delta)
        if finding is not None:
            return finding
    return None


def code(text: str) -> Iterator[str]:
    """The text in each kind of code."""
    yield f"Here it is:\n\n```text\n{text}\n```\n"
    yield f"Here it is:\n\n~~~~\n{text}\n~~~~\n"
    yield f"Here it is:\n\n> ```\n> {text}\n> ```\n\n"
    line = text.replace("\n", " ")
    yield f"Here it is:\n\n    {line}\n\n"
    yield f"Here it is: `{line[:900]}` and so on. "


SAID = "spam and eggs and "
SENTENCE = "The answer is that I do not know. "


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("rules", [BALANCED, STRICT])
def test_no_repetition_in_code_is_a_verdict(kind: int, rules: WatchRules) -> None:
    off = replace(rules, content=replace(rules.content, code=0.0))
    text = list(code(SENTENCE * 60))[kind]
    assert first(text, off) is None
    assert first(text, replace(rules, content=replace(rules.content, code=1.0))) is not None


def test_not_even_in_code_that_is_still_open() -> None:
    assert first("```\n" + SENTENCE * 200) is None
    assert first("Use `" + SENTENCE * 25) is None


@pytest.mark.parametrize("fences", [("```md\n", "~~~\n"), ("````\n", "```\n"), ("~~~~\n", "```py\n")])
@pytest.mark.parametrize(
    "ignored", [Ignored(), Ignored("*"), Ignored(strings=("<br>",)), Ignored(space=True)]
)
def test_nor_does_a_marker_in_a_fence_that_does_not_end_it_make_prose_of_it(
    fences: tuple[str, str], ignored: Ignored
) -> None:
    for rules in (BALANCED, STRICT, replace(BALANCED, variant_copies=2)):
        off = replace(rules, content=replace(rules.content, code=0.0, ignored=ignored))
        for begin in ("Here:\n", ""):
            opened = begin + fences[0] + "Intro\n" + fences[1]
            assert first(opened + "".join(f"{n}. So we go on with it! \n" for n in range(300)), off) is None
            assert first(opened + (SENTENCE + "\n" + fences[1]) * 90, off) is None
            assert first(opened + SENTENCE * 90, off) is None


def test_nor_a_backtick_in_a_span_of_two() -> None:
    assert first("Use ``" + "spam ` and eggs, and " * 40) is None


@pytest.mark.parametrize("name", ["the same words, other marks", "a counter in a sentence"])
def test_folded_repetition_in_code_is_no_verdict_either(name: str) -> None:
    assert first(words(300) + "\n\n" + LOOPS[name]) is not None
    assert first("```\n" + LOOPS[name]) is None


def test_nor_prose_that_says_nothing_new() -> None:
    dice = [
        f"{a} {b} {c} again. " for a in ("well", "so", "now") for b in ("we", "you") for c in ("try", "go")
    ]
    stale = "".join(dice[(n * n * 7 + n // 5) % len(dice)] for n in range(900))
    assert first(words(300) + "\n\n" + stale) is not None
    assert first("```\n" + stale + "\n```\n" + words(900)) is None


DATA = {
    "CSV": "{n},foo bar,12\n",
    "CSV with its count behind": "foo bar,baz,{n}\n",
    "CSV with semicolons": "{n};foo bar;baz\n",
    "a table of tabs": "{n}\tfoo bar\t12\n",
    "values of SQL": "({n}, 'Saw', 14.40),\n",
    "a table": "| {n} | Saw the | 14.40 |\n",
    "records": '{{"id": {n}, "name": "x y"}},\n',
    "a log": "2024-01-02 12:00:00 INFO worker {n} started ok\n",
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("ignored", [Ignored(), Ignored("*")])
def test_nor_do_rows_of_data_count_in_which_but_a_number_does(name: str, ignored: Ignored) -> None:
    off = replace(APART, content=replace(APART.content, ignored=ignored))
    text = "a,b\n" + "".join(DATA[name].format(n=n) for n in range(2000))
    assert first(text, BALANCED) is not None
    assert first(text, off) is None


@pytest.mark.parametrize("form", ["{n}. I will do that again.\n", "Step {n}: look at the file, and see.\n"])
def test_what_is_said_in_a_list_does(form: str) -> None:
    text = "".join(form.format(n=n) for n in range(300))
    assert first(text) == first(text, BALANCED)
    assert first(text) is not None


def test_nor_tables_that_say_nothing_nor_blocks_of_code() -> None:
    cells = words(200) + "\n\n" + HEAD + BEFORE + table("| {name} | {n} | {n} | {n} | {n} |\n")
    blocks = words(400) + "\n\n" + locked(FORMS["branches"])
    for text in (cells, blocks):
        assert first(text, BALANCED) is not None
        assert first(text) is None
    schedule = words(400) + "\n\n" + locked(FORMS["a schedule"])
    assert first(schedule) == first(schedule, BALANCED)


def test_nor_white_space_without_end() -> None:
    blank = " \n  \n \t\n    \n" * 200
    assert first(words(300) + blank) is not None
    assert first("```\n" + blank) is None


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("kind", range(5))
def test_what_stands_before_in_and_behind_code_is_never_joined(kind: int, size: int) -> None:
    """Each part alone is too little for a verdict; together, marks folded away, they are far over it."""
    parts = SAID * 12
    text = words(200) + "\n\n" + parts + "\n\n" + list(code(parts))[kind].split("Here it is:")[1].strip(" ")
    text += parts + "\n\n" + words(200, 2)
    assert first(text, size=size) is None
    plain = text.replace("`", "").replace("~", "").replace("text\n", "").replace("\n", " ").replace(">", "")
    assert " ".join(plain.split()).count(SAID.strip()) >= 30
    assert first(" ".join(plain.split()), size=size) is not None


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 7), st.integers(0, 4), st.integers(0, 7)), min_size=1, max_size=2),
    st.integers(1, 7),
    st.sampled_from([Ignored(), Ignored(space=True), Ignored("`~>\n", ("text",))]),
)
def test_however_prose_and_code_alternate_no_part_lends_to_another(
    parts: list[tuple[int, int, int]], last: int, ignored: Ignored
) -> None:
    text = words(100) + "\n\n"
    for before, kind, within in parts:
        block = list(code((SENTENCE * within).strip() or "x"))[kind]
        text += SENTENCE * before + block.removeprefix("Here it is:").removesuffix(" and so on. ")
    text += SENTENCE * last
    assert first(text, replace(APART, content=replace(APART.content, ignored=ignored)), size=50) is None


def test_prose_on_both_sides_of_an_empty_fence_is_not_joined() -> None:
    text = words(200) + "\n\n" + SAID * 12 + "\n```\n```\n" + SAID * 12 + words(100, 2)
    assert first(text) is None


def test_a_loop_behind_code_is_caught_as_soon_as_any() -> None:
    before = words(200) + "\n\n```py\nx = 1\n```\n\n"
    found, alone = first(before + SENTENCE * 40), first(words(200) + "\n\n" + SENTENCE * 40, BALANCED)
    assert found is not None
    assert alone is not None
    assert found.mass == alone.mass


def test_an_answer_that_is_written_again_and_again_with_its_code_is_a_loop() -> None:
    block = words(100) + "\n\n```py\nprint(1)\n```\n\n"
    assert first(block * 12) is not None


@pytest.mark.parametrize("kind", range(5))
def test_whatever_the_kind_of_code_and_wherever_the_text_begins(kind: int) -> None:
    block = words(100) + "\n\n" + list(code("print(1)"))[kind]
    for cut in range(0, len(block), 17):
        assert first(words(150, 7) + "\n\n" + (block * 14)[cut:]) is not None


def test_the_same_with_other_marks_is_a_loop() -> None:
    block = "{} You can run `make all` and then look at what it says about the files{}\n"
    text = "".join(block.format(*"-*+~"[n % 4 :: 2][:1] * 2) for n in range(60))
    assert first(text) is not None


@pytest.mark.parametrize("kind", range(5))
def test_the_split_changes_nothing(kind: int) -> None:
    text = list(code(SENTENCE * 20))[kind] + SENTENCE * 3 + LOOPS["the same words, other marks"]
    found = [first(text, size=size) for size in (1, 3, 64, 100_000)]
    assert found[0] is not None
    assert found == [found[0]] * 4
