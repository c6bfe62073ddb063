"""The shop that the tests of sources and sinks share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.kafka import Broker, kafka


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """A Kafka that no test kills."""
    with kafka() as started:
        yield started
