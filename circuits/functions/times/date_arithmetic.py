"""Adding to and subtracting dates and timestamps.

Days and months are added on the calendar, in the session's time zone: a day across a change of the clocks has
23 or 25 hours. Hours and less are added on the time line. Every sum is checked against its type's range.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import Numbers, Vector, require, result, vector
from dbsp.circuits.functions.times.dates import (
    month_lengths,
    month_numbers,
    month_starts,
)
from dbsp.circuits.functions.times.time_zones import DAY, SECOND, TimeZone, time_zone

_CLOCK = TimeZone("local", np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), repeats=False)


def zone_of(call: Call, timestamps: Value) -> TimeZone:
    """The session's zone; for TIMESTAMP_NTZ the clock itself."""
    if timestamps.type.tz is None:
        return _CLOCK
    return time_zone(str(call.option("timeZoneId", "UTC")))


def _int32_days(call: Call, days: Numbers, *inputs: Vector) -> Value:
    fits = (days >= -(2**31)) & (days < 2**31)
    require(fits, "DATETIME_OVERFLOW", lambda row: "the date is out of range", *inputs)
    return result(call, days, *inputs)


@kernel("date_add")
def date_add(call: Call, start: Value, days: Value) -> Value:
    a, b = vector(start), vector(days)
    return result(call, (a.values.astype(np.int64) + b.values).astype(np.int32), a, b)


@kernel("date_sub")
def date_sub(call: Call, start: Value, days: Value) -> Value:
    a, b = vector(start), vector(days)
    return result(call, (a.values.astype(np.int64) - b.values).astype(np.int32), a, b)


@kernel("date_diff")
def date_diff(call: Call, end: Value, start: Value) -> Value:
    a, b = vector(end), vector(start)
    return result(call, (a.values.astype(np.int64) - b.values).astype(np.int32), a, b)


@kernel("subtract_dates")
def subtract_dates(call: Call, end: Value, start: Value) -> Value:
    a, b = vector(end), vector(start)
    return result(call, (a.values.astype(np.int64) - b.values) * DAY, a, b)


def add_months_to_days(days: Numbers, months: Numbers) -> Numbers:
    """The same day of a later month, or that month's last day."""
    of_start = month_numbers(days)
    target = of_start + months
    within: Numbers = np.minimum(days - month_starts(of_start), month_lengths(target) - 1)
    return month_starts(target) + within


def _add_months(call: Call, start: Value, months: Value) -> Value:
    a, b = vector(start), vector(months)
    return _int32_days(call, add_months_to_days(a.values, b.values), a, b)


kernel("add_months")(_add_months)
kernel("date_add_ym_interval")(_add_months)


@kernel("timestamp_add_ym_interval")
def timestamp_add_months(call: Call, start: Value, months: Value) -> Value:
    """The months are added to the local date, the local time stays."""
    a, b = vector(start), vector(months)
    return result(call, months_later(zone_of(call, start), a.values, b.values), a, b)


def months_later(zone: TimeZone, instants: Numbers, months: Numbers) -> Numbers:
    """The same local time months later, on the last day of a shorter month."""
    days, time = np.divmod(zone.to_local(instants), DAY)
    return zone.moved(instants, add_months_to_days(days, months) * DAY + time)


def days_later(zone: TimeZone, instants: Numbers, days: Numbers) -> Numbers:
    """The same local time days later."""
    return zone.moved(instants, zone.to_local(instants) + days * DAY)


def _not_day_time(call: Call) -> str | None:
    if pa.types.is_duration(call.arguments[1].type):
        return None
    return "an interval of both months and days; use INTERVAL DAY TO SECOND or YEAR TO MONTH"


@kernel("timestamp_add_interval", refuse=_not_day_time)
def timestamp_add_interval(call: Call, start: Value, interval: Value) -> Value:
    """A day-time interval: its whole days on the calendar, the rest on the time line."""
    a, b = vector(start), vector(interval)
    days = np.sign(b.values) * (np.abs(b.values) // DAY)
    rest = b.values - days * DAY
    return checked_sum(call, days_later(zone_of(call, start), a.values, days), rest, a, b)


def checked_sum(call: Call, left: Numbers, right: Numbers, *inputs: Vector) -> Value:
    """Their sum; an error where it leaves the range of BIGINT."""
    total = left + right
    overflow = ((left ^ total) & (right ^ total)) < 0
    require(~overflow, "DATETIME_OVERFLOW", lambda row: "the timestamp is out of range", *inputs)
    return result(call, total, *inputs)


@kernel("subtract_timestamps")
def subtract_timestamps(call: Call, end: Value, start: Value) -> Value:
    """The difference of the local times, as an interval of days to seconds."""
    a, b = vector(end), vector(start)
    left, right = zone_of(call, end).to_local(a.values), zone_of(call, start).to_local(b.values)
    return checked_sum(call, left, -right, a, b)


@kernel("months_between")
def months_between(call: Call, end: Value, start: Value, round_off: Value) -> Value:
    """Whole months where the days agree or both end their month; otherwise 31 days make a month."""
    a, b, rounded = vector(end), vector(start), vector(round_off)
    zone = zone_of(call, end)
    days1, days2 = zone.to_local(a.values) // DAY, zone.to_local(b.values) // DAY
    time1, time2 = a.values - zone.start_of_day(days1), b.values - zone.start_of_day(days2)
    month1, month2 = month_numbers(days1), month_numbers(days2)
    day1, day2 = days1 - month_starts(month1) + 1, days2 - month_starts(month2) + 1
    whole = (month1 - month2).astype(np.float64)
    both_last = (day1 == month_lengths(month1)) & (day2 == month_lengths(month2))
    seconds = (day1 - day2) * 86_400 + time1 // SECOND - time2 // SECOND
    exact = whole + seconds / (31 * 86_400.0)
    places = 10.0**8
    near = np.copysign(np.floor(np.abs(exact) * places + 0.5), exact) / places
    months = np.where((day1 == day2) | both_last, whole, np.where(rounded.values != 0, near, exact))
    return result(call, months + 0.0, a, b, rounded)
