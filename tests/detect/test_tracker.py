import string

from hypothesis import given, settings
from hypothesis import strategies as st

from ollama_guard.detect.run import Goal, Hit, Run
from ollama_guard.detect.tracker import FAR, NEAR, Tier, Tracker

WINDOW = 2_000
MASS = FAR.anchor + FAR.stride


def tracker(mass: int = MASS, *, short: Tier | None = None, max_period: int = 900) -> Tracker:
    return Tracker(
        lambda run: Goal(mass // 2, max(mass, 2 * run.period)),
        lambda _: mass // 2,
        window=WINDOW,
        max_period=max_period,
        short=short,
    )


def first_hit(text: str, step: int = 7, **options: object) -> Hit | None:
    subject = tracker(**options)  # type: ignore[arg-type]
    for begin in range(0, len(text), step):
        hit = subject.feed(text[begin : begin + step])
        if hit is not None:
            return hit
    return None


def prose(length: int, seed: int = 1) -> str:
    """Text without repetition, the same at each run."""
    state = seed
    out: list[str] = []
    while len(out) < length:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(string.ascii_lowercase[(state >> 33) % 26])
    return "".join(out)


def test_a_run_is_found_at_the_character_where_its_mass_is_full() -> None:
    before, unit = prose(500), "the same words again. "
    hit = first_hit(before + unit * 20)
    assert hit is not None
    assert (hit.run.period, hit.run.start) == (len(unit), 500 + len(unit))
    assert hit.at == hit.run.start + MASS


def test_text_without_repetition_has_no_runs_at_its_end() -> None:
    subject = tracker()
    subject.feed(prose(10_000))
    assert subject.runs == []


def test_each_period_up_to_the_longest_is_found() -> None:
    for period in (1, 2, 3, 7, 25, 80, 300, 900):
        unit = prose(period, seed=period)
        hit = first_hit(prose(700, seed=99) + unit * (MASS // period + 4))
        assert hit is not None, period
        assert hit.run.period == period


def test_the_shortest_period_is_the_one_reported() -> None:
    hit = first_hit(prose(100) + "ab" * 200)
    assert hit is not None
    assert hit.run.period == 2


def test_a_loop_whose_unit_holds_a_smaller_loop_is_found() -> None:
    unit = "start " + "x " * 11 + "end of the line; " + prose(40)
    hit = first_hit(prose(300) + unit * 6, mass=200)
    assert hit is not None
    assert hit.run.period == len(unit)


def test_a_run_that_ends_inside_a_delta_after_its_mass_is_full_is_still_found() -> None:
    text = prose(300) + "na " * 60 + prose(300, seed=5)
    hits = {first_hit(text, step) for step in (1, 10_000)}
    assert len({(hit.run.period, hit.run.start, hit.at) for hit in hits if hit}) == 1


def test_the_buffer_stays_bounded() -> None:
    subject = tracker()
    for _ in range(100):
        subject.feed(prose(997))
        subject.runs.clear()
    assert len(subject.text(0, subject.length)) < WINDOW + 4096 + 997


def test_a_short_search_finds_what_the_long_one_comes_too_late_for() -> None:
    hit = first_hit(prose(301) + "wait no " * 3, mass=16, short=Tier(8, 8, 24))
    assert hit is not None
    assert (hit.run.period, hit.at) == (8, 301 + 24)


def test_the_unit_of_a_run_longer_than_the_window_starts_at_the_same_phase() -> None:
    subject = Tracker(lambda _: Goal(1, 10**9), lambda _: 50, window=WINDOW, max_period=900)
    subject.feed("ab" + "hello world, " * 2000)
    (run,) = subject.runs
    assert isinstance(run, Run)
    assert subject.unit(run) == "hello world, "


@settings(max_examples=60, deadline=None)
@given(
    st.text("abc ", min_size=0, max_size=200),
    st.text("abcd ", min_size=1, max_size=60),
    st.lists(st.integers(1, 50), min_size=1, max_size=40),
)
def test_the_split_into_deltas_changes_nothing(before: str, unit: str, cuts: list[int]) -> None:
    text = before + unit * (400 // len(unit))
    whole = tracker().feed(text)
    pieces, place = tracker(), 0
    split: Hit | None = None
    for cut in [*cuts, len(text)]:
        split = pieces.feed(text[place : place + cut])
        place += cut
        if split is not None or place >= len(text):
            break
    assert (whole is None) == (split is None)
    if whole and split:
        assert (whole.at, whole.run.period, whole.run.start) == (split.at, split.run.period, split.run.start)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 120), st.text("abcd ", min_size=1, max_size=60))
def test_an_unrelated_prefix_moves_nothing(length: int, unit: str) -> None:
    loop = "#" + unit * (400 // len(unit))
    alone, behind = first_hit(loop), first_hit(prose(length) + loop)
    assert alone is not None
    assert behind is not None
    assert (behind.at - length, behind.run.period) == (alone.at, alone.run.period)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "ab", "b", "cab", "d"]), st.integers(1, 90)), max_size=30))
def test_the_runs_followed_are_those_of_a_plain_search(parts: list[tuple[str, int]]) -> None:
    """Also in text of few letters, where a part of the anchor is searched for instead of the whole."""
    subject = tracker(10**6, max_period=700)
    text = "".join(unit * count for unit, count in parts)
    text = text[: len(text) // FAR.stride * FAR.stride]
    subject.feed(text)
    if text and not subject.runs:  # nothing that ends here: no earlier place of the last characters
        for tier in (NEAR, FAR._replace(reach=700)):
            if len(text) % tier.stride == 0 and len(text) > tier.anchor:
                begin = max(0, len(text) - tier.anchor - tier.reach)
                assert text.rfind(text[-tier.anchor :], begin, len(text) - 1) < 0
    for run in subject.runs:
        assert run.start - run.period >= 0
        assert text[run.start :] == text[run.start - run.period : len(text) - run.period]
        assert run.start == run.period or text[run.start - 1] != text[run.start - run.period - 1]


def test_text_that_waits_for_the_next_search_can_be_read() -> None:
    subject = tracker()
    subject.feed("abc")
    assert subject.text(0, 3) == "abc"
    subject.feed("de")
    assert subject.text(1, 5) == "bcde"
    assert subject.feed("x" * 30) is None
    assert subject.text(3, 9) == "dexxxx"
