"""FLOOR and CEIL of a time TO a unit, and what of these is Spark's own."""

from __future__ import annotations

from datetime import datetime, timedelta

import duckdb
import pytest

from tests.sql.spellings.respelled import respelled

MOMENT = timedelta(microseconds=1)
HOUR = datetime(2024, 2, 29, 23)


@pytest.mark.parametrize(
    "call", ["FLOOR(a)", "ceil(a / 2)", "FLOOR(a, 2)", "FLOOR(a TO b)", "t.FLOOR(a TO HOUR)"]
)
def test_numbers_are_rounded_by_spark(call: str) -> None:
    assert respelled(f"SELECT {call} FROM t").text == f"SELECT {call} FROM t"


@pytest.mark.parametrize("unit", ["MICROSECOND", "SECOND", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"])
def test_floor_is_a_truncation(unit: str) -> None:
    assert respelled(f"floor(t.ts + x to {unit.lower()})").text == f"date_trunc('{unit}', t.ts + x )".replace(
        " )", ")"
    )


@pytest.mark.parametrize(
    ("ts", "up"),
    [
        (HOUR, HOUR),
        (HOUR + MOMENT, HOUR + timedelta(hours=1)),
        (HOUR - MOMENT, HOUR),
        (HOUR - timedelta(hours=1, microseconds=-1), HOUR),
    ],
)
def test_ceil_is_the_first_hour_not_before(ts: datetime, up: datetime) -> None:
    """By DuckDB, whose date_trunc is Spark's."""
    query = respelled(f"SELECT CEIL(TIMESTAMP '{ts}' TO HOUR), CEILING(TIMESTAMP '{ts}' TO HOUR)").text
    assert duckdb.sql(query).fetchall() == [(up, up)]


def test_days_and_months_are_of_the_calendar() -> None:
    assert respelled("CEIL(ts TO MONTH)").text == (
        "CAST(add_months(trunc(CAST((ts) - INTERVAL 1 MICROSECOND AS DATE), 'MONTH'), 1) AS TIMESTAMP)"
    )
    assert respelled("CEIL(ts TO DAY)").text == (
        "CAST(date_add(CAST((ts) - INTERVAL 1 MICROSECOND AS DATE), 1) AS TIMESTAMP)"
    )


def test_the_time_keeps_its_place_and_is_rewritten_itself() -> None:
    text = "1 + FLOOR(CEIL(ts TO HOUR) TO DAY)"
    found = respelled(text)
    assert found.text.startswith("1 + date_trunc('DAY', date_trunc('HOUR', (ts)")
    assert found.place(found.text.index("ts)")) == text.index("ts")
    assert found.place(found.text.index("date_trunc")) == text.index("FLOOR")
