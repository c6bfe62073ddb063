"""Dates, timestamps and intervals made of their parts, against Python's."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.times.date_parts import valid_date
from tests.circuits.functions.calling import called

INT, LONG = pa.int32(), pa.int64()
TIME, LOCAL, MICROS = pa.timestamp("us", tz="UTC"), pa.timestamp("us"), pa.duration("us")
SECONDS = pa.decimal128(8, 6)
parts = st.tuples(st.integers(1, 2500), st.integers(0, 13), st.integers(0, 32))


def day(year: int, month: int, of_month: int) -> date | None:
    try:
        return date(year, month, of_month)
    except ValueError:
        return None


@given(st.lists(parts, min_size=1, max_size=8))
def test_dates(listed: list[tuple[int, int, int]]) -> None:
    expected = [day(*each) for each in listed]
    columns = [pa.array([each[i] for each in listed], INT) for i in range(3)]
    assert called("make_date", pa.date32(), *columns, failOnError=False) == expected
    good, _ = valid_date(*(np.array([each[i] for each in listed]) for i in range(3)))
    assert good.tolist() == [each is not None for each in expected]
    if None in expected:
        with pytest.raises(EvaluationError) as raised:
            called("make_date", pa.date32(), *columns, failOnError=True)
        assert raised.value.row == expected.index(None)


def made(*fields: Any, zone: str | None = None, to: pa.DataType = TIME, fail: bool = False) -> Any:
    columns = [*(pa.array([n], INT) for n in fields[:5]), pa.array([fields[5]], SECONDS)]
    zones = [] if zone is None else [pa.scalar(zone)]
    return called("make_timestamp", to, *columns, *zones, timeZoneId="UTC", failOnError=fail)[0]


seconds = st.integers(0, 59_999_999).map(lambda n: Decimal(n).scaleb(-6))


@given(parts, st.integers(-1, 24), st.integers(-1, 60), seconds)
def test_timestamps(of_date: tuple[int, int, int], hour: int, minute: int, second: Decimal) -> None:
    try:
        expected = datetime(*of_date, hour, minute, tzinfo=UTC) + timedelta(
            microseconds=int(second.scaleb(6))
        )
    except ValueError:
        expected = None
    assert made(*of_date, hour, minute, second) == expected
    assert made(*of_date, hour, minute, second, to=LOCAL) == (expected and expected.replace(tzinfo=None))


def test_a_minute_s_last_second_and_zones() -> None:
    assert made(2024, 12, 31, 23, 59, Decimal(60)) == datetime(2025, 1, 1, tzinfo=UTC)
    assert made(2024, 12, 31, 23, 59, Decimal("60.000001")) is None
    assert made(2024, 7, 1, 12, 0, Decimal(0), zone="Europe/Berlin") == datetime(2024, 7, 1, 10, tzinfo=UTC)
    assert made(2024, 7, None, 12, 0, Decimal(0)) is None
    with pytest.raises(EvaluationError, match="no such timestamp"):
        made(2023, 2, 29, 0, 0, Decimal(0), fail=True)


UNITS = {"seconds": 10**6, "millis": 1000, "micros": 1}


@pytest.mark.parametrize("unit", UNITS)
@given(micros=st.lists(st.one_of(st.none(), st.integers(-(10**15), 10**15)), max_size=5))
def test_counts_since_1970(unit: str, micros: list[int | None]) -> None:
    array = pa.array(micros, LONG).view(TIME)
    found = called(f"unix_{unit}", LONG, array)
    assert found == [None if n is None else n // UNITS[unit] for n in micros], "down, also before 1970"
    back = called(f"{unit}_to_timestamp", TIME, pa.array(found, LONG))
    assert (
        back == pa.array([None if n is None else n * UNITS[unit] for n in found], LONG).view(TIME).to_pylist()
    )


def test_seconds_with_a_fraction() -> None:
    doubles = pa.array([1.5, float("nan"), float("inf"), None])
    assert called("seconds_to_timestamp", TIME, doubles) == [
        datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC),
        None,
        None,
        None,
    ]
    decimals = pa.array([Decimal("-0.000001")], pa.decimal128(10, 6))
    assert called("seconds_to_timestamp", TIME, decimals) == [
        datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)
    ]
    with pytest.raises(EvaluationError, match="DATETIME_OVERFLOW"):
        called("seconds_to_timestamp", TIME, pa.array([2**62]))


small = st.integers(-1000, 1000)


@given(small, small, small, st.integers(-(10**9), 10**9))
def test_intervals(days: int, hours: int, minutes: int, micros: int) -> None:
    columns = [pa.array([n], INT) for n in (days, hours, minutes)]
    of_seconds = pa.array([Decimal(micros).scaleb(-6)], pa.decimal128(18, 6))
    expected = timedelta(days=days, hours=hours, minutes=minutes, microseconds=micros)
    assert called("make_dt_interval", MICROS, *columns, of_seconds) == [expected]


def test_an_interval_that_is_too_long() -> None:
    columns = [pa.array([n], INT) for n in (2**31 - 1, 0, 0)]
    with pytest.raises(EvaluationError, match="INTERVAL_ARITHMETIC_OVERFLOW"):
        called("make_dt_interval", MICROS, *columns, pa.array([Decimal(0)], SECONDS))
