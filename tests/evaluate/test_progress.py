import io

from ollama_guard.evaluate.course import Result
from ollama_guard.evaluate.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(out: io.StringIO, moments: list[float]) -> str:
    clock = iter([0.0, *moments])
    progress = Progress(out, clock=lambda: next(clock))
    for count in range(1, len(moments) + 1):
        progress(Result({}, texts=count, chars=1_000_000 * count))
    progress.end()
    return out.getvalue()


def test_a_short_evaluation_says_nothing() -> None:
    assert shown(Terminal(), [0.5, 1.9]) == ""


def test_a_terminal_line_is_written_over_and_cleared_at_the_end() -> None:
    text = shown(Terminal(), [2.0, 2.1, 2.6])
    assert text.count("\r") == 3
    assert "\n" not in text
    assert "3 texts, 3.0 million characters (1.15 a second)" in text
    assert text.endswith("\r\x1b[K")


def test_a_log_gets_a_line_every_half_minute() -> None:
    lines = shown(io.StringIO(), [2.0, 10.0, 31.9, 32.0]).splitlines()
    assert [line.split(",")[0] for line in lines] == ["1 texts", "4 texts"]
