"""One mock upstream, and one guard in front of it for each set of settings that a case needs."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

import pytest

from mocks.server import MockOllama
from tests.contract.asking import Clients
from tests.contract.scripts import register_fast
from tests.net import Guard, free_port, guard_server, mock_server

Guards = Callable[[Mapping[str, object]], Guard]
ClientsOf = Callable[[str], Clients]


@pytest.fixture(scope="session")
def upstream() -> Iterator[MockOllama]:
    with mock_server() as server:
        register_fast(server)
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

        def give(settings: Mapping[str, object]) -> Guard:
            key = tuple(sorted(settings.items()))
            if key not in known:
                known[key] = stack.enter_context(guard_server(upstream.url, settings))
            return known[key]

        yield give


@pytest.fixture(scope="session")
def alone() -> Iterator[Guard]:
    """A guard with nothing behind it."""
    with guard_server(f"http://127.0.0.1:{free_port()}") as guard:
        yield guard


@pytest.fixture(scope="session")
def clients() -> Iterator[ClientsOf]:
    """Gives the SDKs' clients for a server; the same ones for the same."""
    with asyncio.Runner() as runner:
        known: dict[str, Clients] = {}

        def give(url: str) -> Clients:
            if url not in known:
                known[url] = Clients(url, runner)
            return known[url]

        yield give
        for each in known.values():
            each.close()
