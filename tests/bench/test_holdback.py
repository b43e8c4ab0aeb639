from tests.bench import holdback
from tests.bench.prose import prose

SENTENCE = "And so the sky is blue, as anybody can see. "


def test_a_healthy_text_is_shown_whole_and_never_held() -> None:
    run = holdback.made_run("healthy", prose(1, 2000))
    outcome = holdback.play(run, holdback.pace(len(run["chunks"])))
    assert outcome == holdback.Outcome(shown=2000, held_sec=0.0, longest_sec=0.0, cut=False)


def test_of_a_loop_hardly_more_than_one_copy_is_shown() -> None:
    before = prose(2, 600)
    run = holdback.made_run("loop", before + SENTENCE * 20, channel="reasoning")
    outcome = holdback.play(run, holdback.pace(len(run["chunks"])))
    assert outcome.cut
    assert len(before + SENTENCE) <= outcome.shown <= len(before + SENTENCE) + 56


def test_a_repetition_that_ends_is_held_for_a_while_only() -> None:
    text = prose(3, 600) + SENTENCE * 3 + prose(4, 600)
    run = holdback.made_run("again", text)
    outcome = holdback.play(run, holdback.pace(len(run["chunks"]), rate=10.0))
    assert (outcome.shown, outcome.cut) == (len(text), False)
    assert 0.5 < outcome.held_sec == outcome.longest_sec < 2.5


def test_what_is_held_at_the_end_counts_as_held() -> None:
    run = holdback.made_run("end", prose(5, 600) + SENTENCE * 3)
    outcome = holdback.play(run, holdback.pace(len(run["chunks"]), rate=10.0))
    assert outcome.shown < len(run["text"])
    assert outcome.held_sec > 0.5
