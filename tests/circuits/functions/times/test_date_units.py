"""TIMESTAMPADD and TIMESTAMPDIFF, by the calendar for days and more, on the time line below."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.library import find
from tests.circuits.functions.calling import call, called
from tests.circuits.functions.times.test_date_arithmetic import later

TIME = pa.timestamp("us", tz="UTC")
FIXED = {
    "MICROSECOND": timedelta(microseconds=1),
    "MILLISECOND": timedelta(milliseconds=1),
    "SECOND": timedelta(seconds=1),
    "MINUTE": timedelta(minutes=1),
    "HOUR": timedelta(hours=1),
    "DAY": timedelta(days=1),
    "WEEK": timedelta(days=7),
}
IN_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
times = st.datetimes(datetime(1950, 1, 1), datetime(2050, 1, 1)).map(lambda t: t.replace(tzinfo=UTC))


def added(unit: str, quantity: int | None, time: datetime | None, zone: str = "UTC") -> Any:
    arguments = pa.array([quantity], pa.int64()), pa.array([time], TIME)
    return called("timestamp_add", TIME, *arguments, unit=unit, timeZoneId=zone)[0]


def between(unit: str, start: datetime | None, end: datetime | None, zone: str = "UTC") -> Any:
    arguments = pa.array([start], TIME), pa.array([end], TIME)
    return called("timestamp_diff", pa.int64(), *arguments, unit=unit, timeZoneId=zone)[0]


@given(times, st.integers(-400, 400), st.sampled_from(sorted(FIXED)))
def test_units_of_one_length(time: datetime, quantity: int, unit: str) -> None:
    end = time + quantity * FIXED[unit]
    assert added(unit, quantity, time) == end
    assert between(unit.lower(), time, end) == quantity
    odd = end + timedelta(microseconds=3)
    assert between(unit, time, odd) == int((odd - time) / FIXED[unit])


@given(times, st.integers(-200, 200), st.sampled_from(sorted(IN_MONTHS)))
def test_units_of_the_calendar(time: datetime, quantity: int, unit: str) -> None:
    day = later(time.date(), quantity * IN_MONTHS[unit])
    end = time.replace(year=day.year, month=day.month, day=day.day)
    assert added(unit, quantity, time) == end
    if time.day <= 28:  # else a shorter month has cut it
        assert between(unit, time, end) == quantity
        if quantity:
            short = end - timedelta(microseconds=1 if quantity > 0 else -1)
            assert between(unit, time, short) == quantity - (1 if quantity > 0 else -1), "not a unit yet"


def test_where_clocks_change_a_day_is_a_day() -> None:
    """30 March 2024 at noon in Berlin, and the day after: 23 hours."""
    start, end = datetime(2024, 3, 30, 11, tzinfo=UTC), datetime(2024, 3, 31, 10, tzinfo=UTC)
    assert added("DAY", 1, start, "Europe/Berlin") == end
    assert between("DAY", start, end, "Europe/Berlin") == 1
    assert between("HOUR", start, end, "Europe/Berlin") == 24, "of local time"


def test_nothing() -> None:
    assert added("DAY", None, datetime(2024, 1, 1, tzinfo=UTC)) is None
    assert between("YEAR", None, datetime(2024, 1, 1, tzinfo=UTC)) is None


@pytest.mark.parametrize("unit", ["HOUR", "DAY", "YEAR"])
def test_beyond_the_last_instant(unit: str) -> None:
    with pytest.raises(EvaluationError, match="DATETIME_OVERFLOW"):
        added(unit, 2**62, datetime(2024, 1, 1, tzinfo=UTC))


def test_units_that_are_not_known() -> None:
    function = find("timestamp_add")
    assert function is not None
    arguments = pa.array([1]), pa.array([], TIME)
    assert function.refuse(call("timestamp_add", TIME, *arguments, unit="fortnight")) == "the unit FORTNIGHT"
    assert function.refuse(call("timestamp_add", TIME, *arguments, unit="dayofyear")) is None
