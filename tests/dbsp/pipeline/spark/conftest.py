"""The shop that the tests of sources and sinks share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.kafka import Broker, kafka
from tests.servers.registry import SchemaRegistry, schema_registry


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """A Kafka that no test kills."""
    with kafka() as started:
        yield started


@pytest.fixture(scope="session")
def schemas() -> Iterator[SchemaRegistry]:
    """A registry that no test kills."""
    with schema_registry() as started:
        yield started
