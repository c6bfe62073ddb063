"""Dates, instants and intervals from their parts, and instants to and from numbers of units since 1970."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.by_value import by_value
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, require, result, unscaled, vector
from dbsp.circuits.functions.times.dates import (
    month_lengths,
    month_starts,
)
from dbsp.circuits.functions.times.time_zones import DAY, HOUR, SECOND, time_zone
from dbsp.circuits.functions.times.zone_shifts import unless_zone


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


def _no_zone(call: Call) -> str | None:
    if len(call.arguments) < 7:
        return None
    return unless_zone(6)(call)


@kernel("make_timestamp", refuse=_no_zone)
def make_timestamp(call: Call, *fields: Value) -> Value:
    """A time zone may follow."""
    return by_value(6)(_timestamp)(call, *fields) if len(fields) > 6 else _timestamp(call, *fields)


def _timestamp(call: Call, *fields: Value) -> Value:
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
    local = days * DAY + h * np.int64(HOUR) + mi * np.int64(60 * SECOND) + us
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
        """ANSI: overflow is an error, but FLOAT and DOUBLE end at the last instant, as where Java casts them;
        NaN and infinity are NULL. DECIMAL and DOUBLE seconds keep their microseconds."""
        if pa.types.is_decimal(units.type):
            micros = unscaled(units, 6)
            return result(call, micros.values, micros)
        n = vector(units)
        if pa.types.is_floating(units.type):
            finite = np.isfinite(n.values)
            with np.errstate(over="ignore"):
                scaled = np.where(finite, n.values, 0.0).astype(np.float64) * unit
            inside = np.abs(scaled) < 2.0**63
            ends = np.where(scaled < 0, np.iinfo(np.int64).min, np.iinfo(np.int64).max)
            ended = np.where(inside, np.where(inside, scaled, 0.0).astype(np.int64), ends)
            return result(call, ended, n, valid=finite)
        counts = n.values.astype(np.int64)
        bound = np.iinfo(np.int64).max // unit
        fits = (counts <= bound) & (counts >= -bound - (1 if unit == 1 else 0))
        require(fits, "DATETIME_OVERFLOW", lambda row: f"{counts[row]} is out of range", n)
        return result(call, counts * unit, n)


_register_from_unix("seconds_to_timestamp", SECOND)
_register_from_unix("millis_to_timestamp", 1000)
_register_from_unix("micros_to_timestamp", 1)


def _not_total(call: Call) -> str | None:
    return None if pa.types.is_integer(call.arguments[0].type) else "days that are not an integer"


@kernel("make_dt_interval", refuse=_not_total)
def make_dt_interval(call: Call, days: Value, hours: Value, minutes: Value, seconds: Value) -> Value:
    """INTERVAL DAY TO SECOND of its parts."""
    inputs = [vector(days), vector(hours), vector(minutes), unscaled(seconds, 6)]
    units = (DAY, HOUR, 60 * SECOND, 1)
    total = np.zeros(1, np.float64)
    micros = np.zeros(1, np.int64)
    for each, unit in zip(inputs, units, strict=True):
        total = total + each.values.astype(np.float64) * unit
        micros = micros + each.values.astype(np.int64) * unit
    require(np.abs(total) < 2.0**63, "INTERVAL_ARITHMETIC_OVERFLOW", lambda row: "interval overflow", *inputs)
    return result(call, micros, *inputs)
