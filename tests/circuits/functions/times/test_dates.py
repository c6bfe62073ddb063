"""Dates and timestamps are Spark's in several time zones, around changes of the clocks and far from now."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.columns.moments import moment_rows
from tests.oracles.against_spark import AgainstSpark

EXPRESSIONS = [
    "year(d)",
    "year(ts)",
    "quarter(d)",
    "month(ts)",
    "day(d)",
    "dayofweek(d)",
    "weekday(d)",
    "dayofyear(d)",
    "weekofyear(ts)",
    "dayname(d)",
    "monthname(d)",
    "hour(ts)",
    "hour(n)",
    "minute(ts)",
    "second(ts)",
    "extract(second from ts)",
    "extract(yearofweek from ts)",
    "extract(dow_iso from ts)",
    "extract(day from iv)",
    "extract(hour from iv)",
    "extract(minute from iv)",
    "extract(second from iv)",
    "date_add(d,i)",
    "date_sub(d,i)",
    "d - i",
    "date_diff(d,d2)",
    "d - d2",
    "add_months(d,i)",
    "months_between(ts,ts2)",
    "months_between(ts,ts2,false)",
    "last_day(d)",
    "next_day(d,'MON')",
    "next_day(d,'sunday')",
    "trunc(d,'MM')",
    "trunc(d,'week')",
    "trunc(d,'quarter')",
    "trunc(d,'yy')",
    "trunc(d,'day')",
    "date_trunc('hour',ts)",
    "date_trunc('minute',ts)",
    "date_trunc('second',ts)",
    "date_trunc('millisecond',ts)",
    "date_trunc('microsecond',ts)",
    "date_trunc('day',ts)",
    "date_trunc('dd',ts)",
    "date_trunc('week',ts)",
    "date_trunc('month',ts)",
    "date_trunc('quarter',ts)",
    "date_trunc('year',ts)",
    "date_trunc('foo',ts)",
    "date_trunc('hour',n)",
    "ts + interval '1' day",
    "ts - interval '1' day",
    "ts + interval 1 hour",
    "ts + interval 1 month",
    "ts - interval 13 month",
    "ts + iv",
    "ts - iv",
    "n + interval 1 hour",
    "n + interval 1 month",
    "d + interval 1 day",
    "d + interval 1 month",
    "d - interval 1 year",
    "d + interval 1 hour",
    "d + iv",
    "ts - ts2",
    "n - n",
    "ts - d2",
    "timestampdiff(HOUR, ts, ts2)",
    "timestampdiff(MONTH, ts, ts2)",
    "timestampdiff(DAY, ts, ts2)",
    "timestampdiff(WEEK, ts, ts2)",
    "timestampdiff(QUARTER, ts, ts2)",
    "timestampdiff(YEAR, ts, ts2)",
    "timestampdiff(SECOND, ts, ts2)",
    "timestampdiff(MILLISECOND, ts, ts2)",
    "timestampadd(HOUR, i, ts)",
    "timestampadd(MONTH, i, ts)",
    "timestampadd(DAY, i, ts)",
    "timestampadd(WEEK, i, ts)",
    "timestampadd(YEAR, i, ts)",
    "dateadd(MINUTE, i, ts)",
    "try_make_timestamp(2000+i,mo,dy,hh,hh,sec)",
    "try_make_timestamp_ntz(2000+i,mo,dy,hh,hh,sec)",
    "try_make_timestamp(2000+i,mo,dy,hh,hh,sec,'Asia/Tokyo')",
    "make_timestamp(2000,1,1,hh,hh,sec)",
    "unix_timestamp(ts)",
    "unix_seconds(ts)",
    "unix_millis(ts)",
    "unix_micros(ts)",
    "unix_date(d)",
    "date_from_unix_date(i)",
    "timestamp_seconds(l)",
    "timestamp_seconds(x)",
    "timestamp_seconds(x * 1e300)",
    "timestamp_seconds(cast(x * 1e38 as float))",
    "timestamp_seconds(-x * 1e14)",
    "timestamp_seconds(sec)",
    "timestamp_millis(l)",
    "timestamp_micros(l)",
    "convert_timezone('UTC','Europe/Berlin',n)",
    "convert_timezone('America/New_York','Europe/Berlin',n)",
    "from_utc_timestamp(ts,'Europe/Berlin')",
    "to_utc_timestamp(ts,'Europe/Berlin')",
    "to_utc_timestamp(ts,'PST')",
    "from_utc_timestamp(ts,'+5:30')",
    "cast(ts as date)",
    "cast(d as timestamp)",
    "cast(ts as timestamp_ntz)",
    "cast(n as timestamp)",
    "make_dt_interval(i,hh,mo,sec)",
]


@pytest.mark.spark
@pytest.mark.parametrize("time_zone", ["UTC", "America/New_York", "Australia/Lord_Howe"])
def test_calendar(spark: Any, time_zone: str) -> None:
    AgainstSpark(spark, moment_rows(), time_zone).check(EXPRESSIONS)


@pytest.mark.spark
@pytest.mark.parametrize("time_zone", ["Europe/Berlin", "Africa/Casablanca", "Pacific/Apia", "+05:30"])
def test_time_zones(spark: Any, time_zone: str) -> None:
    against = AgainstSpark(spark, moment_rows(), time_zone)
    against.check(["hour(ts)", "second(ts)", "date_trunc('week', ts)", "ts + interval 1 day", "ts - ts2"])
    against.check([f"to_utc_timestamp(ts, '{time_zone}')", f"from_utc_timestamp(ts, '{time_zone}')"])


@pytest.mark.spark
def test_failures(spark: Any) -> None:
    AgainstSpark(spark, moment_rows(60)).check_fails(
        [
            "next_day(d, 'xx')",
            "make_date(2000 + i, mo, dy)",
            "make_timestamp(2000 + i, mo, dy, hh, hh, sec)",
            "timestampadd(YEAR, l, ts)",
            "timestampadd(HOUR, l * 1000000000, ts)",
            "timestamp_seconds(l * 1000000000)",
            "timestamp_millis(l * 9000000000)",
        ]
    )


@pytest.mark.spark
def test_intervals_of_years_to_months(spark: Any) -> None:
    against = AgainstSpark(spark, moment_rows())
    against.check_fails(
        [
            "d + make_ym_interval(200000000, i)",
            "d + make_ym_interval(178956970, mo)",
            "d + make_ym_interval(10000000, mo) * 1000",
            "d + make_ym_interval(1, 0) / (mo - mo)",
        ]
    )
