import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.silence import ALIVE_SEC, Silence, SilenceLimits

LIMITS = SilenceLimits(
    reasoning_sec=60, reasoning_chars=20_000, total_sec=120, first_byte_sec=300, gap_sec=30, tools_gap_sec=200
)


def kind(finding: Finding | None) -> Kind | None:
    return finding.kind if finding else None


def started(*, tools: bool = False, at: float = 100.0, limits: SilenceLimits = LIMITS) -> Silence:
    silence = Silence(limits, tools=tools, now=0.0)
    silence.event(at)
    return silence


def test_before_the_first_byte_only_its_own_limit_counts() -> None:
    silence = Silence(LIMITS, tools=False, now=10.0)
    assert silence.deadline() == 310.0
    assert silence.check(309.9) is None
    assert kind(silence.check(310.0)) is Kind.SILENT


def test_total_time_counts_from_the_first_event_not_from_the_request() -> None:
    silence = Silence(SilenceLimits(total_sec=120), tools=False, now=0.0)
    silence.byte(50.0)
    assert silence.deadline() is None
    silence.event(100.0)
    assert silence.deadline() == 220.0
    assert silence.check(219.9) is None
    assert kind(silence.check(220.0)) is Kind.TOTAL


def test_reasoning_stalls_counted_from_its_first_token() -> None:
    silence = started(at=100.0)
    silence.byte(115.0)
    assert silence.reasoning(4, 120.0) is None
    for now in range(125, 180, 5):
        assert silence.reasoning(4, float(now)) is None
    finding = silence.reasoning(4, 180.0)
    assert kind(finding) is Kind.STALL
    assert finding is not None
    assert "60.0 s of reasoning (52 characters)" in finding.detail


def test_reasoning_stalls_by_size() -> None:
    silence = started()
    assert silence.reasoning(19_999, 101.0) is None
    finding = silence.reasoning(1, 101.0)
    assert finding is not None
    assert (finding.kind, finding.channel, finding.at) == (Kind.STALL, "reasoning", 20_000)


def test_an_answer_ends_the_reasoning_stall_but_not_the_total() -> None:
    silence = started(at=100.0, limits=SilenceLimits(reasoning_sec=60, reasoning_chars=100, total_sec=120))
    silence.reasoning(50, 100.0)
    silence.answer(110.0)
    assert silence.reasoning(500, 190.0) is None
    assert kind(silence.check(220.0)) is Kind.TOTAL


def test_a_stall_runs_by_the_clock_while_nothing_arrives() -> None:
    silence = started(limits=SilenceLimits(reasoning_sec=60, gap_sec=300))
    silence.reasoning(10, 100.0)
    assert silence.deadline() == 160.0
    assert kind(silence.check(160.0)) is Kind.STALL


def test_a_gap_counts_from_the_last_byte() -> None:
    silence = started(limits=SilenceLimits(gap_sec=30))
    silence.byte(120.0)
    assert silence.deadline() == 150.0
    assert kind(silence.check(150.0)) is Kind.SILENT


def test_with_tools_a_limit_inside_a_gap_waits_for_the_next_event() -> None:
    silence = started(tools=True)
    silence.reasoning(10, 100.0)
    assert silence.deadline() == 300.0  # the tools' gap; the stall at 160 and the total at 220 lie inside it
    assert silence.check(250.0) is None
    assert kind(silence.reasoning(10, 250.0)) is Kind.STALL


def test_with_tools_a_limit_just_after_an_event_is_not_in_a_gap() -> None:
    silence = started(tools=True)
    silence.reasoning(10, 100.0)
    silence.reasoning(10, 160.0 - ALIVE_SEC)
    assert silence.deadline() == 160.0
    assert kind(silence.check(160.0)) is Kind.STALL


def test_with_tools_a_gap_ends_at_its_own_limit() -> None:
    silence = started(tools=True, at=100.0)
    assert kind(silence.check(300.0)) is Kind.SILENT


def test_the_limit_that_passed_first_is_the_one_reported() -> None:
    silence = started(at=100.0)
    silence.reasoning(1, 100.0)
    silence.byte(1000.0)
    assert kind(silence.check(1000.0)) is Kind.STALL


def test_all_limits_off_ask_for_no_check() -> None:
    silence = Silence(SilenceLimits(), tools=False, now=0.0)
    assert silence.deadline() is None
    silence.event(1.0)
    assert silence.reasoning(10**9, 2.0) is None
    assert silence.deadline() is None


def test_empty_reasoning_does_not_start_the_clock() -> None:
    silence = started(limits=SilenceLimits(reasoning_sec=60))
    silence.reasoning(0, 100.0)
    assert silence.deadline() is None


def test_a_limit_that_is_not_positive_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"total_sec must be more than 0.*not -1"):
        SilenceLimits(total_sec=-1)


@given(st.booleans(), st.lists(st.tuples(st.sampled_from("bera"), st.floats(0.01, 40)), max_size=30))
def test_a_check_before_the_deadline_finds_nothing_and_at_it_something(
    tools: bool, steps: list[tuple[str, float]]
) -> None:
    silence, now = Silence(LIMITS, tools=tools, now=0.0), 0.0
    for step, pause in steps:
        now += pause
        if silence.check(now) is not None:
            return
        if step == "r":
            silence.reasoning(1, now)
        else:
            {"b": silence.byte, "e": silence.event, "a": silence.answer}[step](now)
    deadline = silence.deadline()
    assert deadline is not None
    if deadline > now:
        assert silence.check((now + deadline) / 2) is None
    assert silence.check(max(now, deadline)) is not None
