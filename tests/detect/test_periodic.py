from ollama_guard.detect.asked import Asked
from ollama_guard.detect.finding import Kind
from ollama_guard.detect.measure import Measure
from ollama_guard.detect.periodic import UNIT_SHOWN, Periodic, describe
from ollama_guard.detect.rules import BALANCED
from tests.detect.material import words


def periodic(prompt: str = "") -> Periodic:
    return Periodic(Measure(BALANCED.content, Asked(prompt)), window=25_000, max_period=12_000)


def test_a_fence_that_was_opened_long_ago_still_counts() -> None:
    line = "Nothing to report from the station today.\n"
    inside, outside = periodic(), periodic()
    assert inside.feed("```\n" + words(60_000)) is None
    assert outside.feed("```\n```\n" + words(60_000)) is None
    first, second = inside.feed("\n" + line * 20), outside.feed("\n" + line * 20)
    assert first is not None
    assert second is not None
    assert first.at - first.run.start == BALANCED.content.code * (second.at - second.run.start)


def test_a_block_that_opens_and_closes_its_fence_is_no_code() -> None:
    block = "```json\n{\n}\n```\n\n"
    hit = periodic().feed(words(500) + "\n\n" + block * 40)
    assert hit is not None
    assert hit.at - hit.run.start == 240


def test_a_loop_longer_than_the_window_names_its_unit_at_the_right_phase() -> None:
    subject = periodic("Write 'all is well' 9000 times")
    hit = subject.feed("#" + "all is well, " * 10_000)
    assert hit is not None
    finding = subject.finding(hit, "content")
    assert finding.unit == "all is well, "
    assert finding.onset == 14


def test_the_evidence_names_the_shortest_unit() -> None:
    finding = describe(Kind.PERIODIC, "content", "abab", 4, 100)
    assert (finding.unit, finding.period, finding.mass, finding.repeats) == ("ab", 2, 96, 49.0)
    assert "'ab' (2 characters) stands 49 times in a row from character 2" in finding.detail


def test_one_character_is_counted_as_one() -> None:
    assert "(1 character)" in describe(Kind.PERIODIC, "content", "GG", 1, 300).detail


def test_a_long_unit_is_shortened() -> None:
    finding = describe(Kind.PERIODIC, "content", words(1000), 1000, 3000)
    assert len(finding.unit) == UNIT_SHOWN
    assert finding.unit.endswith("…")
    assert finding.period == 1000
