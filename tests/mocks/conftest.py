"""Fixtures of the mock's own tests."""

from collections.abc import Iterator

import pytest

from mocks.server import MockOllama
from tests.net import mock_server


@pytest.fixture
def mock() -> Iterator[MockOllama]:
    with mock_server() as server:
        yield server
