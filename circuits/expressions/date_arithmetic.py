"""Adding to, subtracting and truncating dates and timestamps.

Days and months are added on the calendar, in the session's time zone: a day across a change of the clocks has
23 or 25 hours. Hours and less are added on the time line. Every sum is checked against its type's range.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from circuits.errors import EvaluationError
from circuits.expressions.dates import (
    month_lengths,
    month_numbers,
    month_starts,
    weekdays,
    year_starts,
    years,
)
from circuits.expressions.nodes import Call, Literal
from circuits.expressions.registry import Value, kernel
from circuits.expressions.time_zones import DAY, SECOND, TimeZone, time_zone
from circuits.expressions.vectors import Mask, Numbers, Vector, require, result, unscaled, vector

_HOUR = 3600 * SECOND
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
    return result(call, _months_later(zone_of(call, start), a.values, b.values), a, b)


def _months_later(zone: TimeZone, instants: Numbers, months: Numbers) -> Numbers:
    days, time = np.divmod(zone.to_local(instants), DAY)
    return zone.moved(instants, add_months_to_days(days, months) * DAY + time)


def _days_later(zone: TimeZone, instants: Numbers, days: Numbers) -> Numbers:
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
    return _checked_sum(call, _days_later(zone_of(call, start), a.values, days), rest, a, b)


def _checked_sum(call: Call, left: Numbers, right: Numbers, *inputs: Vector) -> Value:
    total = left + right
    overflow = ((left ^ total) & (right ^ total)) < 0
    require(~overflow, "DATETIME_OVERFLOW", lambda row: "the timestamp is out of range", *inputs)
    return result(call, total, *inputs)


@kernel("subtract_timestamps")
def subtract_timestamps(call: Call, end: Value, start: Value) -> Value:
    """The difference of the local times, as an interval of days to seconds."""
    a, b = vector(end), vector(start)
    left, right = zone_of(call, end).to_local(a.values), zone_of(call, start).to_local(b.values)
    return _checked_sum(call, left, -right, a, b)


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


_DAY_NAMES = {
    name: number
    for number, names in enumerate(
        (
            ("MO", "MON", "MONDAY"),
            ("TU", "TUE", "TUESDAY"),
            ("WE", "WED", "WEDNESDAY"),
            ("TH", "THU", "THURSDAY"),
            ("FR", "FRI", "FRIDAY"),
            ("SA", "SAT", "SATURDAY"),
            ("SU", "SUN", "SUNDAY"),
        )
    )
    for name in names
}


def _constant(position: int, what: str) -> Callable[[Call], str | None]:
    def refuse(call: Call) -> str | None:
        return None if isinstance(call.arguments[position], Literal) else f"{what} that is not a constant"

    return refuse


@kernel("next_day", refuse=_constant(1, "a day of the week"))
def next_day(call: Call, start: Value, day: Value) -> Value:
    """The first later date that falls on the named day."""
    days, name = vector(start), day.as_py()
    weekday = None if name is None else _DAY_NAMES.get(name.upper())
    if weekday is None:
        if name is not None and call.option("failOnError"):
            known = np.zeros(len(days.values), np.bool_)
            require(known, "ILLEGAL_DAY_OF_WEEK", lambda row: f"'{name}' is not a day of the week", days)
        return pa.scalar(None, call.type)
    return result(call, days.values + 1 + (weekday - 1 - weekdays(days.values)) % 7, days)


_DATE_UNITS: dict[str, Callable[[Numbers], Numbers]] = {
    "WEEK": lambda days: days - weekdays(days),
    "MONTH": lambda days: month_starts(month_numbers(days)),
    "QUARTER": lambda days: month_starts(month_numbers(days) // 3 * 3),
    "YEAR": lambda days: year_starts(years(days)),
}
_UNIT_NAMES = {"MON": "MONTH", "MM": "MONTH", "YYYY": "YEAR", "YY": "YEAR", "DD": "DAY"}
_TIME_UNITS = {"SECOND": SECOND, "MILLISECOND": 1000, "MICROSECOND": 1}


def _unit(name: Value) -> str:
    upper = (name.as_py() or "").upper()
    return _UNIT_NAMES.get(upper, upper)


@kernel("trunc_date", refuse=_constant(1, "a unit"))
def trunc_date(call: Call, date: Value, unit: Value) -> Value:
    """The first day of the date's week, month, quarter or year; NULL for any other unit."""
    days, truncate = vector(date), _DATE_UNITS.get(_unit(unit))
    if truncate is None:
        return pa.scalar(None, call.type)
    return result(call, truncate(days.values.astype(np.int64)), days)


