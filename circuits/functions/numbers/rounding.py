"""ROUND and BROUND: to a number of decimal places, of the *decimal* value that the number prints as.

Spark rounds a DOUBLE x through its shortest decimal representation, so that round(2.675, 2) is 2.68 although
the binary number is below 2.675. With k = ⌊|x|·10ˢ⌋ the tie is the decimal (k + ½)·10⁻ˢ; while it has at most
15 digits no other decimal that short rounds to the same double, hence

    x prints as the tie      ⇔  |x| = double((k + ½)·10⁻ˢ)
    x prints above the tie   ⇔  |x| > double((k + ½)·10⁻ˢ)

and no number has to be printed. HALF_UP sends ties away from zero, HALF_EVEN to the even neighbour.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import Numbers, Vector, require, result, vector

_EXACT_POWERS = 22  # 10²² is the largest power of ten that a double holds exactly
_EXACT = Context(prec=800)  # the longest decimal a double prints as, shifted by its scale


def _not_constant(call: Call) -> str | None:
    scale = call.arguments[1]
    if isinstance(scale, Literal):
        return None
    return "a number of places that is not a constant"


def _round(call: Call, x: Value, scale: Value, to_even: bool) -> Value:
    places = scale.as_py()
    if places is None:
        return pa.scalar(None, call.type)
    if pa.types.is_decimal(x.type):
        return round_decimal(call, x, places, "half_to_even" if to_even else "half_towards_infinity")
    numbers = vector(x)
    if pa.types.is_floating(x.type):
        return result(call, round_floating(numbers.values.astype(np.float64), places, to_even), numbers)
    return _round_integer(call, numbers, places, to_even) if places < 0 else x


def round_decimal(call: Call, x: Value, places: int, mode: str) -> Value:
    """Rounding may carry into one more digit, so it happens in a wider type; `call.type` holds the result."""
    source = x.type
    wide = pa.decimal128(38, source.scale) if source.precision < 38 else pa.decimal256(76, source.scale)
    if places >= source.scale:
        return x.cast(call.type)
    if -places > source.precision - source.scale:
        # more places than digits: the result is 0, except that the next power of ten may round up or down to
        zero = pc.round(x.cast(wide), max(places, -37 + source.scale), round_mode=mode)
        return zero.cast(call.type)
    return pc.round(x.cast(wide), places, round_mode=mode).cast(call.type)


def round_floating(values: Numbers, places: int, to_even: bool) -> Numbers:
    """values: float64[n], rounded to `places` decimal places. Spark widens FLOAT to DOUBLE first."""
    magnitude = np.abs(values)
    power = 10.0 ** abs(places) if abs(places) <= _EXACT_POWERS else np.inf
    with np.errstate(all="ignore"):
        units = np.floor(magnitude * power if places >= 0 else magnitude / power)
        easy = (units < 1e14) & np.isfinite(power)
        units = np.where(easy, units, 0.0)
        # (k·10 + 5) / 10^(s+1): numerator and denominator are exact, so the division rounds once
        tie = (units * 10.0 + 5.0) / (power * 10.0) if places >= 0 else (units * 10.0 + 5.0) * (power / 10.0)
        up = (magnitude > tie) | ((magnitude == tie) & ((units % 2.0 == 1.0) if to_even else True))
        rounded = units + up
        out: Numbers = np.copysign(rounded / power if places >= 0 else rounded * power, values)
    # Too many digits for the argument above: large numbers, huge scales. Such values are rare and each one
    # is printed, which only the interpreter can do.
    hard = ~easy & np.isfinite(values)
    unchanged = ~np.isfinite(values) | (hard & (magnitude >= 2.0**53) & (places >= 0))
    out[unchanged] = values[unchanged]
    hard &= ~unchanged
    if hard.any():
        distinct, inverse = np.unique(values[hard], return_inverse=True)
        mode = ROUND_HALF_EVEN if to_even else ROUND_HALF_UP
        out[hard] = np.array([_print_and_round(value, places, mode) for value in distinct.tolist()])[inverse]
    return out + 0.0  # Spark's rounding goes through a decimal, which has no −0.0


def _print_and_round(value: float, places: int, mode: str) -> float:
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), rounding=mode, context=_EXACT))


def _round_integer(call: Call, numbers: Vector, places: int, to_even: bool) -> Value:
    """places < 0: to a multiple of 10^−places."""
    type = numbers.values.dtype
    if places < -19:  # |x| < 2⁶³ < 10²⁰ / 2
        return result(call, np.zeros_like(numbers.values), numbers)
    power = np.uint64(10**-places)
    wide = numbers.values.astype(np.int64)
    negative = wide < 0
    magnitude = np.where(negative, np.uint64(0) - wide.astype(np.uint64), wide.astype(np.uint64))
    units, rest = np.divmod(magnitude, power)
    half = power // np.uint64(2)
    up = (rest > half) | ((rest == half) & ((units % np.uint64(2) == 1) if to_even else True))
    rounded = (units + up.astype(np.uint64)) * power
    limit = np.uint64(np.iinfo(type).max) + negative.astype(np.uint64)
    if call.option("ansiEnabled"):
        fits = rounded <= limit
        require(
            fits, "ARITHMETIC_OVERFLOW", lambda row: f"{numbers.values[row]} rounds to an overflow", numbers
        )
    signed = np.where(negative, np.uint64(0) - rounded, rounded).astype(np.int64)
    return result(call, signed.astype(type), numbers)


@kernel("round", refuse=_not_constant)
def half_up(call: Call, x: Value, scale: Value) -> Value:
    return _round(call, x, scale, to_even=False)


@kernel("b_round", refuse=_not_constant)
def half_even(call: Call, x: Value, scale: Value) -> Value:
    return _round(call, x, scale, to_even=True)


@kernel("round_floor", refuse=_not_constant)
def floor_to(call: Call, x: Value, scale: Value) -> Value:
    """FLOOR(x, places) over DECIMAL."""
    return round_decimal(call, x, scale.as_py(), "down")


@kernel("round_ceil", refuse=_not_constant)
def ceil_to(call: Call, x: Value, scale: Value) -> Value:
    """CEIL(x, places) over DECIMAL."""
    return round_decimal(call, x, scale.as_py(), "up")
