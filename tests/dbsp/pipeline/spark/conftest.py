"""Servers that tests of sources and sinks share: each file finds them empty, whichever ran before it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dbsp.pipeline.spark.messages import codecs
from tests.servers.kafka import Broker, kafka
from tests.servers.registry import SchemaRegistry, schema_registry


@pytest.fixture(scope="session")
def running_broker() -> Iterator[Broker]:
    with kafka() as started:
        yield started


@pytest.fixture(scope="module")
def broker(running_broker: Broker) -> Iterator[Broker]:
    """A Kafka that no test kills. Its topics go with the file that wrote them."""
    yield running_broker
    running_broker.empty()


@pytest.fixture(scope="session")
def running_registry() -> Iterator[SchemaRegistry]:
    with schema_registry() as started:
        yield started


@pytest.fixture(scope="module")
def schemas(running_registry: SchemaRegistry) -> Iterator[SchemaRegistry]:
    """A registry that no test kills. Its subjects go with the file that wrote them."""
    yield running_registry
    running_registry.empty()
    codecs._registered.cache_clear()
