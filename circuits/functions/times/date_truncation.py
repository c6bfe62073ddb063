"""The beginning of the unit that holds a date or an instant, and the next day of the week."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.by_value import by_value
from dbsp.circuits.expressions.vectors.numbers import Numbers, require, result, vector
from dbsp.circuits.functions.times.date_arithmetic import zone_of
from dbsp.circuits.functions.times.dates import (
    month_numbers,
    month_starts,
    weekdays,
    year_starts,
    years,
)
from dbsp.circuits.functions.times.time_zones import DAY, HOUR, SECOND

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


@kernel("next_day")
@by_value(1)
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


def truncates(unit: str, *, time: bool) -> bool:
    """Whether a date, or a time, has such units; of others its truncation is NULL."""
    name = _UNIT_NAMES.get(unit.upper(), unit.upper())
    return name in _DATE_UNITS or (time and (name in _TIME_UNITS or name in ("MINUTE", "HOUR", "DAY")))


@kernel("trunc_date")
@by_value(1)
def trunc_date(call: Call, date: Value, unit: Value) -> Value:
    """The first day of the date's week, month, quarter or year; NULL for any other unit."""
    days, truncate = vector(date), _DATE_UNITS.get(_unit(unit))
    if truncate is None:
        return pa.scalar(None, call.type)
    return result(call, truncate(days.values.astype(np.int64)), days)


@kernel("clock_tick")
def clock_tick(call: Call, timestamps: Value) -> Value:
    """The last multiple of a number of microseconds since 1970."""
    instants, every = vector(timestamps), call.option("every")
    assert isinstance(every, int)
    return result(call, instants.values - instants.values % every, instants)


@kernel("trunc_timestamp")
@by_value(0)
def trunc_timestamp(call: Call, unit: Value, timestamps: Value) -> Value:
    """The beginning of the local unit that holds the instant; NULL for an unknown unit."""
    instants, name = vector(timestamps), _unit(unit)
    if name in _TIME_UNITS:  # offsets are whole seconds
        return result(call, instants.values - instants.values % _TIME_UNITS[name], instants)
    zone = zone_of(call, timestamps)
    local = zone.to_local(instants.values)
    if name in ("MINUTE", "HOUR"):
        # Within an overlap the hour keeps its own offset, so what is past the hour is taken off the instant.
        return result(call, instants.values - local % (60 * SECOND if name == "MINUTE" else HOUR), instants)
    days = local // DAY
    if name in _DATE_UNITS:
        days = _DATE_UNITS[name](days)
    elif name != "DAY":
        return pa.scalar(None, call.type)
    return result(call, zone.start_of_day(days), instants)
