"""DECIMAL as integers: the unscaled values of a column, and exact arithmetic over them.

    value = unscaled · 10^−scale

Unscaled values are int64 while every intermediate provably fits, by the magnitudes really in the column;
otherwise Python integers (object arrays), which are exact at any size and ~20 times slower.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import decimal_words, validity
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, Vector, both

_LIMIT = 2**63
_LOW = 0xFFFFFFFFFFFFFFFF


def unscaled(value: Value) -> Vector:
    """A decimal128 column's unscaled values, 0 where NULL."""
    is_constant = isinstance(value, pa.Scalar)
    array = pa.repeat(value, 1) if is_constant else value
    halves = decimal_words(array)
    low, high = halves[:, 0], halves[:, 1]
    valid = None
    if array.null_count:
        valid = validity(array)
        low, high = np.where(valid, low, 0), np.where(valid, high, 0)
    if np.array_equal(high, low >> 63) and not (low == np.iinfo(np.int64).min).any():
        return Vector(np.ascontiguousarray(low), valid, is_constant)
    wide = (high.astype(object) << 64) + np.ascontiguousarray(low).view(np.uint64).astype(object)
    return Vector(wide, valid, is_constant)


def decimal_array(values: Numbers, data_type: pa.DataType, null: Mask | None = None) -> pa.Array:
    """Unscaled values that fit `data_type`, as a decimal128 array."""
    halves = np.empty((len(values), 2), dtype=np.int64)
    if values.dtype == object:
        if null is not None:
            values = np.where(null, 0, values)
        halves[:, 0] = (values & _LOW).astype(np.uint64).view(np.int64)
        halves[:, 1] = (values >> 64).astype(np.int64)
    else:
        halves[:, 0] = values
        halves[:, 1] = halves[:, 0] >> 63
    bitmap = None if null is None or not null.any() else pa.array(~null).buffers()[1]
    return pa.Array.from_buffers(data_type, len(values), [bitmap, pa.py_buffer(halves)])


def decimal_result(call: Call, values: Numbers, *inputs: Vector, valid: Mask | None = None) -> Value:
    """Like `vectors.result`, for a call whose type is a decimal. Values that don't fit must not be valid."""
    rows = max((len(each.values) for each in inputs), default=len(values))
    mask = both(valid, *(each.valid for each in inputs))
    null = None if mask is None else ~np.broadcast_to(mask, (rows,))
    array = decimal_array(np.broadcast_to(values, (rows,)), call.type, null)
    return array[0] if all(each.is_constant for each in inputs) and rows == 1 else array


def magnitude(values: Numbers) -> int:
    """The largest absolute value."""
    return max(int(values.max()), -int(values.min())) if len(values) else 0


def _wide(values: Numbers) -> Numbers:
    return values.astype(object)


def multiply(a: Numbers, b: Numbers) -> Numbers:
    """a · b, exactly."""
    if object not in (a.dtype, b.dtype) and magnitude(a) * magnitude(b) < _LIMIT:
        return a * b
    return _wide(a) * _wide(b)


def add(a: Numbers, b: Numbers) -> Numbers:
    """a + b, exactly."""
    if object not in (a.dtype, b.dtype) and magnitude(a) + magnitude(b) < _LIMIT:
        return a + b
    return _wide(a) + _wide(b)


def power_of_ten(exponent: int) -> Numbers:
    """10^exponent as a vector of one."""
    return np.array([10**exponent], dtype=np.int64 if exponent <= 18 else object)


def _same_width(a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    """Both int64 or both object, because NumPy would turn a mixture's integers into something else."""
    return (a, b) if a.dtype == b.dtype else (_wide(a), _wide(b))


def divide_truncated(a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    """(quotient toward zero, remainder with the sign of a). b must not be 0."""
    a, b = _same_width(a, b)
    quotient = abs(a) // abs(b)
    quotient = np.where((a < 0) != (b < 0), -quotient, quotient)
    return quotient, a - quotient * b


def divide_half_up(a: Numbers, b: Numbers) -> Numbers:
    """a / b, ties away from zero. b must not be 0."""
    a, b = _same_width(a, b)
    size, divisor = abs(a), abs(b)
    quotient = size // divisor
    rest = size - quotient * divisor
    quotient = quotient + (rest >= divisor - rest)
    return np.asarray(np.where((a < 0) != (b < 0), -quotient, quotient))


def rescale(values: Numbers, scale: int, new_scale: int) -> Numbers:
    """The unscaled values at another scale, HALF_UP."""
    if new_scale >= scale:
        return values if new_scale == scale else multiply(values, power_of_ten(new_scale - scale))
    return divide_half_up(values, power_of_ten(scale - new_scale))


def shift_half_up(values: Numbers, places: Numbers) -> Numbers:
    """values[i] · 10^places[i], ties away from zero.

    values: of at most 57 digits, so that no more places than that matter; places beyond 76 count as 76, where
    nothing but 0 fits any decimal.
    """
    up, down = np.clip(places, 0, 76), np.clip(-places, 0, 58)
    shifted = multiply(values, _powers_of_ten(up)) if up.any() else values
    return divide_half_up(shifted, _powers_of_ten(down)) if down.any() else shifted


def _powers_of_ten(exponents: Numbers) -> Numbers:
    """10^exponents[i]"""
    most = int(exponents.max())
    return np.array([10**e for e in range(most + 1)], dtype=np.int64 if most <= 18 else object)[exponents]


def fits(values: Numbers, precision: int) -> Mask:
    """bool[n]: |value| < 10^precision."""
    bound = 10**precision
    if values.dtype != object and bound >= _LIMIT:
        return np.ones(len(values), dtype=np.bool_)
    return np.asarray((values < bound) & (values > -bound), dtype=np.bool_)


def show(value: int, scale: int) -> str:
    """The decimal as plain text, for messages."""
    digits = str(abs(value)).rjust(scale + 1, "0")
    point = len(digits) - scale
    return ("-" if value < 0 else "") + digits[:point] + ("." + digits[point:] if scale else "")
