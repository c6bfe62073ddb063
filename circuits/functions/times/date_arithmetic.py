"""Adding to and subtracting dates and timestamps.

Days and months are added on the calendar, in the session's time zone: a day across a change of the clocks has
23 or 25 hours. Hours and less are added on the time line. Every sum is checked against its type's range.
"""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.calendar import Parts, parts_of
from dbsp.circuits.expressions.vectors.numbers import Numbers, Vector, require, result, vector
from dbsp.circuits.expressions.vectors.spread import spread
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
    zone = zone_of(call, start)
    _months_fit(zone, a, b.values, b)
    return result(call, months_later(zone, a.values, b.values), a, b)


# days of so many microseconds that they fit 64 bits
_MOST_DAYS = (2**63 - 1) // DAY - 1


def _months_fit(zone: TimeZone, start: Vector, months: Numbers, of_months: Vector) -> None:
    """Raises EvaluationError where a time so many months later is out of range."""
    later = add_months_to_days(zone.to_local(start.values) // DAY, months)
    _days_fit(later, start, of_months)


def _days_fit(days: Numbers, *inputs: Vector) -> None:
    fits = np.abs(days) <= _MOST_DAYS
    require(fits, "DATETIME_OVERFLOW", lambda row: "the timestamp is out of range", *inputs)


def months_later(zone: TimeZone, instants: Numbers, months: Numbers) -> Numbers:
    """The same local time months later, on the last day of a shorter month."""
    days, time = np.divmod(zone.to_local(instants), DAY)
    return zone.moved(instants, add_months_to_days(days, months) * DAY + time)


def days_later(zone: TimeZone, instants: Numbers, days: Numbers) -> Numbers:
    """The same local time days later."""
    return zone.moved(instants, zone.to_local(instants) + days * DAY)


@kernel("timestamp_add_interval")
def timestamp_add_interval(call: Call, start: Value, interval: Value) -> Value:
    """A day-time interval: its whole days on the calendar, the rest on the time line. Months come first."""
    if interval.type == CALENDAR_INTERVAL:
        return _calendar_added(call, start, interval)
    a, b = vector(start), vector(interval)
    days = np.sign(b.values) * (np.abs(b.values) // DAY)
    rest = b.values - days * DAY
    return checked_sum(call, days_later(zone_of(call, start), a.values, days), rest, a, b)


def _calendar_added(call: Call, start: Value, interval: Value) -> Value:
    a, parts, of_parts = _beside(start, interval)
    zone = zone_of(call, start)
    _months_fit(zone, a, parts.months, of_parts)
    later = months_later(zone, a.values, parts.months)
    _days_fit(later // DAY + parts.days, a, of_parts)
    moved = days_later(zone, later, parts.days)
    return checked_sum(call, moved, parts.microseconds, a, of_parts)


def _beside(start: Value, interval: Value) -> tuple[Vector, Parts, Vector]:
    """The times, the parts of the intervals, and which of those there are."""
    is_constant = isinstance(interval, pa.Scalar)
    parts = parts_of(spread(interval, 1))
    return vector(start), parts, Vector(parts.days, parts.valid, is_constant)


@kernel("date_add_interval")
def date_add_interval(call: Call, start: Value, interval: Value) -> Value:
    """Months, then days. A time of day is an error."""
    a, parts, of_parts = _beside(start, interval)
    require(
        np.broadcast_to(parts.microseconds == 0, max(a.values.shape, of_parts.values.shape)),
        "INVALID_INTERVAL_WITH_MICROSECONDS_ADDITION",
        lambda row: "hours, minutes and seconds can't be added to a date",
        a,
        of_parts,
    )
    days = add_months_to_days(a.values.astype(np.int64), parts.months) + parts.days
    return _int32_days(call, days, a, of_parts)


def checked_sum(call: Call, left: Numbers, right: Numbers, *inputs: Vector) -> Value:
    """Their sum; an error where it leaves the range of BIGINT."""
    total = left + right
    overflow = ((left ^ total) & (right ^ total)) < 0
    require(~overflow, "DATETIME_OVERFLOW", lambda row: "the timestamp is out of range", *inputs)
    return result(call, total, *inputs)


def _in_buckets(call: Call) -> str | None:
    width, time, _ = call.arguments
    if width.type == MONTHS:
        return "a width of months"
    size = width.value if isinstance(width, Literal) else None
    whole = isinstance(size, timedelta) and (size < timedelta(days=1) or not size % timedelta(days=1))
    return None if whole or time.type.tz is None else "a width of days and a part of one"


@kernel("time_bucket", refuse=_in_buckets)
def time_bucket(call: Call, width: Value, time: Value, origin: Value) -> Value:
    """The start of the bucket of that width, counted from the origin, that the time is in.

    Whole days are counted on the calendar, less than a day on the time line.
    """
    a, b, c = vector(width), vector(time), vector(origin)
    zone = zone_of(call, time) if (a.values % DAY == 0).all() else _CLOCK
    size = np.where(a.values == 0, 1, a.values)
    first, local = zone.to_local(c.values), zone.to_local(b.values)
    return result(call, zone.to_utc((local - first) // size * size + first), a, b, c)


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
