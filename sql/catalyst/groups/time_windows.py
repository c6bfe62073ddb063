"""Windows of time, known from where they are written: Spark's rule TimeWindowing leaves arithmetic of them.

    window(ts, width, slide, from), with n the microseconds of ts:

        last = n − (n − from) mod slide         a mod b: CASE WHEN a % b < 0 THEN a % b + b ELSE a % b END
        start = last − i · slide                i: 0, or of hopping windows the number of the Expand's row
        end = start + width

This is the one place that reads it. What is found is a fact of the column (`Field.window`), which columns
made of it have too. A time truncated to a unit is the start of a window of that unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbsp.circuits.expressions.monotone import is_fixed_zone
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.sql.plans.schemas import UNITS, Schema, Windows


def windows_of(expressions: Sequence[Expression], below: Schema) -> tuple[Windows | None, ...]:
    """What each expression, over columns of `below`, says of windows."""
    return tuple(_windows(expression, below) for expression in expressions)


def with_windows(schema: Schema, *sources: Sequence[Windows | None]) -> Schema:
    """The schema, whose columns have values of any of the sources: what these agree on is true of them."""
    return tuple(
        replace(field, window=found[0] if len(set(found)) == 1 else None)
        for field, *found in zip(schema, *sources, strict=True)
    )


def declared_windows(schema: Schema) -> tuple[Windows | None, ...]:
    """What its columns are known to say."""
    return tuple(field.window for field in schema)


def _windows(expression: Expression, below: Schema) -> Windows | None:
    match expression:
        case Column():
            return below[expression.index].window
        case Call("get_struct_field", (struct,)):
            known = _windows(struct, below)
            return None if known is None else known.field(expression.option("ordinal"))
        case Call("create_named_struct", (_, first, _, second)):
            return _both(_windows(first, below), _windows(second, below))
        case Call("precise_timestamp_conversion", (number,)):
            return _written(number)
        case Call("trunc_timestamp", (Literal(unit), _)) if is_fixed_zone(expression):
            width = UNITS.get(str(unit).upper())
            return None if width is None else Windows("start", width)
    return None


def _both(first: Windows | None, second: Windows | None) -> Windows | None:
    """The width that the end tells: a start by itself doesn't show how far other windows overlap it."""
    if first is None or second is None or (first.part, second.part) != ("start", "end"):
        return None
    return replace(second, part="both")


def _written(number: Expression) -> Windows | None:
    """The microseconds of a start or an end. A start that stands alone is of tumbling windows."""
    match number:
        case Call("add", (start, Literal(int(width)))) if _start(start) is not None:
            return Windows("end", width)
    return _start(number)


def _start(number: Expression) -> Windows | None:
    match number:
        case Call("subtract", (Call("subtract", (_, remainder)), Literal(int(before)))):
            slide = _divisor(remainder)
            return None if slide is None else Windows("start", None if before else slide)
    return None


def _divisor(remainder: Expression) -> int | None:
    """b of a mod b."""
    match remainder:
        case Call("case_when", (Call("less_than"), Call("add"), Call("remainder", (_, Literal(int(by)))))):
            return by
    return None
