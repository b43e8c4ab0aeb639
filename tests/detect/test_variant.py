from dataclasses import replace

import pytest

from ollama_guard.detect import shape
from ollama_guard.detect.finding import Kind
from ollama_guard.detect.rules import BALANCED
from ollama_guard.detect.watch import BLOCK, Watch
from tests.detect.material import deltas, first, words


def variants(count: int) -> str:
    return "".join(f"I am done{'.!?;:'[n % 5]}{' ' * (n % 3 + 1)}" for n in range(count))


def test_the_same_words_with_other_marks_are_a_variant() -> None:
    before = words(500) + "\n\n"
    finding = first(before + variants(300))
    assert finding is not None
    assert finding.kind is Kind.VARIANT
    assert "with other punctuation or white space" in finding.detail
    assert finding.unit.casefold().strip(" .!?;:") == "i am done"


def test_places_of_a_variant_are_raw_places() -> None:
    before = words(500) + "\n\n"
    finding = first(before + variants(300))
    assert finding is not None
    assert finding.onset - len(before) in range(8, 13)  # the start of the second copy
    assert finding.mass == finding.at - finding.onset


def test_a_variant_is_reported_a_block_after_its_verdict_at_the_latest() -> None:
    text = words(500) + "\n\n" + variants(300)
    watch = Watch(BALANCED)
    for place in range(len(text)):
        finding = watch.feed("content", text[place])
        if finding is not None:
            assert finding.at <= place + 1 < finding.at + BLOCK
            return
    pytest.fail("nothing was found")


