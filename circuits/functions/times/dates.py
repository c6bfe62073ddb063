"""The fields of dates and timestamps, in the proleptic Gregorian calendar and the session's time zone.

A date is a number of days since 1970-01-01, a timestamp a number of microseconds. NumPy's datetime64 knows
years and months of any day; everything else is integer arithmetic on days.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import Numbers, Vector, result, vector
from dbsp.circuits.functions.times.time_zones import DAY, SECOND, time_zone

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def years(days: Numbers) -> Numbers:
    return days.astype("M8[D]").astype("M8[Y]").astype(np.int64) + 1970


def month_numbers(days: Numbers) -> Numbers:
    """Months since January 1970."""
    return days.astype("M8[D]").astype("M8[M]").astype(np.int64)


def month_starts(months: Numbers) -> Numbers:
    """Months since January 1970 → the day each begins."""
    return months.astype("M8[M]").astype("M8[D]").astype(np.int64)


def year_starts(of_years: Numbers) -> Numbers:
    return (of_years - 1970).astype("M8[Y]").astype("M8[D]").astype(np.int64)


def month_lengths(months: Numbers) -> Numbers:
    return month_starts(months + 1) - month_starts(months)


def weekdays(days: Numbers) -> Numbers:
    """0 is Monday. 1970-01-01 was a Thursday."""
    return (days.astype(np.int64) + 3) % 7


def week_years(days: Numbers) -> Numbers:
    """ISO 8601: a week belongs to the year of its Thursday."""
    return years(days.astype(np.int64) - weekdays(days) + 3)


def weeks(days: Numbers) -> Numbers:
    """The ISO week, 1 … 53."""
    thursday = days.astype(np.int64) - weekdays(days) + 3
    return (thursday - year_starts(years(thursday))) // 7 + 1


def local_micros(call: Call, timestamps: Value) -> tuple[Numbers, Vector]:
    """The microseconds on the session's clocks; a TIMESTAMP_NTZ is on them already."""
    instants = vector(timestamps)
    if timestamps.type.tz is None:
        return instants.values, instants
    return time_zone(str(call.option("timeZoneId", "UTC"))).to_local(instants.values), instants


def _register_date_field(name: str, field: Callable[[Numbers], Numbers]) -> None:
    @kernel(name)
    def run(call: Call, days: Value) -> Value:
        numbers = vector(days)
        return result(call, field(numbers.values), numbers)


_register_date_field("year", years)
_register_date_field("quarter", lambda days: month_numbers(days) % 12 // 3 + 1)
_register_date_field("month", lambda days: month_numbers(days) % 12 + 1)
_register_date_field("day_of_month", lambda days: days - month_starts(month_numbers(days)) + 1)
_register_date_field("day_of_week", lambda days: (weekdays(days) + 1) % 7 + 1)
_register_date_field("week_day", weekdays)
_register_date_field("day_of_year", lambda days: days - year_starts(years(days)) + 1)
_register_date_field("week_of_year", weeks)
_register_date_field("year_of_week", week_years)
_register_date_field("last_day", lambda days: month_starts(month_numbers(days) + 1) - 1)
_register_date_field("unix_date", lambda days: days)
_register_date_field("date_from_unix_date", lambda days: days)


def _register_name(name: str, table: tuple[str, ...], index: Callable[[Numbers], Numbers]) -> None:
    @kernel(name)
    def run(call: Call, days: Value) -> Value:
        numbers = vector(days)
        null = None if numbers.valid is None else ~numbers.valid
        names = pa.array(table).take(pa.array(index(numbers.values), pa.int64(), mask=null))
        return names[0] if numbers.is_constant else names


_register_name("day_name", _DAYS, weekdays)
_register_name("month_name", _MONTHS, lambda days: month_numbers(days) % 12)


def _register_time_field(name: str, unit: int, count: int) -> None:
    @kernel(name)
    def run(call: Call, timestamps: Value) -> Value:
        local, instants = local_micros(call, timestamps)
        return result(call, local // unit % count, instants)


_register_time_field("hour", 3600 * SECOND, 24)
_register_time_field("minute", 60 * SECOND, 60)
_register_time_field("second", SECOND, 60)


@kernel("second_with_fraction")
def second_with_fraction(call: Call, timestamps: Value) -> Value:
    """Seconds with six places, DECIMAL(8, 6)."""
    local, instants = local_micros(call, timestamps)
    return result(call, local % (60 * SECOND), instants)


def _register_interval_field(name: str, unit: int, count: int | None) -> None:
    @kernel(name)
    def run(call: Call, intervals: Value) -> Value:
        """Truncated towards zero: the fields of a negative interval are negative."""
        x = vector(intervals)
        number = x.values.astype(np.int64)
        units = np.sign(number) * (np.abs(number) // unit)
        return result(call, units if count is None else np.fmod(units, count), x)


_register_interval_field("extract_ansi_interval_years", 12, None)
_register_interval_field("extract_ansi_interval_months", 1, 12)
_register_interval_field("extract_ansi_interval_days", DAY, None)
_register_interval_field("extract_ansi_interval_hours", 3600 * SECOND, 24)
_register_interval_field("extract_ansi_interval_minutes", 60 * SECOND, 60)


@kernel("extract_ansi_interval_seconds")
def interval_seconds(call: Call, intervals: Value) -> Value:
    micros = vector(intervals)
    return result(call, np.fmod(micros.values, 60 * SECOND), micros)
