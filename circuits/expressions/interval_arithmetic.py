"""Intervals times and divided by numbers: exact, rounded HALF_UP.

One of days to seconds is an int64 of microseconds, one of years to months an int32 of months.
"""

from __future__ import annotations

import numpy as np
import pyarrow.types as pt

from circuits.expressions import decimals
from circuits.expressions.decimals import unscaled
from circuits.expressions.nodes import Call
from circuits.expressions.registry import Value, kernel
from circuits.expressions.vectors import Mask, Numbers, Vector, require, result, vector

_OVERFLOW = "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"


def _exact_factor(call: Call) -> str | None:
    """FLOAT and DOUBLE round twice, in an order of their own."""
    kind = call.arguments[1].type
    return f"a factor of type {kind}" if pt.is_floating(kind) else None


def _factor(value: Value) -> tuple[Vector, int]:
    """The number's unscaled integers, and its scale."""
    if pt.is_decimal(value.type):
        return unscaled(value), value.type.scale
    x = vector(value)
    return Vector(x.values.astype(np.int64).astype(object), x.valid, x.is_constant), 0


def _fitting(call: Call, units: Numbers, *inputs: Vector) -> Value:
    bits, unit = (64, "microseconds") if pt.is_duration(call.type) else (32, "months")
    limit = 2 ** (bits - 1)
    good: Mask = np.asarray((units >= -limit) & (units < limit), dtype=np.bool_)
    require(good, _OVERFLOW, lambda row: f"the interval doesn't fit {bits} bits of {unit}.", *inputs)
    return result(call, np.where(good, units, 0).astype(np.int64), *inputs)


def _units(value: Value) -> Vector:
    x = vector(value)
    return Vector(x.values.astype(object), x.valid, x.is_constant)


@kernel("multiply_ym_interval", refuse=_exact_factor)
@kernel("multiply_dt_interval", refuse=_exact_factor)
def multiply_interval(call: Call, interval: Value, factor: Value) -> Value:
    x = _units(interval)
    y, scale = _factor(factor)
    return _fitting(call, decimals.rescale(decimals.multiply(x.values, y.values), scale, 0), x, y)


@kernel("divide_ym_interval", refuse=_exact_factor)
@kernel("divide_dt_interval", refuse=_exact_factor)
def divide_interval(call: Call, interval: Value, divisor: Value) -> Value:
    x = _units(interval)
    y, scale = _factor(divisor)
    good = np.asarray(y.values != 0, dtype=np.bool_)
    require(
        np.broadcast_to(good, np.broadcast_shapes(good.shape, x.values.shape)),
        "INTERVAL_DIVIDED_BY_ZERO",
        lambda row: "Division of an interval by zero. Use try_divide to get NULL.",
        x,
        y,
    )
    numerator = decimals.multiply(x.values, decimals.power_of_ten(scale))
    return _fitting(call, decimals.divide_half_up(numerator, np.where(good, y.values, 1)), x, y)


@kernel("make_ym_interval")
def make_ym_interval(call: Call, years: Value, months: Value) -> Value:
    """An error already where the years alone overflow."""
    x, y = _units(years), _units(months)
    of_years = x.values * 12
    _fitting(call, of_years, x, y)
    return _fitting(call, of_years + y.values, x, y)
