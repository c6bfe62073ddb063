"""What a SELECT gives: any query of Spark, and without waiting for a step."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
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


def test_what_only_spark_evaluates_is_its_and_said(port: Served) -> None:
    said: list[str] = []
    with port.connect() as one:
        one.add_notice_handler(lambda notice: said.append(f"{notice.severity} {notice.message_primary}"))
        drawn = one.execute("SELECT id, rand() AS r FROM latest WHERE id < %s ORDER BY r", (5,)).fetchall()
        assert sorted(row[0] for row in drawn) == [0, 1, 2, 3, 4] and drawn == sorted(
            drawn, key=lambda row: row[1]
        )
        assert len(said) == 1 and said[0].startswith(
            "NOTICE Spark has evaluated this query: query:1:12: rand()"
        )
        with one.cursor() as cursor, cursor.copy("COPY (SELECT uuid() FROM turnover) TO STDOUT") as copied:
            assert len({bytes(row) for row in copied}) == 3
        assert len(said) == 2
        one.execute("SELECT shop FROM turnover")
        assert len(said) == 2
    with port.connect() as one:  # as drivers do that prepare first
        described = one.execute("SELECT uuid() AS u FROM turnover", prepare=True, binary=True)
        assert [len(row[0]) for row in described] == [36] * 3


def test_a_query_asks_nothing_of_the_machine(port: Served) -> None:
    with port.connect() as one:
        for query in (
            "SELECT rand(), * FROM text.`/etc/hostname`",
            "SELECT reflect('java.lang.System', 'nanoTime')",
        ):
            with pytest.raises(psycopg.errors.SyntaxError):
                one.execute(query)
        assert one.execute("SELECT '${env:PATH}'").fetchall() == [("${env:PATH}",)]
