"""Adding and counting units of time by name: TIMESTAMPADD and TIMESTAMPDIFF."""

from __future__ import annotations

import numpy as np

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import Numbers, require, result, vector
from dbsp.circuits.functions.times.date_arithmetic import checked_sum, days_later, months_later, zone_of
from dbsp.circuits.functions.times.dates import (
    month_numbers,
    month_starts,
)
from dbsp.circuits.functions.times.time_zones import DAY, HOUR, SECOND

_FIXED = {
    "MICROSECOND": 1,
    "MILLISECOND": 1000,
    "SECOND": SECOND,
    "MINUTE": 60 * SECOND,
    "HOUR": HOUR,
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
        return checked_sum(call, instants.values, counts * _FIXED[unit], n, instants)
    if unit in _IN_DAYS:
        return result(call, days_later(zone, instants.values, counts * _IN_DAYS[unit]), n, instants)
    return result(call, months_later(zone, instants.values, counts * _IN_MONTHS[unit]), n, instants)


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
