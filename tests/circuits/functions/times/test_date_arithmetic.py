"""Dates and times moved on the calendar, against Python's, in zones whose clocks change."""

from __future__ import annotations

import calendar
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.times.date_arithmetic import add_months_to_days
from tests.circuits.functions.calling import called

DAY, TIME, LOCAL, MICROS = pa.date32(), pa.timestamp("us", tz="UTC"), pa.timestamp("us"), pa.duration("us")
BERLIN = ZoneInfo("Europe/Berlin")
dates = st.one_of(st.none(), st.dates(date(1900, 1, 1), date(2100, 1, 1)))
times = st.datetimes(datetime(1980, 1, 1), datetime(2037, 1, 1)).map(lambda t: t.replace(tzinfo=UTC))
some = st.one_of(st.none(), st.integers(-500, 500))


@given(st.lists(st.tuples(dates, dates, some), max_size=5))
def test_days(listed: list[tuple[Any, Any, Any]]) -> None:
    a, b = (pa.array([row[i] for row in listed], DAY) for i in range(2))
    days = pa.array([n for _, _, n in listed], pa.int32())
    for name, sign in (("date_add", 1), ("date_sub", -1)):
        expected = [None if d is None or n is None else d + sign * timedelta(n) for d, _, n in listed]
        assert called(name, DAY, a, days) == expected
    between = [None if x is None or y is None else x - y for x, y, _ in listed]
    assert called("date_diff", pa.int32(), a, b) == [None if d is None else d.days for d in between]
    assert called("subtract_dates", MICROS, a, b) == between


def later(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


@given(st.lists(st.tuples(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(-600, 600)), max_size=5))
def test_months(listed: list[tuple[date, int]]) -> None:
    epoch = date(1970, 1, 1)
    days = np.array([(day - epoch).days for day, _ in listed], np.int64)
    found = add_months_to_days(days, np.array([n for _, n in listed], np.int64))
    assert [epoch + timedelta(int(n)) for n in found] == [later(*row) for row in listed]


@given(times, st.integers(-30, 30), st.integers(-7200, 7200))
def test_an_interval_s_days_are_the_calendar_s(start: datetime, days: int, seconds: int) -> None:
    """Whole days keep the local hour; the rest is on the time line."""
    interval = timedelta(days=days, seconds=seconds)
    whole = int(interval / timedelta(days=1))
    local = start.astimezone(BERLIN).replace(tzinfo=None) + timedelta(days=whole)
    moved = local.replace(tzinfo=BERLIN)
    valid = moved.astimezone(UTC).astimezone(BERLIN).replace(tzinfo=None) == local
    expected = moved.astimezone(UTC) + (interval - timedelta(days=whole))
    arguments = pa.array([start], TIME), pa.array([interval], MICROS)
    (found,) = called("timestamp_add_interval", TIME, *arguments, timeZoneId="Europe/Berlin")
    assert found == expected or not valid or start.astimezone(BERLIN).fold
    assert called("timestamp_add_interval", TIME, *arguments, timeZoneId="UTC") == [start + interval]


def test_months_keep_the_local_time() -> None:
    start = pa.array([datetime(2024, 1, 31, 11, tzinfo=UTC)], TIME)
    months = pa.array([2, 1], pa.int64()).view(MONTHS)
    found = called("timestamp_add_ym_interval", TIME, start, months[0], timeZoneId="Europe/Berlin")
    assert found == [datetime(2024, 3, 31, 10, tzinfo=UTC)], "noon is noon, in summer too"
    local = pa.array([datetime(2024, 1, 31, 11)], LOCAL)
    assert called("timestamp_add_ym_interval", LOCAL, local, months[1]) == [datetime(2024, 2, 29, 11)]


@given(times, times)
def test_a_difference_is_of_local_times(a: datetime, b: datetime) -> None:
    local = [t.astimezone(BERLIN).replace(tzinfo=None) for t in (a, b)]
    arguments = pa.array([a], TIME), pa.array([b], TIME)
    assert called("subtract_timestamps", MICROS, *arguments, timeZoneId="Europe/Berlin") == [
        local[0] - local[1]
    ]
    assert called("subtract_timestamps", MICROS, *arguments, timeZoneId="UTC") == [a - b]


def between(a: datetime, b: datetime, rounded: bool = True) -> float:
    arguments = pa.array([a], TIME), pa.array([b], TIME), pa.scalar(rounded)
    found: float = called("months_between", pa.float64(), *arguments, timeZoneId="UTC")[0]
    return found


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


# as Spark documents months_between
def test_months_between() -> None:
    assert between(at(1997, 2, 28, 10, 30), at(1996, 10, 30)) == 3.94959677
    assert between(at(1997, 2, 28, 10, 30), at(1996, 10, 30), rounded=False) == 3.9495967741935485
    assert between(at(2024, 2, 29), at(2024, 1, 31, 5)) == 1.0, "both are the last of their months"
    assert between(at(2024, 3, 15, 1), at(2024, 1, 15, 23)) == 2.0, "of equal days the time doesn't count"


def test_beyond_the_last_instant() -> None:
    last = pa.array([2**63 - 1], pa.int64()).view(TIME)
    with pytest.raises(EvaluationError):
        called("timestamp_add_interval", TIME, last, pa.array([timedelta(hours=1)], MICROS), timeZoneId="UTC")
