"""The shop that the tests of sources and sinks share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dbsp.pipeline.spark.shop import sell
from tests.servers.kafka import Broker, kafka


@pytest.fixture
def shop(tmp_path):
    """Files of two sources, and nothing else yet."""
    (tmp_path / "sales").mkdir()
    (tmp_path / "products").mkdir()
    (tmp_path / "products" / "all.json").write_text('{"id": 1, "name": "a"}\n{"id": 2, "name": "b"}\n')
    for name in ("1", "2"):
        sell(tmp_path, name)
    return tmp_path


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """A Kafka that no test kills."""
    with kafka() as started:
        yield started
