"""+ − × and their kin over every numeric type; / and % are in `division.py`.

Integers are exact: what doesn't fit the type is ARITHMETIC_OVERFLOW under ANSI, NULL under TRY, and wraps
under LEGACY. FLOAT and DOUBLE are IEEE 754.
DECIMAL is computed exactly and rounded HALF_UP once, to the precision and scale of the call's type.
Intervals are integers of microseconds (64 bits) or of months (32 bits).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import type_name
from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors import decimals
from dbsp.circuits.expressions.vectors.calendar import combined
from dbsp.circuits.expressions.vectors.decimals import decimal_result, unscaled
from dbsp.circuits.expressions.vectors.modes import ANSI, LEGACY, checked, mode
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, Vector, both, require, result, vector
from dbsp.circuits.expressions.vectors.spread import spread

_EXACT_IN_DOUBLE = 2.0**62


def only_fixed(call: Call) -> str | None:
    """Why a call isn't computed here, if it isn't."""
    for data_type in (call.type, *(argument.type for argument in call.arguments)):
        if not (
            (data_type == CALENDAR_INTERVAL and call.function in _OF_CALENDAR)
            or pt.is_integer(data_type)
            or pt.is_floating(data_type)
            or pt.is_decimal128(data_type)
            or pt.is_duration(data_type)
        ):
            return f"over {data_type}"
    return None


_OF_CALENDAR = ("add", "subtract", "unary_minus")


def overflow_of(call: Call) -> str:
    """What is said of a result that doesn't fit."""
    return f"{type_name(call.type)} overflow. Use try_{call.function} to get NULL instead."


def _at(numbers: Vector, row: int) -> int:
    return int(numbers.values[0 if len(numbers.values) == 1 else row])


# --- + − ×


@kernel("add", refuse=only_fixed)
def add(call: Call, a: Value, b: Value) -> Value:
    if call.type == CALENDAR_INTERVAL:
        return _of_calendar(call, a, b, np.add)
    return _exact(call, a, b, np.add, decimals.add, _sum_overflows)


@kernel("subtract", refuse=only_fixed)
def subtract(call: Call, a: Value, b: Value) -> Value:
    if call.type == CALENDAR_INTERVAL:
        return _of_calendar(call, a, b, np.subtract)
    return _exact(call, a, b, np.subtract, lambda x, y: decimals.add(x, -y), _difference_overflows)


@kernel("multiply", refuse=only_fixed)
def multiply(call: Call, a: Value, b: Value) -> Value:
    return _exact(call, a, b, np.multiply, decimals.multiply, _product_overflows)


def _of_calendar(call: Call, a: Value, b: Value, operate: Callable[[Numbers, Numbers], Numbers]) -> Value:
    rows = max((len(each) for each in (a, b) if not isinstance(each, pa.Scalar)), default=1)
    value = combined(call, spread(a, rows), spread(b, rows), operate)
    return value[0] if isinstance(a, pa.Scalar) and isinstance(b, pa.Scalar) else value


def _sum_overflows(a: Numbers, b: Numbers, r: Numbers) -> Mask:
    return np.asarray(((a ^ r) & (b ^ r)) < 0)


def _difference_overflows(a: Numbers, b: Numbers, r: Numbers) -> Mask:
    return np.asarray(((a ^ b) & (a ^ r)) < 0)


def _product_overflows(a: Numbers, b: Numbers, r: Numbers) -> Mask:
    """A product near 2⁶³ or beyond shows in doubles; those few are multiplied again exactly."""
    if decimals.magnitude(a) * decimals.magnitude(b) < 2**63:
        return np.zeros(len(r), dtype=np.bool_)
    a, b = np.broadcast_arrays(a, b)
    overflows = np.abs(a.astype(np.float64)) * np.abs(b.astype(np.float64)) >= _EXACT_IN_DOUBLE
    suspect = np.flatnonzero(overflows)
    exact = a[suspect].astype(object) * b[suspect].astype(object)
    overflows[suspect] = exact != r[suspect].astype(object)
    return np.asarray(overflows)


def _exact(
    call: Call,
    a: Value,
    b: Value,
    operate: Callable[[Numbers, Numbers], Numbers],
    operate_decimal: Callable[[Numbers, Numbers], Numbers],
    overflows: Callable[[Numbers, Numbers, Numbers], Mask],
) -> Value:
    """overflows(a, b, a ∘ b): which int64 results wrapped."""
    if pt.is_decimal(call.type):
        x, y = unscaled(a), unscaled(b)
        if call.function == "multiply":
            scale = a.type.scale + b.type.scale
            return rounded_exactly(call, operate_decimal(x.values, y.values), scale, x, y)
        scale = max(a.type.scale, b.type.scale)
        left = decimals.rescale(x.values, a.type.scale, scale)
        right = decimals.rescale(y.values, b.type.scale, scale)
        return rounded_exactly(call, operate_decimal(left, right), scale, x, y)
    x, y = vector(a), vector(b)
    if pt.is_floating(call.type):
        with np.errstate(all="ignore"):
            return result(call, operate(x.values, y.values), x, y)
    return _integers(call, x, y, operate, overflows)


