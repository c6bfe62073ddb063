"""The laws under another session time zone: Spark SQL in that zone is the oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dbsp.circuits.steps.next_wakeup import next_due
from dbsp.sql.compiler.load import compile_program
from tests.generators.programs import Program, View, table
from tests.generators.strategies import Change
from tests.laws import laws
from tests.laws.laws import Case, Running
from tests.oracles.oracle import Spark

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


# conditions whose reading of the clock goes back where local clocks do, or at the ends of months
CONDITIONS = {
    "day": "ts > now() - INTERVAL 1 DAY",
    "days": "ts BETWEEN now() - INTERVAL 25 HOURS AND now() - INTERVAL 1 DAY",
    "date": "CAST(ts AS DATE) = current_date()",
    "days_ago": "CAST(ts AS DATE) >= date_sub(current_date(), 1)",
    "local": "CAST(ts AS TIMESTAMP_NTZ) <= localtimestamp()",
    "age": "now() - ts < INTERVAL 90 MINUTES",
    "month": "ts > now() - INTERVAL 1 MONTH",
    "next_month": "ts <= now() + INTERVAL 1 MONTH",
    "truncated": "date_trunc('DAY', now() - INTERVAL 1 DAY) = date_trunc('DAY', ts)",
    "hour": "hour(ts) = hour(now())",
    "either": "ts < now() - INTERVAL 2 DAYS OR CAST(ts AS DATE) > current_date()",
}


def moments_of(first: datetime, last: datetime, apart: timedelta) -> list[datetime]:
    return [first + n * apart for n in range((last - first) // apart + 1)]


CLOCKS = {
    "America/New_York": [  # back at 06:00 UTC of 3 November, forward at 07:00 UTC of 10 March
        *moments_of(
            datetime(2024, 3, 10, 6, tzinfo=UTC), datetime(2024, 3, 10, 8, tzinfo=UTC), timedelta(minutes=30)
        ),
        *moments_of(
            datetime(2024, 3, 11, 5, tzinfo=UTC), datetime(2024, 3, 11, 8, tzinfo=UTC), timedelta(minutes=30)
        ),
        *moments_of(
            datetime(2024, 3, 28, 4, tzinfo=UTC), datetime(2024, 4, 1, 16, tzinfo=UTC), timedelta(hours=6)
        ),
        *moments_of(
            datetime(2024, 11, 3, 4, tzinfo=UTC), datetime(2024, 11, 3, 8, tzinfo=UTC), timedelta(minutes=30)
        ),
        *moments_of(
            datetime(2024, 11, 4, 4, tzinfo=UTC), datetime(2024, 11, 4, 8, tzinfo=UTC), timedelta(minutes=30)
        ),
    ],
    "America/Sao_Paulo": [  # back at midnight, 02:00 UTC of 18 February 2018: a date comes again
        *moments_of(
            datetime(2018, 2, 18, 0, tzinfo=UTC), datetime(2018, 2, 18, 5, tzinfo=UTC), timedelta(minutes=30)
        ),
        *moments_of(
            datetime(2018, 2, 19, 0, tzinfo=UTC), datetime(2018, 2, 19, 5, tzinfo=UTC), timedelta(minutes=30)
        ),
        *moments_of(
            datetime(2018, 3, 28, 0, tzinfo=UTC), datetime(2018, 4, 1, 0, tzinfo=UTC), timedelta(hours=6)
        ),
    ],
    "UTC": moments_of(
        datetime(2024, 3, 27, tzinfo=UTC), datetime(2024, 4, 1, 12, tzinfo=UTC), timedelta(hours=4)
    ),
}


@pytest.mark.parametrize("zone", CLOCKS)
def test_conditions_on_the_clock(spark: Any, zone: str) -> None:
    """At each of many clocks the rows that Spark SQL finds, beside all clocks at once."""
    clocks = CLOCKS[zone]
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    try:
        views = tuple(View(n, f"SELECT k FROM e WHERE {c}", None) for n, c in CONDITIONS.items())
        program = Program((table("e", "k BIGINT, ts TIMESTAMP"),), views)
        case = Case(program, compile_program(program.text, session=session))
        shifts = [
            timedelta(0),
            timedelta(days=1),
            timedelta(days=-31),
            timedelta(hours=25),
            timedelta(minutes=-10),
        ]
        rows = [(i, moment - shifts[i % 5]) for i, moment in enumerate(clocks)] + [(-1, None)]
        rows += [(-2 - i, datetime(2024, 2, 28, 4 * i, 30, tzinfo=UTC)) for i in range(6)]
        expected = {name: _found(session, condition, rows, clocks) for name, condition in CONDITIONS.items()}
        held: dict[str, Counter[Any]] = {name: Counter() for name in CONDITIONS}
        with Running(case) as running:
            for number, clock in enumerate(clocks):
                if number % 3 == 1:
                    before = min(clock, _foreseen(running)) - timedelta(microseconds=1)
                    assert running.step({}, before) == "", f"unforeseen before {before}"
                delta = {"e": [Change("insert", row) for row in rows]} if number == 0 else {}
                for name, change in running.changes(delta, clock).items():
                    held[name].update(change)
                    found = sorted(k for (_, k), n in (+held[name]).items() for _ in range(n))
                    assert found == expected[name].get(clock, []), f"{name} at {clock}"
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def _foreseen(running: Running) -> datetime:
    pipeline = running.pipeline
    due = next_due(running.case.compiled.circuit, pipeline._position.state, pipeline.store.segments)
    assert due is not None and pipeline.clock is not None and due > pipeline.clock
    return due


def _found(
    session: Any, condition: str, rows: list[Any], clocks: list[datetime]
) -> dict[datetime, list[int]]:
    session.createDataFrame(rows, "k BIGINT, ts TIMESTAMP").createOrReplaceTempView("rows_")
    session.createDataFrame([(clock,) for clock in clocks], "clock TIMESTAMP").createOrReplaceTempView(
        "clocks_"
    )
    for name, kind in (
        ("now()", "TIMESTAMP"),
        ("current_date()", "DATE"),
        ("localtimestamp()", "TIMESTAMP_NTZ"),
    ):
        condition = condition.replace(name, f"CAST(clock AS {kind})")
    found: dict[datetime, list[int]] = {}
    for row in session.sql(f"SELECT clock, k FROM rows_, clocks_ WHERE {condition}").toArrow().to_pylist():
        found.setdefault(row["clock"].astimezone(UTC), []).append(row["k"])
    return {clock: sorted(ks) for clock, ks in found.items()}