@kernel("trunc_timestamp", refuse=_constant(0, "a unit"))
def trunc_timestamp(call: Call, unit: Value, timestamps: Value) -> Value:
    """The beginning of the local unit that holds the instant; NULL for an unknown unit."""
    instants, name = vector(timestamps), _unit(unit)
    if name in _TIME_UNITS:  # offsets are whole seconds
        return result(call, instants.values - instants.values % _TIME_UNITS[name], instants)
    zone = zone_of(call, timestamps)
    local = zone.to_local(instants.values)
    if name in ("MINUTE", "HOUR"):
        # Within an overlap the hour keeps its own offset, so what is past the hour is taken off the instant.
        return result(call, instants.values - local % (60 * SECOND if name == "MINUTE" else _HOUR), instants)
    days = local // DAY
    if name in _DATE_UNITS:
        days = _DATE_UNITS[name](days)
    elif name != "DAY":
        return pa.scalar(None, call.type)
    return result(call, zone.start_of_day(days), instants)


_FIXED = {
    "MICROSECOND": 1,
    "MILLISECOND": 1000,
    "SECOND": SECOND,
    "MINUTE": 60 * SECOND,
    "HOUR": _HOUR,
}
_IN_DAYS = {"DAY": 1, "DAYOFYEAR": 1, "WEEK": 7}
_IN_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def _unknown_unit(call: Call) -> str | None:
    unit = str(call.option("unit")).upper()
    return None if unit in _FIXED or unit in _IN_DAYS or unit in _IN_MONTHS else f"the unit {unit}"


@kernel("timestamp_add", refuse=_unknown_unit)
def timestamp_add(call: Call, quantity: Value, timestamps: Value) -> Value:
    """TIMESTAMPADD(unit, quantity, timestamp)."""
    n, instants = vector(quantity), vector(timestamps)
    unit, zone = str(call.option("unit")).upper(), zone_of(call, timestamps)
    counts = n.values.astype(np.int64)
    limit = 2**63 // (_FIXED.get(unit) or (_IN_DAYS[unit] * DAY if unit in _IN_DAYS else 2 * 10**12))
    fits = np.abs(counts) < limit if limit < 2**62 else np.ones(len(counts), np.bool_)
    require(fits, "DATETIME_OVERFLOW", lambda row: f"adding {counts[row]} {unit} overflows", n, instants)
    if unit in _FIXED:
        return _checked_sum(call, instants.values, counts * _FIXED[unit], n, instants)
    if unit in _IN_DAYS:
        return result(call, _days_later(zone, instants.values, counts * _IN_DAYS[unit]), n, instants)
    return result(call, _months_later(zone, instants.values, counts * _IN_MONTHS[unit]), n, instants)


@kernel("timestamp_diff", refuse=_unknown_unit)
def timestamp_diff(call: Call, start: Value, end: Value) -> Value:
    """TIMESTAMPDIFF(unit, start, end): whole units of local time from start to end, towards zero."""
    a, b = vector(start), vector(end)
    unit, zone = str(call.option("unit")).upper(), zone_of(call, start)
    first, last = zone.to_local(a.values), zone.to_local(b.values)
    if unit in _IN_MONTHS:
        units = _whole_months(first, last)
        return result(call, _towards_zero(units, _IN_MONTHS[unit]), a, b)
    if unit in _FIXED:
        return result(call, _towards_zero(last - first, _FIXED[unit]), a, b)
    return result(call, _towards_zero(last - first, _IN_DAYS[unit] * DAY), a, b)