def _integers(
    call: Call,
    x: Vector,
    y: Vector,
    operate: Callable[[Numbers, Numbers], Numbers],
    overflows: Callable[[Numbers, Numbers, Numbers], Mask],
) -> Value:
    """Types up to 32 bits are computed in 64, where nothing wraps."""
    a, b = x.values.astype(np.int64, copy=False), y.values.astype(np.int64, copy=False)
    with np.errstate(over="ignore"):
        values = operate(a, b)
    if mode(call) == LEGACY:
        return result(call, values, x, y)
    if _bits(call.type) == 64:
        good = ~overflows(a, b, values)
    else:
        good = _in_range(values, call.type)
    valid = checked(call, good, _overflow_condition(call), lambda row: overflow_of(call), x, y)
    return result(call, values, x, y, valid=valid)


def _overflow_condition(call: Call) -> str:
    """TINYINT and SMALLINT have a condition of their own."""
    if pt.is_duration(call.type):
        return "INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION"
    return "ARITHMETIC_OVERFLOW" if call.type.bit_width >= 32 else "BINARY_ARITHMETIC_OVERFLOW"


def _bits(data_type: pa.DataType) -> int:
    return 32 if data_type == MONTHS else int(data_type.bit_width)


def _in_range(values: Numbers, data_type: pa.DataType) -> Mask:
    bound = 1 << (_bits(data_type) - 1)
    return np.asarray((values >= -bound) & (values < bound))


def rounded_exactly(
    call: Call, values: Numbers, scale: int, *inputs: Vector, valid: Mask | None = None
) -> Value:
    """Exact unscaled values, rounded to the call's type, or out of its range."""
    rounded = decimals.rescale(values, scale, call.type.scale)
    good = decimals.fits(rounded, call.type.precision)

    def message(row: int) -> str:
        number = decimals.show(int(values[0 if len(values) == 1 else row]), scale)
        return f"{number} can't be represented as DECIMAL({call.type.precision}, {call.type.scale})."

    if valid is not None:
        good = good | ~valid
    valid = both(valid, checked(call, good, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", message, *inputs))
    return decimal_result(call, rounded, *inputs, valid=valid)


# --- one operand


@kernel("unary_positive", refuse=only_fixed)
def unary_positive(call: Call, value: Value) -> Value:
    return value


@kernel("unary_minus", refuse=only_fixed)
def unary_minus(call: Call, value: Value) -> Value:
    if call.type == CALENDAR_INTERVAL:
        return _of_calendar(call, pa.scalar((0, 0, 0), call.type), value, np.subtract)
    return _signed(call, value, np.negative)


@kernel("abs", refuse=only_fixed)
def absolute(call: Call, value: Value) -> Value:
    return _signed(call, value, np.abs)


def _signed(call: Call, value: Value, operate: Callable[[Numbers], Numbers]) -> Value:
    """The least integer has no opposite: an overflow, or itself under LEGACY."""
    if pt.is_decimal(call.type):
        x = unscaled(value)
        return decimal_result(call, operate(x.values), x)
    x = vector(value)
    if x.values.dtype.kind == "i" and mode(call) == ANSI:
        good = x.values != -(1 << (_bits(call.type) - 1))
        condition = "ARITHMETIC_OVERFLOW"
        if pt.is_duration(call.type) and call.function == "unary_minus":
            condition = "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"
        require(good, condition, lambda row: f"{type_name(call.type)} overflow.", x)
    with np.errstate(all="ignore"):
        return result(call, operate(x.values), x)


# --- decimals inside the plan


@kernel("check_overflow")
def check_overflow(call: Call, value: Value) -> Value:
    x = unscaled(value)
    return rounded_exactly(call, x.values, value.type.scale, x)


@kernel("promote_precision")
def promote_precision(call: Call, value: Value) -> Value:
    return value


@kernel("unscaled_value")
def unscaled_value(call: Call, value: Value) -> Value:
    """BIGINT; only applied to decimals of at most 18 digits."""
    x = unscaled(value)
    return result(call, x.values, x)


@kernel("make_decimal")
def make_decimal(call: Call, value: Value) -> Value:
    """From the unscaled BIGINT."""
    x = vector(value)
    return rounded_exactly(call, x.values, call.type.scale, x)
