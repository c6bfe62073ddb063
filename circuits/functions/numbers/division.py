"""/ DIV % and pmod over every numeric type.

As `arithmetic.py`, but that division by zero is an error of FLOAT and DOUBLE, too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow.types as pt

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors import decimals
from dbsp.circuits.expressions.vectors.decimals import unscaled
from dbsp.circuits.expressions.vectors.modes import LEGACY, checked, mode
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, Vector, both, result, vector
from dbsp.circuits.functions.numbers.arithmetic import only_fixed, overflow_of, rounded_exactly


def _nonzero(
    call: Call, x: Vector, y: Vector, condition: str = "DIVIDE_BY_ZERO"
) -> tuple[Numbers, Mask | None]:
    """The divisors with 1 for 0, and where the quotient exists. Raises under ANSI, but not on NULL / 0."""
    good = np.asarray(y.values != 0)
    if good.all():
        return y.values, None
    what = "Division by zero" if condition == "DIVIDE_BY_ZERO" else "Remainder by zero"
    valid = checked(
        call, good, condition, lambda row: f"{what}. Use try_divide or try_mod to get NULL.", x, y
    )
    return np.where(good, y.values, 1).astype(y.values.dtype), both(valid, good)


@kernel("divide", refuse=only_fixed)
def divide(call: Call, a: Value, b: Value) -> Value:
    """Of DOUBLE or DECIMAL: Catalyst has cast integers."""
    if pt.is_decimal(call.type):
        x, y = unscaled(a), unscaled(b)
        divisor, valid = _nonzero(call, x, y)
        # at the result's scale at once: x·10^−s / y·10^−t = (x·10^(scale+t−s) / y)·10^−scale
        scale = call.type.scale
        shift = scale + b.type.scale - a.type.scale
        numerator = decimals.multiply(x.values, decimals.power_of_ten(max(shift, 0)))
        divisor = decimals.multiply(divisor, decimals.power_of_ten(max(-shift, 0)))
        return rounded_exactly(call, decimals.divide_half_up(numerator, divisor), scale, x, y, valid=valid)
    x, y = vector(a), vector(b)
    divisor, valid = _nonzero(call, x, y)
    with np.errstate(all="ignore"):
        return result(call, x.values / divisor, x, y, valid=valid)


@kernel("integral_divide", refuse=only_fixed)
def integral_divide(call: Call, a: Value, b: Value) -> Value:
    """DIV: toward zero, as BIGINT."""
    if pt.is_decimal(a.type):
        x, y = unscaled(a), unscaled(b)
        divisor, valid = _nonzero(call, x, y)
        left, right = _one_scale(x.values, a.type.scale, divisor, b.type.scale)
        quotient, _ = decimals.divide_truncated(left, right)
        if quotient.dtype == object:  # the low 64 bits, as Decimal.toLong takes them
            quotient = ((quotient + 2**63) % 2**64 - 2**63).astype(np.int64)
        return result(call, quotient, x, y, valid=valid)
    x, y = vector(a), vector(b)
    divisor, valid = _nonzero(call, x, y)
    left = x.values.astype(np.int64)
    wraps = (divisor == -1) & (left == np.iinfo(np.int64).min)
    if wraps.any() and mode(call) != LEGACY:
        overflow = checked(call, ~wraps, "ARITHMETIC_OVERFLOW", lambda row: overflow_of(call), x, y)
        valid = both(valid, overflow)
    with np.errstate(all="ignore"):
        quotient = left // divisor
        quotient = quotient + ((left - quotient * divisor != 0) & ((left < 0) != (divisor < 0)))
    return result(call, quotient, x, y, valid=valid)


def _one_scale(a: Numbers, a_scale: int, b: Numbers, b_scale: int) -> tuple[Numbers, Numbers]:
    scale = max(a_scale, b_scale)
    return decimals.rescale(a, a_scale, scale), decimals.rescale(b, b_scale, scale)


@kernel("remainder", refuse=only_fixed)
def remainder(call: Call, a: Value, b: Value) -> Value:
    """a − b · truncate(a / b): the sign is that of a."""
    return _modulo(call, a, b, lambda r, n: r)


@kernel("pmod", refuse=only_fixed)
def positive_modulo(call: Call, a: Value, b: Value) -> Value:
    """r = a % b; where that is negative, (r + b) % b."""

    def positive(r: Numbers, n: Numbers) -> Numbers:
        negative = np.asarray(r < 0)
        if not negative.any():
            return r
        if object in (r.dtype, n.dtype):
            _, shifted = decimals.divide_truncated(decimals.add(r, n), n)
        else:
            shifted = np.fmod(r + n, n)
        return np.where(negative, shifted, r)

    return _modulo(call, a, b, positive)


def _modulo(call: Call, a: Value, b: Value, finish: Callable[[Numbers, Numbers], Numbers]) -> Value:
    if pt.is_decimal(call.type):
        x, y = unscaled(a), unscaled(b)
        divisor, valid = _nonzero(call, x, y, "REMAINDER_BY_ZERO")
        left, right = _one_scale(x.values, a.type.scale, divisor, b.type.scale)
        _, rest = decimals.divide_truncated(left, right)
        scale = max(a.type.scale, b.type.scale)
        return rounded_exactly(call, finish(rest, right), scale, x, y, valid=valid)
    x, y = vector(a), vector(b)
    divisor, valid = _nonzero(call, x, y, "REMAINDER_BY_ZERO")
    left = x.values
    if left.dtype.itemsize < 4 and left.dtype.kind == "i":  # Java computes TINYINT and SMALLINT as INT
        left, divisor = left.astype(np.int32), divisor.astype(np.int32)
    with np.errstate(all="ignore"):
        return result(call, finish(np.fmod(left, divisor), divisor), x, y, valid=valid)