def _towards_zero(numerator: Numbers, denominator: int) -> Numbers:
    quotient: Numbers = np.sign(numerator) * (np.abs(numerator) // denominator)
    return quotient


def _whole_months(first: Numbers, last: Numbers) -> Numbers:
    """Complete months between local times: a month counts once its day and time are reached.

    As java.time: months of 32 places, of which none has more than 31 days.
    """
    days1, time1 = np.divmod(first, DAY)
    days2, time2 = np.divmod(last, DAY)
    # the last day counts only as far as its time has come
    days2 = days2 - ((days2 > days1) & (time2 < time1)) + ((days2 < days1) & (time2 > time1))
    month1, month2 = month_numbers(days1), month_numbers(days2)
    position1, position2 = days1 - month_starts(month1), days2 - month_starts(month2)
    return _towards_zero((month2 - month1) * 32 + position2 - position1, 32)


def valid_date(year: Numbers, month: Numbers, day: Numbers) -> tuple[Mask, Numbers]:
    """Which triples are dates, and the days since 1970 of those."""
    good = (month >= 1) & (month <= 12) & (day >= 1) & (np.abs(year) <= 999_999_999)
    months = np.where(good, (year.astype(np.int64) - 1970) * 12 + month - 1, 0)
    good = good & (day <= month_lengths(months))
    return good, month_starts(months) + np.where(good, day, 1) - 1


@kernel("make_date")
def make_date(call: Call, year: Value, month: Value, day: Value) -> Value:
    y, m, d = vector(year), vector(month), vector(day)
    good, days = valid_date(*np.broadcast_arrays(y.values, m.values, d.values))
    if call.option("failOnError"):
        require(good, "DATETIME_FIELD_OUT_OF_BOUNDS.WITHOUT_SUGGESTION", lambda row: "no such date", y, m, d)
    return result(call, days, y, m, d, valid=good)


def _zone_not_constant(call: Call) -> str | None:
    if len(call.arguments) < 7:
        return None
    return _no_zone(6)(call)


@kernel("make_timestamp", refuse=_zone_not_constant)
def make_timestamp(call: Call, *fields: Value) -> Value:
    """Year, month, day, hour, minute, DECIMAL seconds (60.000000 is the next minute) and a time zone."""
    inputs = [vector(field) for field in fields[:5]]
    seconds = unscaled(fields[5], 6)
    y, mo, d, h, mi, us = np.broadcast_arrays(*(each.values for each in (*inputs, seconds)))
    good, days = valid_date(y, mo, d)
    good = good & (h >= 0) & (h < 24) & (mi >= 0) & (mi < 60) & (us >= 0) & (us <= 60 * SECOND)
    if call.option("failOnError"):
        require(
            good,
            "DATETIME_FIELD_OUT_OF_BOUNDS.WITHOUT_SUGGESTION",
            lambda row: "no such timestamp",
            *inputs,
            seconds,
        )
    local = days * DAY + h * np.int64(_HOUR) + mi * np.int64(60 * SECOND) + us
    if call.type.tz is None:
        return result(call, local, *inputs, seconds, valid=good)
    name = call.option("timeZoneId", "UTC")
    if len(fields) > 6:
        if not fields[6].is_valid:
            return pa.scalar(None, call.type)
        name = fields[6].as_py()
    return result(call, time_zone(str(name)).to_utc(local), *inputs, seconds, valid=good)


def _register_unix(name: str, unit: int) -> None:
    @kernel(name)
    def run(call: Call, timestamps: Value) -> Value:
        instants = vector(timestamps)
        return result(call, instants.values // unit, instants)


_register_unix("unix_seconds", SECOND)
_register_unix("unix_millis", 1000)
_register_unix("unix_micros", 1)


def _register_from_unix(name: str, unit: int) -> None:
    @kernel(name)
    def run(call: Call, units: Value) -> Value:
        """ANSI: overflow is an error. DECIMAL and DOUBLE seconds keep their microseconds."""
        if pa.types.is_decimal(units.type):
            micros = unscaled(units, 6)
            return result(call, micros.values, micros)
        n = vector(units)
        if pa.types.is_floating(units.type):
            scaled = n.values.astype(np.float64) * unit
            finite = np.isfinite(scaled)
            fits = ~finite | (np.abs(scaled) < 2.0**63)
            require(fits, "ARITHMETIC_OVERFLOW", lambda row: "the timestamp is out of range", n)
            return result(call, np.where(finite, scaled, 0.0).astype(np.int64), n, valid=finite)
        counts = n.values.astype(np.int64)
        bound = np.iinfo(np.int64).max // unit
        fits = (counts <= bound) & (counts >= -bound - (1 if unit == 1 else 0))
        require(fits, "DATETIME_OVERFLOW", lambda row: f"{counts[row]} is out of range", n)
        return result(call, counts * unit, n)


_register_from_unix("seconds_to_timestamp", SECOND)
_register_from_unix("millis_to_timestamp", 1000)
_register_from_unix("micros_to_timestamp", 1)


def _no_zone(position: int) -> Callable[[Call], str | None]:
    def refuse(call: Call) -> str | None:
        zone = call.arguments[position]
        if not isinstance(zone, Literal):
            return "a time zone that is not a constant"
        try:
            time_zone("UTC" if zone.value is None else str(zone.value))
        except EvaluationError as error:
            return f"a time zone that does not exist ({error})"
        return None

    return refuse


def _register_shift(name: str, zone_argument: int, shift: Callable[[TimeZone, Numbers], Numbers]) -> None:
    @kernel(name, refuse=_no_zone(zone_argument))
    def run(call: Call, timestamps: Value, zone: Value) -> Value:
        if not zone.is_valid:
            return pa.scalar(None, call.type)
        instants = vector(timestamps)
        return result(call, shift(time_zone(zone.as_py()), instants.values), instants)


_register_shift("from_utc_timestamp", 1, lambda zone, instants: zone.to_local(instants))
_register_shift("to_utc_timestamp", 1, lambda zone, instants: zone.to_utc(instants))


def _zones_not_constant(call: Call) -> str | None:
    return _no_zone(0)(call) or _no_zone(1)(call)


@kernel("convert_timezone", refuse=_zones_not_constant)
def convert_timezone(call: Call, source: Value, target: Value, timestamps: Value) -> Value:
    """The same instant on the clocks of another zone, TIMESTAMP_NTZ to TIMESTAMP_NTZ."""
    if not (source.is_valid and target.is_valid):
        return pa.scalar(None, call.type)
    local = vector(timestamps)
    instants = time_zone(source.as_py()).to_utc(local.values)
    return result(call, time_zone(target.as_py()).to_local(instants), local)


def _not_total(call: Call) -> str | None:
    return None if pa.types.is_integer(call.arguments[0].type) else "days that are not an integer"


@kernel("make_dt_interval", refuse=_not_total)
def make_dt_interval(call: Call, days: Value, hours: Value, minutes: Value, seconds: Value) -> Value:
    """INTERVAL DAY TO SECOND of its parts."""
    inputs = [vector(days), vector(hours), vector(minutes), unscaled(seconds, 6)]
    units = (DAY, _HOUR, 60 * SECOND, 1)
    total = np.zeros(1, np.float64)
    micros = np.zeros(1, np.int64)
    for each, unit in zip(inputs, units, strict=True):
        total = total + each.values.astype(np.float64) * unit
        micros = micros + each.values.astype(np.int64) * unit
    require(np.abs(total) < 2.0**63, "INTERVAL_ARITHMETIC_OVERFLOW", lambda row: "interval overflow", *inputs)
    return result(call, micros, *inputs)
