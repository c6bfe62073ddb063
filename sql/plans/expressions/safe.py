"""What can be computed of every row of a join's side. Spark computes it of pairs only: there may be none."""

from __future__ import annotations

import pyarrow.types as pt

from dbsp.circuits.expressions.nodes import Call, Column, Expression
from dbsp.circuits.expressions.partial import can_fail

# of the DECIMAL that has all integers of so many bits
INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


def is_safe(value: Expression) -> bool:
    """Whether it fails of no row."""
    if isinstance(value, Column):
        return True
    if isinstance(value, Call) and value.function == "cast":
        (argument,) = value.arguments
        return widens(argument, value) and is_safe(argument)
    return not can_fail(value)


def widens(argument: Expression, cast: Call) -> bool:
    """Whether the cast to a number fails of no value of the argument's type."""
    source, target = argument.type, cast.type
    if pt.is_decimal(source) and pt.is_decimal(target):
        more = target.scale - source.scale
        return bool(0 <= more <= target.precision - source.precision)
    if pt.is_integer(source) and pt.is_decimal(target):
        return bool(INTEGER_DIGITS[source.bit_width] <= target.precision - target.scale)
    if pt.is_integer(source) and pt.is_integer(target):
        return bool(source.bit_width <= target.bit_width)
    return bool((pt.is_integer(source) or pt.is_floating(source)) and pt.is_float64(target))
