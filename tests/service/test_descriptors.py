"""The limit to open files is raised as far as the guard may need, and never lowered."""

from collections.abc import Iterator

import pytest

from ollama_guard.service import descriptors

resource = pytest.importorskip("resource")


@pytest.fixture
def hard() -> Iterator[int]:
    """The hard limit; the soft one is 256 inside, and what it was afterwards."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] != resource.RLIM_INFINITY and before[1] < 1000:
        pytest.skip("the hard limit is low here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def soft() -> int:
    return int(resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def test_it_is_raised_to_what_is_needed(hard: int) -> None:
    descriptors.allow(576)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (576, hard)


def test_it_is_never_lowered(hard: int) -> None:
    descriptors.allow(100)
    assert soft() == 256


def test_it_stays_below_the_hard_limit(hard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 500))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    descriptors.allow(576)
    assert asked == [(500, 500)]
    assert descriptors.possible() == 500


def test_a_system_that_refuses_is_left_as_it_is(hard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    descriptors.allow(576)
    assert soft() == 256


def test_an_answer_needs_two_and_there_is_room_for_others() -> None:
    assert descriptors.needed(256) == 576
