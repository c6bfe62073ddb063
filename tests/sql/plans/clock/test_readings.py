"""Readings of the clock: what lies behind a reading that goes back, and which ones stand still."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.clock.forecast import first_change, first_drop
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.plans.clock.readings import NOW, as_reading, never_below, stands_still, steady, ticking

INSTANT, DATE = CLOCK.type, pa.date32()
ZONES = [
    "UTC",
    "America/New_York",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Asia/Kolkata",
]


def call(function: str, data_type: pa.DataType, *arguments: Expression, zone: str = "UTC") -> Call:
    return Call(function, arguments, data_type, True, (("timeZoneId", zone),))


def months(number: int) -> Literal:
    return Literal(timedelta(seconds=number), MONTHS)


def of(zone: str) -> list[Expression]:
    """Readings that may go back there."""
    day = call("cast", DATE, NOW, zone=zone)
    shifted = [
        call("timestamp_add_ym_interval", INSTANT, NOW, months(n), zone=zone) for n in (-25, -1, 1, 3, 12)
    ]
    days = [
        call(
            "timestamp_add_interval",
            INSTANT,
            NOW,
            Literal(timedelta(days=n, hours=1), pa.duration("us")),
            zone=zone,
        )
        for n in (-40, -1, 2)
    ]
    truncated = [
        call("trunc_timestamp", INSTANT, Literal(unit, pa.string()), NOW, zone=zone)
        for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE")
    ]
    local = call("cast", pa.timestamp("us"), NOW, zone=zone)
    later = call("date_add", DATE, call("cast", DATE, shifted[0], zone=zone), Literal(3, pa.int32()))
    month = call("trunc_timestamp", INSTANT, Literal("MONTH", pa.string()), shifted[1], zone=zone)
    return [day, local, later, month, *shifted, *days, *truncated]


def clocks(zone: str) -> pa.Array:
    """Half hours of some years, in order."""
    first = {"America/Sao_Paulo": 2017, "Pacific/Apia": 2011}.get(zone, 2023)
    start = int(datetime(first, 1, 1, tzinfo=UTC).timestamp() * 1e6)
    return pa.array(start + np.arange(2 * 365 * 48, dtype=np.int64) * 1_800_000_000).view(INSTANT)


def read(expression: Expression, at: pa.Array) -> np.ndarray:
    values = evaluate(expression, pa.RecordBatch.from_arrays([at], names=["clock"]))
    assert not values.null_count
    return values.cast(pa.int32() if values.type == DATE else pa.int64()).to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_no_later_reading_is_below(zone: str) -> None:
    at = clocks(zone)
    for expression in of(zone):
        low = never_below(expression)
        assert low is not None and low.type == expression.type, expression
        lows, readings = read(low, at), read(as_reading(expression), at)
        assert (np.diff(lows) >= 0).all(), expression
        least = np.minimum.accumulate(readings[::-1])[::-1]  # of this and of all later ones
        assert (lows <= least).all(), expression
        if steady(expression) is not None:
            assert (np.diff(readings) >= 0).all(), expression


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_what_goes_back_is_foreseen(zone: str) -> None:
    at = clocks(zone)
    for expression in of(zone):
        reading = as_reading(expression)
        fell = np.flatnonzero(np.diff(read(reading, at)) < 0)[:3]
        for before, after in zip(at.take(pa.array(fell)), at.take(pa.array(fell + 1)), strict=True):
            drop = first_drop(reading, before.value)
            assert before.value < drop <= after.value
            beside = pa.array([drop - 1, drop]).view(INSTANT)
            assert np.diff(read(reading, beside)) < 0, expression


def test_what_stands_still_changes_with_a_minute() -> None:
    hour = call("hour", pa.int32(), NOW, zone="Asia/Kolkata")
    day = call("cast", DATE, NOW, zone="Asia/Kolkata")
    assert stands_still(hour) and stands_still(day) and not stands_still(NOW)
    assert not stands_still(call("second", pa.int32(), NOW))
    assert stands_still(call("second", pa.int32(), ticking(10_000_000)))
    now = int(datetime(2024, 1, 1, 10, 0, 1, tzinfo=UTC).timestamp() * 1e6)
    half_past, midnight = (
        int(datetime(2024, 1, 1, *time, tzinfo=UTC).timestamp() * 1e6) for time in ((10, 30), (18, 30))
    )
    assert first_change([as_reading(hour)], now) == half_past
    assert first_change([as_reading(day)], now) == midnight
    assert first_change([as_reading(day), as_reading(hour)], now) == half_past


def test_nothing_is_known_of_other_readings() -> None:
    assert never_below(call("hour", pa.int32(), NOW)) is None
    assert never_below(Column(0, INSTANT)) is None


def test_of_an_interval_with_months_nothing_is_known() -> None:
    interval = Literal((1, 0, 0), CALENDAR_INTERVAL)
    assert never_below(call("timestamp_add_interval", INSTANT, NOW, interval)) is None
