"""Punctuation: a waterline is moved without a row, as by one that no view sees.

    ADVANCE table.column TO v   is a row whose value is v + lateness and which only the waterline notices

Rows below v, or above it where the column decreases, are late from the next step on. A waterline doesn't go
back; MAX JUMP is of rows.
Of a column with WATERMARK the rows up to v, which wait, are released in this step. EMIT's clock, the largest
event time, is at v at least: what ends before it is complete, as all that is to come for it would be late.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import DataError, did_you_mean
from dbsp.circuits.progress.waterline import (
    CLOCK,
    WATERMARK,
    Lateness,
    column_name,
    is_largest,
    shift,
    waterline_name,
    watermark_name,
)
from dbsp.rows.casting import Refused
from dbsp.rows.literals import array_of
from dbsp.sql.plans.types import type_name


def waterline_of(circuit: Circuit, relation: str, column: str) -> Lateness:
    """The column's LATENESS, or WATERMARK, whatever the case of its name.

    Raises DataError where it has none.
    """
    known = {
        one.name: one
        for one in circuit.lateness
        if one.name != CLOCK.name and not is_largest(one.name, column_name(one.name))
    }
    names = (waterline_name(relation, column), waterline_name(relation, column, decreasing=True))
    for name in (*names, watermark_name(relation, column)):
        for spelled, one in known.items():
            if spelled.lower() == name.lower():
                return one
    columns = dict.fromkeys(map(column_name, known))
    name, listed = f"{relation}.{column}", ", ".join(columns) or "none"
    raise DataError(
        f"no LATENESS for '{name}' to advance; columns with one: {listed}{did_you_mean(name, [*columns])}"
    )


def moved_with(circuit: Circuit, one: Lateness, value: pa.Scalar) -> dict[str, pa.Scalar]:
    """What moves where that does, and to where: of one column its LATENESS, its WATERMARK, and the clock of
    EMIT, which is then at that value, as no result is left that ends before it.
    """
    column = one.name.removesuffix(WATERMARK)
    watermark = watermark_name(*column.rsplit(".", 1))
    moved = {}
    for other in circuit.lateness:
        if other.name in (one.name, watermark):
            moved[other.name] = value
        elif is_largest(other.name, column):
            moved[other.name] = shift(value, -other.amount)
    return moved


def waterline_at(one: Lateness, value: Any, timezone: str) -> pa.Scalar:
    """The column's value as the waterline. timezone: of datetimes that have none. Raises DataError."""
    what = f"{value!r} is no place for the waterline of {one.name} ({type_name(one.type)})"
    try:
        (scalar,) = array_of([value], one.type, timezone)
    except Refused as refused:
        raise DataError(f"{what}: {refused}") from None
    if not scalar.is_valid or (pt.is_floating(one.type) and not pc.is_finite(scalar).as_py()):
        raise DataError(f"{what}; give a value")
    return one.measured(scalar)
