"""One mock upstream and one guard with the default settings for all live tests; others as they are needed."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

import pytest

from mocks.server import MockOllama
from tests.net import Guard, guard_server, mock_server

Guards = Callable[..., Guard]

IMPATIENT: Mapping[str, object] = {
    "empty.max_retries": 2,
    "empty.pause_sec": 0.05,
    "empty.pause_max_sec": 0.1,
    "empty.keepalive_sec": 0.6,
}


@pytest.fixture(scope="session")
def upstream() -> Iterator[MockOllama]:
    with mock_server() as server:
        yield server


@pytest.fixture
def mock(upstream: MockOllama) -> MockOllama:
    """The mock upstream with an empty journal."""
    assert upstream.journal.settled(20), "an earlier test left a request running"
    upstream.reset()
    return upstream


@pytest.fixture(scope="session")
def guards(upstream: MockOllama) -> Iterator[Guards]:
    """Gives a guard in front of the mock for these settings (dotted keys); the same one for the same."""
    with ExitStack() as stack:
        known: dict[tuple[tuple[str, object], ...], Guard] = {}

        def give(settings: Mapping[str, object] | None = None) -> Guard:
            key = tuple(sorted((settings or {}).items()))
            if key not in known:
                known[key] = stack.enter_context(guard_server(upstream.url, settings))
            return known[key]

        yield give


@pytest.fixture
def guard(guards: Guards) -> Guard:
    """The guard with its default settings."""
    return guards()
