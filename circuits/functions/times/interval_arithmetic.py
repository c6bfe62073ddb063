"""Intervals times and divided by numbers: rounded HALF_UP, and exact unless the number is a FLOAT or DOUBLE.

One of days to seconds is an int64 of microseconds, one of years to months has 32 bits of months.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow.types as pt

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors import decimals
from dbsp.circuits.expressions.vectors.decimals import unscaled
from dbsp.circuits.expressions.vectors.modes import checked
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, Vector, both, result, vector

_OVERFLOW = "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"


def _factor(value: Value) -> tuple[Vector, int]:
    """The number's unscaled integers, and its scale."""
    if pt.is_decimal(value.type):
        return unscaled(value), value.type.scale
    x = vector(value)
    return Vector(x.values.astype(np.int64).astype(object), x.valid, x.is_constant), 0


def _fitting(call: Call, units: Numbers, *inputs: Vector) -> Value:
    bits, unit = (32, "months") if call.type == MONTHS else (64, "microseconds")
    limit = 2 ** (bits - 1)
    good: Mask = np.asarray((units >= -limit) & (units < limit), dtype=np.bool_)
    valid = checked(
        call, good, _OVERFLOW, lambda row: f"the interval doesn't fit {bits} bits of {unit}.", *inputs
    )
    return result(call, np.where(good, units, 0).astype(np.int64), *inputs, valid=valid)


def _floating(call: Call, x: Vector, y: Vector, operate: Callable[[Numbers, Numbers], Numbers]) -> Value:
    """In doubles, and the double HALF_UP: a sum with 0.5 would round what is just below a half."""
    with np.errstate(all="ignore"):
        units = operate(x.values.astype(np.float64), y.values.astype(np.float64))
        nearest = np.rint(units)
        units = np.where(np.abs(units - nearest) == 0.5, units + np.copysign(0.5, units), nearest)
        limit = 2.0**31 if call.type == MONTHS else 2.0**63
        good = np.asarray((units >= -limit) & (units < limit), dtype=np.bool_)
    valid = checked(call, good, _OVERFLOW, lambda row: "the interval is out of range.", x, y)
    return result(call, np.where(good, units, 0).astype(np.int64), x, y, valid=valid)


def _units(value: Value) -> Vector:
    x = vector(value)
    return Vector(x.values.astype(object), x.valid, x.is_constant)


@kernel("multiply_ym_interval")
@kernel("multiply_dt_interval")
def multiply_interval(call: Call, interval: Value, factor: Value) -> Value:
    if pt.is_floating(factor.type):
        return _floating(call, vector(interval), vector(factor), np.multiply)
    x = _units(interval)
    y, scale = _factor(factor)
    return _fitting(call, decimals.rescale(decimals.multiply(x.values, y.values), scale, 0), x, y)


@kernel("divide_ym_interval")
@kernel("divide_dt_interval")
def divide_interval(call: Call, interval: Value, divisor: Value) -> Value:
    x = _units(interval)
    is_floating = pt.is_floating(divisor.type)
    y, scale = (vector(divisor), 0) if is_floating else _factor(divisor)
    good = np.asarray(y.values != 0, dtype=np.bool_)
    message = "Division of an interval by zero. Use try_divide to get NULL."
    y = replace(
        y, valid=both(y.valid, checked(call, good, "INTERVAL_DIVIDED_BY_ZERO", lambda _: message, x, y))
    )
    if is_floating:
        return _floating(call, vector(interval), y, np.divide)
    numerator = decimals.multiply(x.values, decimals.power_of_ten(scale))
    return _fitting(call, decimals.divide_half_up(numerator, np.where(good, y.values, 1)), x, y)


@kernel("make_ym_interval")
def make_ym_interval(call: Call, years: Value, months: Value) -> Value:
    """An error already where the years alone overflow."""
    x, y = _units(years), _units(months)
    of_years = x.values * 12
    _fitting(call, of_years, x, y)
    return _fitting(call, of_years + y.values, x, y)
