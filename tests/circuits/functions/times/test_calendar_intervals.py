"""Intervals of months, days and time: their text, read as Spark reads it, and what numbers make of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL, read, spelled
from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.calling import called
from tests.oracles.against_spark import AgainstSpark

GOOD = [
    "1 day", " 1  days ", "1 day 2 hours", "-1 day", "- 1 day", "+ 1 day", "1.5 seconds", ".5 seconds",
    "1.123456789 second", "-.5 second", "-0.000001 seconds", "INTERVAL 1 DAY", "1\tday\n", "1. second",
    "1 year 2 months 3 weeks 4 days 5 hours 6 minutes 7 seconds 8 milliseconds 9 microseconds",
    "9223372036854775807 microseconds", "2147483647 days", "1 year -13 months",
]  # fmt: skip
BAD = [
    "", " ", "interval", "1day", "1 day2 hours", "--1 day", "1.5 days", ". seconds", "1.1234567890 seconds",
    "interval1 day", "1", "day", "1 fortnight", "200000000 years", "9223372036854775808 microseconds",
    "2147483648 days", "306783379 weeks", "1 day 2", "1 dayss", "١ day", "1 day ago", "1 .5 seconds", "- day",
    "\u00a01 day", "1 day,2 hours",
]  # fmt: skip


@pytest.mark.spark
def test_read_as_spark_reads_it(spark: Any) -> None:
    against = AgainstSpark(spark, pa.RecordBatch.from_pydict({"s": pa.array([None, *GOOD, *BAD])}))
    against.check(["string(CAST(s AS INTERVAL))"])
    against = AgainstSpark(spark, pa.RecordBatch.from_pydict({"s": pa.array(["1day"])}))
    against.check_fails(["string(make_interval(length(s)) / (length(s) - 4))"])
    against.check_fails(
        [
            "string(make_interval(length(s) * 100000000))",
            "date('2024-01-01') + make_interval(0, 0, 0, 0, length(s))",
        ]
    )


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_interval(text: str) -> None:
    assert read(text) is None


parts = st.tuples(
    st.integers(-(2**31) + 1, 2**31 - 1), st.integers(-(2**31), 2**31 - 1), st.integers(-(2**62), 2**62)
)


@given(parts)
def test_what_is_spelled_is_read_back(given_parts: tuple[int, int, int]) -> None:
    assert read(spelled(*given_parts)) == given_parts


@given(parts, st.integers(-3, 3))
def test_times_a_whole_number(given_parts: tuple[int, int, int], factor: int) -> None:
    months, days, micros = given_parts
    small = (months % 10**6, days % 10**6, micros % 10**12)
    array = pa.array([small, None], CALENDAR_INTERVAL)
    found = called("multiply_interval", CALENDAR_INTERVAL, array, pa.array([float(factor)] * 2))
    names = [field.name for field in CALENDAR_INTERVAL]
    assert found == [dict(zip(names, (part * factor for part in small), strict=True)), None]


def test_divided_by_zero() -> None:
    array, zero = pa.array([(1, 2, 3)], CALENDAR_INTERVAL), pa.array([0.0])
    with pytest.raises(EvaluationError, match="divided by zero"):
        called("divide_interval", CALENDAR_INTERVAL, array, zero)
    assert called("divide_interval", CALENDAR_INTERVAL, array, zero, failOnError=False) == [None]
