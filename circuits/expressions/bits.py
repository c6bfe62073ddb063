"""Bitwise operators and shifts over integers: two's complement, shifts modulo the width, as in Java."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from circuits.expressions.nodes import Call
from circuits.expressions.registry import Value, kernel
from circuits.expressions.vectors import Numbers, result, vector


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


@kernel("bitwise_not")
def bitwise_not(call: Call, value: Value) -> Value:
    x = vector(value)
    return result(call, ~x.values, x)


@kernel("bitwise_count")
def bitwise_count(call: Call, value: Value) -> Value:
    """The ones among the 64 bits of the value widened to BIGINT."""
    x = vector(value)
    return result(call, np.bitwise_count(x.values.astype(np.int64).view(np.uint64)), x)
