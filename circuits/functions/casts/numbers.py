"""CAST among numbers: truncation toward zero, HALF_UP to decimals, CAST_OVERFLOW where a value doesn't fit.

Under LEGACY integers wrap and floats saturate, as Java's conversions do.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import type_name, validity
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.vectors import decimals
from dbsp.circuits.expressions.vectors.decimals import decimal_result, unscaled
from dbsp.circuits.expressions.vectors.modes import LEGACY, checked, mode
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, Vector, both, result, vector
from dbsp.circuits.functions.numbers.printing import shortest_digits
from dbsp.circuits.functions.numbers.rounding import round_floating

_OUT_OF_RANGE = "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"


def cast_result(
    call: Call, values: Numbers, good: Mask, condition: str, source: pa.Array, x: Vector
) -> pa.Array:
    """`values` as call.type, where `good`; elsewhere the mode decides between an error and NULL."""

    def message(row: int) -> str:
        shown = source[row].cast(pa.string()).as_py() if not pt.is_nested(source.type) else str(source[row])
        name = type_name(call.type)
        if condition == "CAST_INVALID_INPUT":
            return f"'{shown}' can't be cast to {name}. Correct the value, or use try_cast to get NULL."
        return f"{shown} is out of the range of {name}. Use try_cast to get NULL."

    valid = checked(call, good, condition, message, x)
    if pt.is_decimal(call.type):
        return decimal_result(call, values, x, valid=valid)
    return result(call, values, x, valid=valid)


def presence(source: pa.Array) -> Vector:
    """Which values are not NULL, for inputs that are no numbers."""
    valid = validity(source) if source.null_count else None
    return Vector(np.zeros(len(source), dtype=np.int8), valid, False)


def to_boolean(call: Call, source: pa.Array) -> pa.Array:
    """Whether it isn't 0; NaN isn't."""
    x = unscaled(source) if pt.is_decimal(source.type) else vector(source)
    return result(call, np.asarray(x.values != 0, dtype=np.bool_), x)


# --- to integers


def number_to_integer(call: Call, source: pa.Array) -> pa.Array:
    x = vector(source)
    return _to_integer(call, x.values.astype(np.int64, copy=False), source, x)


def _to_integer(call: Call, values: Numbers, source: pa.Array, x: Vector) -> pa.Array:
    """values: int64 or object."""
    width = call.type.bit_width
    bound = 1 << (width - 1)
    if values.dtype == object or width < 64:
        good = np.asarray((values >= -bound) & (values < bound), dtype=np.bool_)
    else:
        good = np.ones(len(values), dtype=np.bool_)
    if values.dtype == object:
        values = ((values + 2**63) % 2**64 - 2**63).astype(np.int64)
    if mode(call) == LEGACY:
        good = np.ones(len(values), dtype=np.bool_)
    return cast_result(call, values, good, "CAST_OVERFLOW", source, x)


def decimal_to_integer(call: Call, source: pa.Array) -> pa.Array:
    x = unscaled(source)
    values, _ = decimals.divide_truncated(x.values, decimals.power_of_ten(source.type.scale))
    return _to_integer(call, values, source, x)


def float_to_integer(call: Call, source: pa.Array) -> pa.Array:
    """Every double up to 2⁶³ itself goes into BIGINT, as Spark compares with (double) Long.MAX_VALUE."""
    x = vector(source)
    values = x.values.astype(np.float64)
    legacy = mode(call) == LEGACY
    width = call.type.bit_width if not legacy else max(call.type.bit_width, 32)
    low, high = -(2.0 ** (width - 1)), 2.0 ** (width - 1) - (1 if width < 64 else 0)
    with np.errstate(invalid="ignore"):
        good = np.asarray((np.floor(values) <= high) & (np.ceil(values) >= low))
        inside = np.clip(np.where(np.isnan(values), 0.0, values), low, high)
        truncated = np.where(inside >= 2.0**63, 0.0, inside).astype(np.int64)
    truncated[inside >= 2.0**63] = np.iinfo(np.int64).max
    if legacy:
        good = np.ones(len(good), dtype=np.bool_)
    return cast_result(call, truncated, good, "CAST_OVERFLOW", source, x)


# --- to floats


def number_to_float(call: Call, source: pa.Array) -> pa.Array:
    x = vector(source)
    with np.errstate(over="ignore"):
        return result(call, x.values.astype(call.type.to_pandas_dtype()), x)


def decimal_to_float(call: Call, source: pa.Array) -> pa.Array:
    """The nearest float. unscaled / 10^scale rounds once where both are exact; others go by their digits."""
    x = unscaled(source)
    dtype = np.dtype(call.type.to_pandas_dtype())
    exact_integer, exact_power = (2**53, 22) if dtype == np.float64 else (2**24, 10)
    if source.type.scale <= exact_power and decimals.magnitude(x.values) <= exact_integer:
        return result(call, x.values.astype(dtype) / dtype.type(10**source.type.scale), x)
    return pc.cast(pc.cast(source, pa.string()), call.type)


# --- to decimals


def boolean_to_decimal(call: Call, source: pa.Array) -> pa.Array:
    x = vector(source)
    return to_scale(call, x.values.astype(np.int64), 0, source, x)


def integer_to_decimal(call: Call, source: pa.Array) -> pa.Array:
    x = vector(source)
    values = x.values.astype(np.int64)
    if (values == np.iinfo(np.int64).min).any():  # its opposite is no int64
        values = values.astype(object)
    return to_scale(call, values, 0, source, x)


def decimal_to_decimal(call: Call, source: pa.Array) -> pa.Array:
    x = unscaled(source)
    return to_scale(call, x.values, source.type.scale, source, x)


def to_scale(
    call: Call, values: Numbers, scale: int, source: pa.Array, x: Vector, good: Mask | None = None
) -> pa.Array:
    """Unscaled values at `scale` as the call's decimal."""
    rescaled = decimals.rescale(values, scale, call.type.scale)
    fits = decimals.fits(rescaled, call.type.precision)
    return cast_result(call, rescaled, both(fits, good), _OUT_OF_RANGE, source, x)  # type: ignore[arg-type]


def float_to_decimal(call: Call, source: pa.Array) -> pa.Array:
    """HALF_UP of the digits the number prints as; NULL for NaN and infinities, in every mode.

    k = round(x, scale)·10^scale is exact below 2⁵¹; greater ones go by their digits.
    """
    x = vector(source)
    scale = call.type.scale
    power = 10.0**scale
    with np.errstate(all="ignore"):
        finite = np.isfinite(x.values)
        easy = finite & (np.abs(x.values.astype(np.float64)) * power < min(2.0**51, 10.0**14))
        if pt.is_float32(source.type):  # Spark widens FLOAT to DOUBLE, and prints that
            x = Vector(x.values.astype(np.float64), x.valid, x.is_constant)
        rounded = round_floating(np.where(easy, x.values, 0.0), scale, to_even=False)
        values: Numbers = np.rint(rounded * power).astype(np.int64)
    fits = decimals.fits(values, call.type.precision)
    hard = np.flatnonzero(finite & ~easy)
    if len(hard):
        printed, exponents = shortest_digits(pa.array(x.values[hard]))
        digits = decimals.shift_half_up(printed, exponents + scale)
        fits[hard] = decimals.fits(digits, call.type.precision)
        values = values.astype(object) if digits.dtype == object else values
        values[hard] = digits
    not_numbers = Vector(x.values, both(x.valid, finite), x.is_constant)
    return cast_result(call, values, fits | ~finite, _OUT_OF_RANGE, source, not_numbers)
