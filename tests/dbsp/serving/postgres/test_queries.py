"""What a SELECT gives: any query of Spark, and without waiting for a step."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.dbsp.serving.postgres.connected import Served, connected, shops

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def port() -> Any:
    with connected() as served:
        served.http.posted("orders", shops())
        yield served


def test_any_query_of_spark(port: Served) -> None:
    query = """
    SELECT shop, total, rank() OVER (ORDER BY n DESC, shop) AS place
    FROM turnover WHERE total > 1 AND shop LIKE 's%' ORDER BY place LIMIT 2
    """
    assert [(row[0], row[2]) for row in port.asked(query)] == [("s0", 1), ("s1", 2)]
    with port.connect() as one, one.pipeline():
        found = [one.execute("SELECT n FROM turnover WHERE shop = %s", (f"s{i}",)) for i in range(3)]
        assert [each.fetchall() for each in found] == [[(4,)], [(3,)], [(3,)]]


def test_reading_waits_for_no_step(port: Served) -> None:
    with port.serving.pipeline._lock, port.connect() as one:
        held = threading.Thread(target=port.serving.pipeline.step)
        held.start()
        assert len(one.execute("SELECT * FROM turnover").fetchall()) == 3
    held.join()


def test_a_query_is_in_the_order_that_it_asks_for(port: Served) -> None:
    with port.connect() as one:
        found = one.execute(
            "SELECT shop FROM latest WHERE price IS NOT NULL ORDER BY id DESC LIMIT 3"
        ).fetchall()
        assert found == [(f"s{i % 3}",) for i in (9, 7, 6)]
        described = one.execute("SELECT shop FROM latest ORDER BY id").description
        assert described is not None and [column.name for column in described] == ["shop"]
