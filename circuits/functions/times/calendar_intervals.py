"""MAKE_INTERVAL; intervals of months, days and microseconds times and by numbers, and their parts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.calendar import Parts, intervals, parts_of
from dbsp.circuits.expressions.vectors.decimals import unscaled
from dbsp.circuits.expressions.vectors.modes import ANSI, mode
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, Vector, result
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.functions.times.time_zones import DAY, SECOND

_MINUTE, _HOUR = 60 * SECOND, 3600 * SECOND


@columnar("make_interval", strict=False)
def make_interval(call: Call, *given: pa.Array) -> pa.Array:
    """Of years, months, weeks, days, hours, minutes and seconds (a DECIMAL(18, 6))."""
    vectors = [unscaled(each) if pa.types.is_decimal(each.type) else _whole(each) for each in given]
    years, months, weeks, days, hours, minutes, seconds = (each.values.astype(object) for each in vectors)
    valid = np.logical_and.reduce([each.is_valid().to_numpy(zero_copy_only=False) for each in given])
    micros = seconds + hours * _HOUR + minutes * _MINUTE
    parts = [years * 12 + months, weeks * 7 + days, micros]
    return intervals(call, parts, valid, "ARITHMETIC_OVERFLOW")


def _whole(numbers: pa.Array) -> Vector:
    return Vector(numbers.fill_null(0).to_numpy(zero_copy_only=False), None, False)


@columnar("multiply_interval", strict=False)
def multiply(call: Call, given: pa.Array, factor: pa.Array) -> pa.Array:
    return _scaled(call, given, factor, np.multiply)


@columnar("divide_interval", strict=False)
def divide(call: Call, given: pa.Array, divisor: pa.Array) -> pa.Array:
    valid = divisor.is_valid().to_numpy(zero_copy_only=False)
    zero = valid & (divisor.fill_null(1).to_numpy(zero_copy_only=False) == 0)
    if zero.any() and mode(call) == ANSI:
        both = zero & given.is_valid().to_numpy(zero_copy_only=False)
        if both.any():
            row = int(np.argmax(both))
            raise EvaluationError("INTERVAL_DIVIDED_BY_ZERO", "an interval divided by zero", row)
    divisor = pc.if_else(pa.array(zero), pa.scalar(None, divisor.type), divisor)
    return _scaled(call, given, divisor, np.divide)


def _scaled(
    call: Call, given: pa.Array, number: pa.Array, operate: Callable[[Numbers, Numbers], Numbers]
) -> pa.Array:
    """In doubles: a fraction of a month is dropped, one of a day is so many microseconds."""
    x = parts_of(given)
    by = number.fill_null(1).to_numpy(zero_copy_only=False).astype(np.float64)
    valid: Mask = x.valid & number.is_valid().to_numpy(zero_copy_only=False)
    with np.errstate(all="ignore"):
        months, days, micros = (operate(part.astype(np.float64), by) for part in x.each)
        whole = np.trunc(np.nan_to_num(days, posinf=2.0**40, neginf=-(2.0**40)))
        micros = np.floor(micros + DAY * (days - whole) + 0.5)
    parts = [np.nan_to_num(part, posinf=2.0**70, neginf=-(2.0**70)) for part in (np.trunc(months), whole)]
    integers = [np.array([int(each) for each in part], object) for part in (*parts, _bounded(micros))]
    return intervals(call, integers, valid)


def _bounded(micros: Numbers) -> Numbers:
    """As Math.round makes a LONG of it: the nearest there is."""
    high = float(2**63)
    inside = np.nan_to_num(micros, nan=0.0, posinf=high, neginf=-high)
    return np.array([min(max(int(each), -(2**63)), 2**63 - 1) for each in inside], object)


def _whole_days(call: Call, parts: Parts) -> Numbers:
    """Those of the calendar, and those that the time makes up."""
    days = parts.days + _truncated(parts.microseconds, DAY)
    fits = (days >= -(2**31)) & (days < 2**31)
    if not fits.all():
        raise EvaluationError("ARITHMETIC_OVERFLOW", "integer overflow", int(np.argmin(fits)))
    return days


def _truncated(values: Numbers, unit: int) -> Numbers:
    """Divided towards zero, as Java divides."""
    return (values - np.fmod(values, unit)) // unit


_FIELDS: dict[str, Callable[[Call, Parts], Numbers]] = {
    "years": lambda _, parts: _truncated(parts.months, 12),
    "months": lambda _, parts: np.fmod(parts.months, 12),
    "days": _whole_days,
    "hours": lambda _, parts: _truncated(np.fmod(parts.microseconds, DAY), _HOUR),
    "minutes": lambda _, parts: _truncated(np.fmod(parts.microseconds, _HOUR), _MINUTE),
    "seconds": lambda _, parts: np.fmod(parts.microseconds, _MINUTE),
}


def _register_field(name: str) -> None:
    @columnar(f"extract_interval_{name}", strict=False)
    def run(call: Call, given: pa.Array) -> Value:
        parts = parts_of(given)
        return result(call, _FIELDS[name](call, parts), Vector(parts.days, parts.valid, False))


for _name in _FIELDS:
    _register_field(_name)
