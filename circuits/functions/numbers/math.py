"""Elementary functions over DOUBLE: IEEE 754 results as java.lang.Math defines them.

The transcendental functions come from the C library through Arrow, Spark's from fdlibm: both are within one
unit in the last place of the true value, and may differ there. Logarithms are NULL outside their domain
(Hive's rule, kept by Spark under ANSI); everything else gives NaN there.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import Numbers, require, result, vector

_ARROW = {
    "sqrt": pc.sqrt,
    "exp": pc.exp,
    "expm1": pc.expm1,
    "sin": pc.sin,
    "cos": pc.cos,
    "tan": pc.tan,
    "asin": pc.asin,
    "acos": pc.acos,
    "atan": pc.atan,
    "sinh": pc.sinh,
    "cosh": pc.cosh,
    "tanh": pc.tanh,
    "asinh": pc.asinh,
    "acosh": pc.acosh,
}


def _register_arrow(name: str, function: Callable[[Value], Value]) -> None:
    @kernel(name)
    def run(call: Call, x: Value) -> Value:
        return function(x)


for _name, _function in _ARROW.items():
    _register_arrow(_name, _function)


def _arrow(function: Callable[..., pa.Array], *columns: Numbers) -> Numbers:
    """An Arrow function over NumPy vectors. NumPy's own loops differ from machine to machine (SIMD)."""
    values: Numbers = function(*map(pa.array, columns)).to_numpy(zero_copy_only=False)
    return values


def _register_log(name: str, lower: float, function: Callable[[Numbers], Numbers]) -> None:
    @kernel(name)
    def run(call: Call, x: Value) -> Value:
        """NULL for x ≤ `lower`; NaN of NaN."""
        numbers = vector(x)
        outside = numbers.values <= lower
        inside = np.where(outside, 1.0, numbers.values)
        return result(call, function(inside), numbers, valid=~outside)


_register_log("log", 0.0, lambda x: _arrow(pc.ln, x))
_register_log("log10", 0.0, lambda x: _arrow(pc.log10, x))
_register_log("log2", 0.0, lambda x: _arrow(pc.ln, x) / math.log(2.0))
_register_log("log1p", -1.0, lambda x: _arrow(pc.log1p, x))


@kernel("logarithm")
def logarithm(call: Call, base: Value, x: Value) -> Value:
    """ln x / ln base, NULL unless both are positive."""
    b, v = vector(base), vector(x)
    inside = ~((b.values <= 0.0) | (v.values <= 0.0))
    with np.errstate(all="ignore"):
        quotient = _arrow(pc.ln, np.where(v.values <= 0.0, 1.0, v.values)) / _arrow(
            pc.ln, np.where(b.values <= 0.0, 1.0, b.values)
        )
    return result(call, quotient, b, v, valid=inside)


@kernel("pow")
def power(call: Call, base: Value, exponent: Value) -> Value:
    """xʸ. C makes 1 of 1^NaN, 1^±∞ and (−1)^±∞; Java makes NaN."""
    x, y = vector(base), vector(exponent)
    left, right = np.broadcast_arrays(x.values, y.values)
    powers = _arrow(pc.power, left, right)
    undefined = np.isnan(right) | (np.isinf(right) & (np.abs(left) == 1.0))
    return result(call, np.where(undefined, np.nan, powers), x, y)


@kernel("atan2")
def atan2(call: Call, y: Value, x: Value) -> Value:
    """The angle of (x, y). Spark adds 0.0 to both first, so that −0.0 counts as 0.0."""
    up, right = vector(y), vector(x)
    return result(
        call, _arrow(pc.atan2, *np.broadcast_arrays(up.values + 0.0, right.values + 0.0)), up, right
    )


@kernel("hypot")
def hypot(call: Call, x: Value, y: Value) -> Value:
    a, b = vector(x), vector(y)
    return result(call, np.hypot(a.values, b.values), a, b)


def _register_numpy(name: str, function: Callable[[Numbers], Numbers]) -> None:
    @kernel(name)
    def run(call: Call, x: Value) -> Value:
        numbers = vector(x)
        with np.errstate(all="ignore"):
            return result(call, function(numbers.values), numbers)


