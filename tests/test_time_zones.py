"""The laws under another session time zone: Spark SQL in that zone is the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from sql.program import compile_program
from tests import laws
from tests.laws import Case
from tests.oracle import Spark
from tests.programs import Program, View, table
from tests.strategies import Change

pytestmark = pytest.mark.spark

QUERIES = {
    "days": "SELECT CAST(ts AS DATE) AS d, count(*) AS n FROM e GROUP BY CAST(ts AS DATE)",
    "hours": "SELECT date_trunc('DAY', ts) AS h, hour(ts) AS o, k FROM e",
    "windows": "SELECT window.start AS a, count(*) AS n FROM e GROUP BY window(ts, '1 day')",
    "later": "SELECT ts + INTERVAL '1' DAY AS a, ts + INTERVAL '24' HOUR AS b FROM e",
    "months": "SELECT ts + INTERVAL '1' MONTH AS c FROM e",
    "texts": "SELECT CAST(ts AS STRING) AS s, date_format(ts, 'yyyy-MM-dd HH:mm xxx') AS f FROM e",
    "literal": "SELECT k FROM e WHERE ts >= TIMESTAMP '2024-03-10 02:30:00'",
    "from_dates": "SELECT CAST(dt AS TIMESTAMP) AS t FROM e",
}
PROGRAM = Program(
    (table("e", "k BIGINT, ts TIMESTAMP, dt DATE"),),
    tuple(View(name, query, None) for name, query in QUERIES.items()),
)
# around New York's changes of clock in 2024, and a date far back
TIMES = [
    datetime(2024, 3, 10, 6, 59, 59, tzinfo=UTC),
    datetime(2024, 3, 10, 7, 0, tzinfo=UTC),
    datetime(2024, 3, 9, 7, 30, tzinfo=UTC),
    datetime(2024, 11, 3, 5, 30, tzinfo=UTC),
    datetime(2024, 11, 3, 6, 30, tzinfo=UTC),
    datetime(1900, 1, 1, tzinfo=UTC),
]


@pytest.fixture(params=["America/New_York", "Asia/Kolkata", "+05:45"])
def zoned(spark: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", request.param)
    yield session
    spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_incremental_equals_spark(zoned: Any) -> None:
    case = Case(PROGRAM, compile_program(PROGRAM.text, session=zoned))
    rows = [(i, moment, moment.date()) for i, moment in enumerate(TIMES)]
    run = [
        {"e": [Change("insert", row) for row in rows[:4]]},
        {"e": [Change("insert", row) for row in rows[4:]] + [Change("retract", rows[0])]},
    ]
    laws.incremental_equals_batch(case, run, Spark(zoned))