def test_a_verbatim_loop_is_never_called_a_variant() -> None:
    for unit in ("I am done. ", "A", "The answer, then, is: no!\n", words(300)):
        finding = first(words(333) + "\n" + unit * (3000 // len(unit) + 5))
        assert finding is not None
        assert finding.kind is Kind.PERIODIC


def test_a_counter_in_prose_is_drift() -> None:
    finding = first("".join(f"The next number is {n}.\n\n" for n in range(500)), "reasoning")
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert finding.repeats > 20
    assert "with other numbers" in finding.detail


def test_drift_waits_longer_in_content_than_in_reasoning() -> None:
    text = "".join(f"{n}. All persons are entitled to protection.\n" for n in range(500))
    content, reasoning = first(text), first(text, "reasoning")
    assert content is not None
    assert reasoning is not None
    assert content.at > reasoning.at


def test_a_list_that_was_asked_for_is_given_its_length() -> None:
    text = "".join(f"{n}. I must not talk in class.\n" for n in range(1, 301))
    assert first(text) is not None
    assert first(text, prompt="Write 'I must not talk in class.' 300 times, numbered.") is None


def _song(n: int) -> str:
    return f"{n} bottles of beer on the wall, {n} bottles of beer. Take one down and pass it around.\n\n"


COUNTS = {
    "Write out the full lyrics of 99 Bottles of Beer.": "".join(map(_song, range(99, 0, -1))),
    "How does 1000 dollars grow at 5 % over 40 years? Show every year.": "".join(
        f"After year {n}, the balance is ${1000 * 1.05**n:.2f}, five per cent more than before.\n"
        for n in range(1, 41)
    ),
    "Add the numbers from 1 to 60 step by step.": "".join(
        f"Step {n}: we add {n} to the total, giving {n * (n + 1) // 2}.\n" for n in range(1, 61)
    ),
    "List the error codes 100 to 160 with a description.": "".join(
        f"{n}. Error code {n}: An unknown error has occurred. Please contact support.\n"
        for n in range(100, 161)
    ),
    "Write a file that imports all 200 modules.": "".join(f"import module_{n}\n" for n in range(200)),
    "Guide me through box breathing.": "".join(
        f"Round {n}: Inhale for four counts. Hold for four counts. Exhale for four counts. Hold again.\n"
        for n in range(1, 13)
    ),
}


@pytest.mark.parametrize("channel", ["content", "reasoning"])
@pytest.mark.parametrize("prompt", COUNTS)
def test_counting_as_far_as_was_asked_is_left_alone(prompt: str, channel: str) -> None:
    assert first(COUNTS[prompt], channel, prompt=prompt) is None


def test_counting_without_an_end_is_a_verdict_all_the_same() -> None:
    finding = first(
        "".join(map(_song, range(1000))), prompt="Write out the full lyrics of 99 Bottles of Beer."
    )
    assert finding is not None
    assert finding.kind is Kind.DRIFT


EQUAL_ITEMS = {
    "a plan of twelve weeks": "".join(
        f"Week {n}: Walk for half an hour on three days, stretch after each walk, and rest at the weekend.\n"
        for n in range(1, 13)
    ),
    "status": "".join(f"- Server {n}: online\n" for n in range(1, 61)),
    "passed": "".join(f"Test {n}: passed\n" for n in range(1, 101)),
    "slides": "".join(f"Slide {n}\nTitle:\nPicture:\nNotes for the speaker:\n\n" for n in range(1, 21)),
    "outline": "".join(f"Chapter {n}: to be written\n" for n in range(1, 41)),
    "sheep": "".join(f"{n} sheep, " for n in range(1, 151)),
    "form": "".join(f"{n}. Name and date of birth: ________\n" for n in range(1, 31)),
}


@pytest.mark.parametrize("name", EQUAL_ITEMS)
def test_lists_of_equal_items_of_a_usual_length_are_left_alone(name: str) -> None:
    assert first(EQUAL_ITEMS[name]) is None


@pytest.mark.parametrize(
    ("unit", "most"),
    [
        ("{0}. Click on the start button of the program.\n", 1600),
        (
            (
                "{0}. The terms and conditions describe the architecture of the game, its way to the store "
                "that it was developed, and what else belongs to it.\n"
            ),
            1700,
        ),
    ],
)
def test_nothing_but_a_counter_is_a_verdict_long_before_numbers_that_vary(unit: str, most: int) -> None:
    bare = first("".join(unit.format(n) for n in range(300)))
    varied = first("".join(unit.format(n * n % 1009) for n in range(300)))
    assert bare is not None
    assert bare.kind is Kind.DRIFT
    assert bare.mass <= most
    assert varied is None or varied.mass > 1.5 * bare.mass


def test_items_that_begin_to_count_late_are_judged_by_their_latest_copies() -> None:
    unit = "The hands stand opposite to each other at {0} past the hour, or so it seems.\n"
    text = "".join(unit.format(n * n % 61) for n in range(12)) + "".join(unit.format(n) for n in range(200))
    finding = first(text, "reasoning")
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert finding.repeats < 40


def test_a_number_in_the_request_does_not_excuse_equal_items_in_thought() -> None:
    text = "".join(f"{n}. A hundred prisoners choose their own hat colour.\n" for n in range(1, 61))
    prompt = "100 prisoners with hats stand in a line. Find the best strategy."
    assert first(text, "reasoning", prompt=prompt) is not None
    assert first(text, prompt=prompt) is None


def test_a_number_in_the_request_excuses_equal_sentences_in_a_list_for_a_while_only() -> None:
    entry = "{n}. The most important people of the whole world and of its history.\n"
    prompt = "Make a dictionary with 500 common words."
    assert first("".join(entry.format(n=n) for n in range(1, 61)), prompt=prompt) is None
    assert first("".join(entry.format(n=n) for n in range(1, 151)), prompt=prompt) is not None
    words_only = "".join(f"{n}. Empty line\n" for n in range(1, 501))
    assert first(words_only, prompt=prompt) is None


def test_a_short_word_with_its_number_is_a_verdict_after_hundreds_in_a_line() -> None:
    def row(count: int, form: str = "Carl = {}, ") -> str:
        return words(300) + "\n\n" + "".join(form.format(n) for n in range(1, count))

    assert first(row(170)) is None
    assert first(row(400)) is not None
    assert first(row(400), prompt="Number the seats from 1 to 400.") is None
    assert first(row(800, "Carl = {}\n")) is None  # rows
    assert first(row(800, "{}, ")) is None


def test_special_tokens_with_changing_numbers_are_soon_a_verdict() -> None:
    finding = first(words(300) + "".join(f"<unused{n * 7 % 90}>" for n in range(300)))
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert finding.mass < 600


def test_a_setting_can_ask_for_more_copies() -> None:
    text = words(500) + "\n\n" + variants(300)
    for copies, found in ((3, True), (1000, False)):
        watch = Watch(replace(BALANCED, variant_copies=copies))
        findings = [watch.feed("content", delta) for delta in deltas(text, 5)]
        assert any(finding and finding.kind is Kind.VARIANT for finding in findings) is found


def test_equal_items_with_a_date_in_them_are_no_data() -> None:
    item = "{n}. Minutes of the meeting held on 12 May 2019\nThe minutes of that meeting were approved.\n\n"
    finding = first("".join(item.format(n=n) for n in range(2, 60)))
    assert finding is not None
    assert finding.repeats == pytest.approx(19, abs=2)


@pytest.mark.parametrize(
    "item",
    [
        "In {n}, Anna will be {a} and Ben, her younger brother, will be {b} years old.\n",
        "{n}. The backup of hall four was done on site at 12:30:07 by Mary herself.\n",
        "{n}. On a scale from 1 to 5 (1 is never, 3 is now and then, 5 is always or so): ____\n",
    ],
)
def test_items_full_of_figures_may_be_data(item: str) -> None:
    text = "".join(item.format(n=1100 + n, a=130 + n, b=128 + n) for n in range(60))
    assert 0.15 <= shape.figures(item.format(n=1100, a=130, b=128)) < 0.18
    assert first(text) is None


@pytest.mark.parametrize("channel", ["content", "reasoning"])
def test_numbers_in_a_line_that_grow_by_zeros(channel: str) -> None:
    once = ["417", "529", "1041", "36", "77", "984", "12", "650", "3391", "208", "57", "1733"]
    grown = ", ".join(number + "0" * zeros for zeros in range(15) for number in once)
    finding = first("Multiples of 7 are " + grown, channel)
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert finding.repeats == pytest.approx(145, abs=2)
    assert first("Squares are " + ", ".join(str(n * n) for n in range(20, 300)), channel) is None
    decades = "".join(
        "| " + " | ".join(f"{n}{'0' * zeros}" for zeros in range(6)) + " |\n" for n in range(10, 99)
    )
    assert first(decades, channel) is None


FORMULA = "    \\[\n    \\text{{jobs per machine}} = \\frac{{9}}{{3}} = 3\n    \\]\n\n"
ITEM = "{n}. **Determine the jobs**: Since there are 9 jobs and 3 machines, we divide the jobs among them.\n"


@pytest.mark.parametrize("channel", ["content", "reasoning"])
def test_a_list_item_says_something_though_formulas_stand_around_it(channel: str) -> None:
    finding = first("".join((ITEM + FORMULA).format(n=n) for n in range(1, 40)), channel)
    assert finding is not None
    assert finding.kind is Kind.DRIFT
    assert finding.repeats < 17


def test_a_short_item_among_formulas_does_not() -> None:
    text = "".join(("{n}. Solve it:\n" + FORMULA).format(n=n) for n in range(1, 40))
    assert first(text) is None


def test_an_item_of_figures_alone_in_its_line_is_data() -> None:
    form = "{n}. 06:00 feed 120 ml, 10:00 feed 120 ml, 14:00 feed 150 ml, 18:00 feed 150 ml, sleep at 20:00\n"
    assert first("".join(form.format(n=n) for n in range(1, 31))) is None


def test_a_count_next_to_chinese_is_one_and_takes_half_the_characters() -> None:
    chinese = "".join(f"第{n}步：请按下按钮，然后等待指示灯亮起。\n" for n in range(1, 200))
    english = "".join(f"Step {n}: Press the button and wait for the light.\n" for n in range(1, 200))
    two, one = first(chinese), first(english)
    assert one is not None
    assert two is not None
    assert 0.4 < two.mass / one.mass < 0.7
    diary = "".join(f"2024年3月{n}日，天气晴，没有什么特别的事情。\n" for n in range(1, 32))
    assert first(diary) is None


@pytest.mark.parametrize(
    "before", ["| a | b |\n|---|---|\n| 1 | 2 |\n\n", "<div>\n<p>\n", "word\n#\n", "- **"]
)
@pytest.mark.parametrize(
    "form",
    [
        "Step {n}: Press the button and wait for the light. ",
        "the light number {n}, ",
        "{n}. " + words(900, 4) + "\n",
        "第{n}步：请按下按钮，然后等待指示灯亮起。",
    ],
)
def test_marks_before_a_counter_do_not_hide_it(before: str, form: str) -> None:
    text = "".join(form.format(n=n) for n in range(1, 8000 // len(form) + 6))
    plain, behind = first("Sure.\n\n" + text), first(before + text)
    assert plain is not None
    assert behind is not None
    assert abs((behind.at - len(before)) - (plain.at - 7)) < 80


@pytest.mark.parametrize(
    "form",
    [
        "{n}번째 버튼을 누르고 불이 켜질 때까지 기다립니다",
        "กดปุ่มที่ {n} แล้วรอจนกว่าไฟจะติด",
        "we press the {n} button and wait for the light",
        "نضغط على الزر رقم {n} وننتظر حتى يضيء المصباح",
        "हम बटन {n} दबाते हैं और बत्ती जलने का इंतज़ार करते हैं",
    ],
)
def test_a_counter_is_told_in_any_script(form: str) -> None:
    text = "".join(f"{form.format(n=n)}.\n\n" for n in range(1, 120))
    finding = first("Well.\n\n" + text)
    assert finding is not None
    assert finding.mass < 3000


def test_numbers_that_varied_first_put_off_a_counter_no_longer_than_it_takes() -> None:
    numbers = [*(n * n * 37 % 900 for n in range(8)), *range(200)]
    said = "We look at case {} now, and it is the same as all others so far. "
    finding = first("".join(map(said.format, numbers)))
    assert finding is not None
    assert finding.at < 2000
