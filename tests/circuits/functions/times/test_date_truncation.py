"""The beginning of the unit that holds a date or an instant, by the local calendar."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.calling import called
from tests.effort import examples

DAY, TIME = pa.date32(), pa.timestamp("us", tz="UTC")
dates = st.lists(st.one_of(st.none(), st.dates(date(1800, 1, 1), date(2200, 1, 1))), max_size=5)
BEGINS = {
    "YEAR": lambda d: d.replace(month=1, day=1),
    "QUARTER": lambda d: d.replace(month=(d.month - 1) // 3 * 3 + 1, day=1),
    "MONTH": lambda d: d.replace(day=1),
    "WEEK": lambda d: d - timedelta(d.weekday()),
}
ALIKE = {"yyyy": "YEAR", "yy": "YEAR", "mon": "MONTH", "mm": "MONTH", "Quarter": "QUARTER"}


@pytest.mark.parametrize("unit", [*BEGINS, *ALIKE])
@examples(10)
@given(listed=dates)
def test_dates(unit: str, listed: list[date | None]) -> None:
    begin = BEGINS[ALIKE.get(unit, unit)]
    found = called("trunc_date", DAY, pa.array(listed, DAY), pa.scalar(unit))
    assert found == [None if d is None else begin(d) for d in listed]


@pytest.mark.parametrize("unit", ["DAY", "HOUR", "century", ""])
def test_units_that_dates_have_not(unit: str) -> None:
    assert called("trunc_date", DAY, pa.array([date(2024, 1, 1)]), pa.scalar(unit)) == [None]
    assert called("trunc_date", DAY, pa.array([date(2024, 1, 1)]), pa.scalar(None, pa.string())) == [None]


WITHIN: dict[str, Any] = {
    **{
        unit: lambda t, f=begin: f(t).replace(hour=0, minute=0, second=0, microsecond=0)
        for unit, begin in BEGINS.items()
    },
    "DAY": lambda t: t.replace(hour=0, minute=0, second=0, microsecond=0),
    "HOUR": lambda t: t.replace(minute=0, second=0, microsecond=0),
    "MINUTE": lambda t: t.replace(second=0, microsecond=0),
    "SECOND": lambda t: t.replace(microsecond=0),
    "MILLISECOND": lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000),
    "MICROSECOND": lambda t: t,
}
times = st.datetimes(datetime(1950, 1, 1), datetime(2037, 1, 1)).map(lambda t: t.replace(tzinfo=UTC))


@given(st.sampled_from(sorted(WITHIN)), times, st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kolkata"]))
def test_instants(unit: str, time: datetime, zone: str) -> None:
    local = WITHIN[unit](time.astimezone(ZoneInfo(zone)).replace(tzinfo=None)).replace(tzinfo=ZoneInfo(zone))
    (found,) = called(
        "trunc_timestamp", TIME, pa.scalar(unit.lower()), pa.array([time], TIME), timeZoneId=zone
    )
    # where a local time comes twice, either is its beginning
    assert found in (local.astimezone(UTC), local.replace(fold=1).astimezone(UTC))
    assert found <= time


NAMES = ["MONDAY", "tue", "We", "THURSDAY", "fri", "SA", "sunday"]


@given(dates, st.integers(0, 6))
def test_the_next_day_of_a_name(listed: list[date | None], weekday: int) -> None:
    found = called("next_day", DAY, pa.array(listed, DAY), pa.scalar(NAMES[weekday]))
    expected = [None if d is None else d + timedelta((weekday - d.weekday() - 1) % 7 + 1) for d in listed]
    assert found == expected


def test_a_day_without_a_name() -> None:
    days = pa.array([None, date(2024, 1, 1)], DAY)
    assert called("next_day", DAY, days, pa.scalar("xx"), failOnError=False) == [None, None]
    with pytest.raises(EvaluationError, match="ILLEGAL_DAY_OF_WEEK") as raised:
        called("next_day", DAY, days, pa.scalar("xx"), failOnError=True)
    assert raised.value.row == 1
    assert called("next_day", DAY, days, pa.scalar(None, pa.string()), failOnError=True) == [None, None]


@given(st.integers(-(10**15), 10**15), st.integers(1, 10**11))
def test_ticks_are_multiples_since_1970(instant: int, every: int) -> None:
    (found,) = called("clock_tick", TIME, pa.array([instant], pa.int64()).cast(TIME), every=every)
    assert found == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant // every * every)
