"""What a fault in a detector costs: the verdicts of that attempt, and nothing else."""

from dataclasses import replace

import pytest

from ollama_guard.detect.finding import Finding, Kind
from ollama_guard.detect.rules import BALANCED
from ollama_guard.detect.watch import Watch
from ollama_guard.engine.messages import Record
from ollama_guard.engine.watching import Watching
from tests.bench.prose import prose
from tests.playbook import Play, loop


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Detectors that fail at a word, with the text in their message."""
    feed = Watch.feed

    def fail(self: Watch, channel: str, text: str) -> object:
        if "blue" in text and self._rules.content.enabled:
            raise ValueError(text)
        return feed(self, channel, text)

    monkeypatch.setattr(Watch, "feed", fail)


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("dialect", ["openai-chat", "ollama-chat"])
def test_a_fault_in_a_detector_changes_no_byte_and_is_told_once(dialect: str) -> None:
    play = Play(dialect)
    play.begin()
    play.headers()
    for _ in range(3):
        play.say(loop())
    play.finish()
    assert play.sent == play.upstream_bytes
    rows = [output for output in play.log if isinstance(output, Record)]
    assert [row.event for row in rows] == ["fault", "exchange"]
    assert rows[0].fields["error"].startswith("ValueError in test_watching.py:")
    assert "blue" not in str(rows[0].fields)
    assert rows[1].fields["outcome"] == "done"


@pytest.mark.usefixtures("broken")
def test_equal_deltas_are_counted_on_after_a_fault() -> None:
    told: list[str] = []
    watching = Watching(BALANCED, "")
    watching.on_fault = told.append
    watching.feed("content", "so blue")
    for _ in range(40):
        assert watching.feed("content", "ha") is None
    assert len(told) == 1
    assert watching.equal_deltas("content") == 40
    assert watching.length("content") == 80
    assert not watching.suspect("content")


def test_without_a_fault_it_is_the_watch_itself() -> None:
    watching = Watching(BALANCED, "")
    watching.on_fault = pytest.fail
    finding = watching.feed("content", loop())
    assert finding is not None
    assert finding.kind is Kind.PERIODIC


@pytest.mark.parametrize("dialect", ["openai-chat", "ollama-chat"])
def test_an_agent_writes_back_the_file_that_a_tool_has_read(dialect: str) -> None:
    file = "<li>One and the same line of a long list that stands in a file.</li>\n" * 20
    asked = {"role": "user", "content": "Write list.html again."}
    play = Play(dialect, ask={"messages": [asked, {"role": "tool", "content": file}]})
    play.begin().headers()
    play.say(file)
    play.finish()
    assert play.cuts == []
    assert play.sent == play.upstream_bytes
    unread = Play(dialect, ask={"messages": [asked]})
    unread.begin().headers()
    unread.say(file)
    assert unread.cuts


def pieces(watching: Watching) -> list[Finding | None]:
    return list(watching.catch_up())


def test_what_is_put_off_is_judged_when_it_is_caught_up_with() -> None:
    watching = Watching(BALANCED, "")
    watching.put_off()
    assert watching.feed("content", loop()) is None
    assert not watching.suspect("content")
    found = [finding for finding in pieces(watching) if finding is not None]
    assert found == [Watching(BALANCED, "").feed("content", loop())]


def test_a_long_text_is_judged_by_the_piece_with_the_same_verdict() -> None:
    text = prose(4, 50_000) + loop() + prose(5, 50_000)
    watching = Watching(BALANCED, "")
    watching.put_off()
    watching.feed("reasoning", "A short thought. ")
    watching.feed("content", text)
    told = pieces(watching)
    assert len(told) > 40
    found = [finding for finding in told if finding is not None]
    assert found == [Watching(BALANCED, "").feed("content", text)]
    assert watching.length("reasoning") == 17


def test_the_pieces_of_one_delta_are_no_run_of_equal_ones() -> None:
    watching = Watching(replace(BALANCED, content=replace(BALANCED.content, enabled=False)), "")
    watching.put_off()
    watching.feed("content", "ab" * 40_000)
    assert len(pieces(watching)) > 30
    assert watching.equal_deltas("content") == 1
    assert watching.length("content") == 80_000
