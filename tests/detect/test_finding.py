from ollama_guard.detect.finding import Kind


def test_loops_are_told_from_other_findings() -> None:
    assert {kind for kind in Kind if kind.loop} == {
        Kind.PERIODIC,
        Kind.VARIANT,
        Kind.DRIFT,
        Kind.NOVELTY,
        Kind.TOKEN_RUN,
    }
