"""CAST among dates, timestamps, numbers and strings, in several time zones."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.generators.columns.interesting import interesting_rows
from tests.oracles.against_spark import AgainstSpark

TEXTS = [
    "2024-02-29", "2023-02-29", " 2024-02-29 ", "2024-2-9", "2024-02", "2024", "2024-", "2024-02-",
    "2024-02-29x", "2024-02-29 x", "2024-02-29Tx", "2024-02-29 ", "2024-02-29T", "20240229", "02024-01-01",
    "+2024-01-01", "-0044-03-15", "+10000-01-01", "0000-01-01", "999999-12-31", "9999999-12-31",
    "99999999-12-31", "294247-01-10 04:00:54", "294248-01-01", "2024-13-01", "2024-00-10", "2024-01-32",
    "2024-01-00", "2024-001-01", "24-01-01", "", " ", "x", "2024-02-29 10:20:30", "2024-02-29T10:20:30",
    "2024-02-29t10:20:30", "2024-02-29 10:20:30.1", "2024-02-29 10:20:30.123456",
    "2024-02-29 10:20:30.1234567", "2024-02-29 10:20:30.", "2024-02-29 1:2:3", "2024-02-29 10:20",
    "2024-02-29 10", "2024-02-29 10:", "2024-02-29 10:20:", "2024-02-29 24:00:00", "2024-02-29 10:60:00",
    "2024-02-29 10:20:60", "2024-02-29 10:20:30Z", "2024-02-29 10:20:30 Z", "2024-02-29 10:20:30z",
    "2024-02-29 10:20:30+01:00", "2024-02-29 10:20:30-8:00", "2024-02-29 10:20:30+1",
    "2024-02-29 10:20:30+0130", "2024-02-29 10:20:30.5 UTC", "2024-02-29 10:20:30 Europe/Paris",
    "2024-02-29 10:20:30.25America/Los_Angeles", "2024-02-29 10:20:30 PST", "2024-02-29 10:20:30 GMT+2",
    "2024-02-29 10:20:30 UTC+03:30", "2024-02-29 10:20:30 Nowhere/City", "2024-02-29 10:20:30+19:00",
    "2024-02-29 10:20:30+18:00", "2024-02-29 10:20Z", "2024-02-29 10:20:30..5", "2024-02-29  10:20:30",
    "2024-02-29 010:20:30", "2024-02-29-10", "2024/02/29", "2024-03-31 02:30:00", "2024-10-27 02:30:00",
    "2024-03-10 02:30:00", "2024-11-03 01:30:00", "1883-11-18 12:03:00", "1600-01-01 00:00:00",
    "2024-02-29 101010.5", "2024-02-2910:20:30", "1969-12-31 23:59:59.999999", "0001-01-01 00:00:00",
    "9999-12-31 23:59:59.999999", "10:20:30x", "2500-07-01 12:00:00", "2024-02-29 10:20:30+1:3",
    "2024-02-29 10:20:30+01:3", "2024-02-29 10:20:30é",
]  # fmt: skip
ZONES = ["UTC", "America/Los_Angeles", "Europe/Paris", "Asia/Kolkata", "+05:30"]


@pytest.mark.spark
@pytest.mark.parametrize("zone", ZONES)
def test_reading(spark: Any, zone: str) -> None:
    against = AgainstSpark(spark, pa.record_batch({"s": pa.array([*TEXTS, None])}), zone)
    against.check([f"try_cast(s AS {kind})" for kind in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ")])


@pytest.mark.spark
@pytest.mark.parametrize("zone", ZONES)
def test_times(spark: Any, zone: str) -> None:
    AgainstSpark(spark, interesting_rows("dt", "ts", "tn", "i32", "d", "i8", "f", "m"), zone).check(
        [
            "CAST(dt AS STRING)", "CAST(ts AS STRING)", "CAST(tn AS STRING)", "CAST(ts AS DATE)",
            "CAST(tn AS DATE)", "CAST(dt AS TIMESTAMP)", "CAST(dt AS TIMESTAMP_NTZ)",
            "CAST(ts AS TIMESTAMP_NTZ)", "CAST(tn AS TIMESTAMP)", "CAST(ts AS BIGINT)",
            "try_cast(ts AS INT)", "try_cast(ts AS TINYINT)", "CAST(ts AS DOUBLE)", "CAST(ts AS FLOAT)",
            "CAST(ts AS DECIMAL(20,6))", "CAST(i32 AS TIMESTAMP)", "CAST(i8 AS TIMESTAMP)",
            "CAST(m AS TIMESTAMP)", "try_cast(if(abs(d) < 1e12, d, NULL) AS TIMESTAMP)",
            "CAST(if(abs(f) < 1e9, f, NULL) AS TIMESTAMP)", "dt < ts", "ts = tn",
        ]
    )  # fmt: skip


@pytest.mark.spark
def test_columns_of_one_format(spark: Any) -> None:
    """What is read by the column at once."""
    rows = pa.record_batch(
        {
            "d": pa.array(["2024-02-29", "1969-12-31", None]),
            "t": pa.array(["2024-02-29 10:20:30", "1969-12-31 23:59:59", None]),
            "u": pa.array(["2024-02-29T10:20:30.5", "2024-03-31 02:30:00.123456", None]),
            "bad": pa.array(["2024-02-30", "2024-02-29", None]),
            "worse": pa.array(["2024-02-29 25:00:00", "2024-02-29 10:20:30", None]),
        }
    )
    against = AgainstSpark(spark, rows, "Europe/Paris")
    against.check(
        ["CAST(d AS DATE)", "CAST(t AS TIMESTAMP)", "CAST(u AS TIMESTAMP)", "CAST(u AS TIMESTAMP_NTZ)"]
    )
    against.check(
        ["try_cast(bad AS DATE)", "try_cast(worse AS TIMESTAMP)", "CAST(t AS DATE)", "CAST(d AS TIMESTAMP)"]
    )
    against.check_fails(["CAST(bad AS DATE)", "CAST(worse AS TIMESTAMP)", "CAST(bad AS TIMESTAMP_NTZ)"])


@pytest.mark.spark
def test_extreme_years(spark: Any) -> None:
    days = pa.array([2932897, -719529, 3000000, -800000, 2147483647, -2147483648, None], pa.int32()).view(
        pa.date32()
    )
    micros = pa.array(
        [2**63 - 1, -(2**63), 253402300800000000, -62198755200000001, 0, 1500000, None], pa.int64()
    )
    rows = pa.record_batch({"dt": days, "ts": micros.view(pa.timestamp("us", tz="UTC"))})
    against = AgainstSpark(spark, rows)
    against.check(["CAST(dt AS STRING)", "CAST(ts AS STRING)", "CAST(ts AS DATE)"])
    against.check_fails(["CAST(ts AS INT)", "CAST(dt AS TIMESTAMP)"])


@pytest.mark.spark
def test_numbers_that_are_no_time(spark: Any) -> None:
    doubles = pa.record_batch(
        {"d": pa.array([float("nan")]), "big": pa.array([1e300]), "i": pa.array([2**62])}
    )
    against = AgainstSpark(spark, doubles)
    against.check(["CAST(i AS TIMESTAMP)", "try_cast(d AS TIMESTAMP)"])
    against.check_fails(["CAST(d AS TIMESTAMP)", "CAST(big AS TIMESTAMP)"])
