"""Bitwise operators and shifts over integers: two's complement, shifts modulo the width, as in Java."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import validity
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import Numbers, require, result, strict, vector
from dbsp.circuits.expressions.vectors.utf8 import bytes_of


def _register(name: str, operate: Callable[[Numbers, Numbers], Numbers]) -> None:
    @kernel(name)
    def run(call: Call, a: Value, b: Value) -> Value:
        x, y = vector(a), vector(b)
        return result(call, operate(x.values, y.values), x, y)


def _places(x: Numbers, by: Numbers) -> Numbers:
    """How far to shift: modulo the width, in x's own type so that the result keeps it."""
    return (by & (8 * x.dtype.itemsize - 1)).astype(x.dtype)


def _shift_right_unsigned(x: Numbers, by: Numbers) -> Numbers:
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    shifted = np.right_shift(x.view(unsigned), _places(x, by).view(unsigned))
    return np.asarray(shifted.view(x.dtype))


_register("bitwise_and", np.bitwise_and)
_register("bitwise_or", np.bitwise_or)
_register("bitwise_xor", np.bitwise_xor)
_register("shift_left", lambda x, by: np.left_shift(x, _places(x, by)))
_register("shift_right", lambda x, by: np.right_shift(x, _places(x, by)))
_register("shift_right_unsigned", _shift_right_unsigned)


@kernel("bitwise_get")
def bitwise_get(call: Call, value: Value, position: Value) -> Value:
    """The bit at a position, counted from the lowest."""
    x, y = vector(value), vector(position)
    width = 8 * x.values.dtype.itemsize
    good = np.broadcast_to(
        (y.values >= 0) & (y.values < width), np.broadcast_shapes(x.values.shape, y.values.shape)
    )
    require(
        good, "INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE", lambda row: f"a bit is at 0 to {width - 1}.", x, y
    )
    return result(call, (x.values.astype(np.int64) >> np.clip(y.values, 0, width - 1)) & 1, x, y)


@kernel("bitwise_not")
def bitwise_not(call: Call, value: Value) -> Value:
    x = vector(value)
    return result(call, ~x.values, x)


@kernel("bitwise_count")
def bitwise_count(call: Call, value: Value) -> Value:
    """The ones among the 64 bits of the value widened to BIGINT."""
    x = vector(value)
    return result(call, np.bitwise_count(x.values.astype(np.int64).view(np.uint64)), x)


# --- bitmaps of 2^15 bits, which count distinct numbers

_BITMAP_BITS = 1 << 15


def _register_bitmap(name: str, of: Callable[[Numbers], Numbers]) -> None:
    @kernel(f"static_invoke.BitmapExpressionUtils.{name}")
    def run(call: Call, number: Value) -> Value:
        numbers = vector(number)
        return result(call, of(numbers.values.astype(np.int64)), numbers)


_register_bitmap("bitmapBitPosition", lambda x: np.where(x > 0, x - 1, -x) % _BITMAP_BITS)
_register_bitmap(
    "bitmapBucketNumber",
    lambda x: np.where(x > 0, 1 + (x - 1) // _BITMAP_BITS, x // _BITMAP_BITS + (x % _BITMAP_BITS != 0)),
)


@strict("static_invoke.BitmapExpressionUtils.bitmapCount")
def bitmap_count(call: Call, bitmap: pa.Array) -> Value:
    """The bits that are set."""
    data, offsets = bytes_of(bitmap)
    bits = np.append(0, np.cumsum(np.bitwise_count(data), dtype=np.int64))
    return pa.array(bits[offsets[1:]] - bits[offsets[:-1]], mask=~validity(bitmap))