_register_numpy("cbrt", np.cbrt)
_register_numpy("rint", np.rint)
_register_numpy("signum", lambda x: np.where(x == 0, x, np.sign(x.astype(np.float64))))
_register_numpy("cot", lambda x: 1.0 / _arrow(pc.tan, x))
_register_numpy("sec", lambda x: 1.0 / _arrow(pc.cos, x))
_register_numpy("csc", lambda x: 1.0 / _arrow(pc.sin, x))
_register_numpy("atanh", lambda x: 0.5 * (_arrow(pc.log1p, x) - _arrow(pc.log1p, -x)))
_register_numpy("to_degrees", lambda x: x * (180.0 / math.pi))
_register_numpy("to_radians", lambda x: x * (math.pi / 180.0))


def _narrowed(whole: Numbers) -> Numbers:
    """Java's (long): NaN is 0, what doesn't fit is the nearest bound."""
    narrowed = np.where(np.abs(whole) < 2.0**63, whole, 0.0).astype(np.int64)
    narrowed[whole >= 2.0**63] = np.iinfo(np.int64).max
    narrowed[whole <= -(2.0**63)] = np.iinfo(np.int64).min
    return narrowed


_FACTORIALS = np.array([math.factorial(n) for n in range(21)], np.int64)


@kernel("factorial")
def factorial(call: Call, n: Value) -> Value:
    """n!, NULL outside 0 … 20, where it fits a BIGINT."""
    numbers = vector(n)
    inside = (numbers.values >= 0) & (numbers.values <= 20)
    return result(call, _FACTORIALS[np.where(inside, numbers.values, 0)], numbers, valid=inside)


@kernel("width_bucket")
def width_bucket(call: Call, value: Value, minimum: Value, maximum: Value, buckets: Value) -> Value:
    """The number 1 … n of the equal part of [minimum, maximum) that holds value; 0 below, n + 1 above.

    A maximum below the minimum counts from the other end. NULL for n < 1, equal or non-finite bounds, NaN.
    """
    v, low, high, n = vector(value), vector(minimum), vector(maximum), vector(buckets)
    x, a, b, count = np.broadcast_arrays(v.values, low.values, high.values, n.values)
    defined = (count > 0) & (count < np.iinfo(np.int64).max) & (a != b) & ~np.isnan(x.astype(np.float64))
    defined &= np.isfinite(a.astype(np.float64)) & np.isfinite(b.astype(np.float64))
    rising = a < b
    before, after = np.where(rising, x < a, x > a), np.where(rising, x >= b, x <= b)
    inside = defined & ~before & ~after
    with np.errstate(all="ignore"):
        part = count * np.abs(x - a) / np.where(defined, np.abs(b - a), 1)
    index = _narrowed(np.where(inside, part, 0.0)) + 1
    index = np.where(before, 0, np.where(after, count + 1, index))
    return result(call, index, v, low, high, n, valid=defined)


def _register_integral(name: str, function: Callable[[Numbers], Numbers], round_mode: str) -> None:
    @kernel(name)
    def run(call: Call, x: Value) -> Value:
        """DOUBLE → BIGINT, DECIMAL → DECIMAL of scale 0, BIGINT unchanged."""
        if pa.types.is_decimal(x.type):
            wide = (
                pa.decimal128(38, x.type.scale) if x.type.precision < 38 else pa.decimal256(76, x.type.scale)
            )
            return pc.round(x.cast(wide), 0, round_mode=round_mode).cast(call.type)
        if not pa.types.is_floating(x.type):
            return x
        numbers = vector(x)
        whole = function(numbers.values)
        fits = ((whole >= -(2.0**63)) & (whole < 2.0**63)) | np.isnan(whole)
        if call.option("failOnError"):
            require(fits, "ARITHMETIC_OVERFLOW", lambda row: f"{name} overflows BIGINT", numbers)
        return result(call, _narrowed(whole), numbers)


_register_integral("floor", np.floor, "down")
_register_integral("ceil", np.ceil, "up")
