"""Waterlines: what lateness proves about the rows still to come.

    W₀ = unset        Wₜ = max(Wₜ₋₁, max over the rows of step t of value − lateness)
                      Wₜ = max(Wₜ₋₁, the greatest candidate of step t)                 (`percentile.py`)

Of a column that decreases the value is mirrored (`circuits/expressions/mirror.py`), and so is the waterline,
which bounds the column from above.

A row of step t passes iff its value is NULL or >= Wₜ₋₁, so that every row from step t on has a value that
is NULL or >= Wₜ₋₁. A waterline is a scalar of its column's type and never falls.

Source: Feldera, "LATENESS in streaming programs".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import is_true
from dbsp.circuits.functions.logic.mirrored import mirrored_values
from dbsp.circuits.progress.percentile import Percentile

# A lateness: microseconds for timestamps, days for dates, else a number of the column's kind.
Amount = int | float | Decimal
Waterlines = Mapping[str, pa.Scalar]
# the default context has 28 digits, a column up to 38
EXACT = Context(prec=80)
_DECREASING = " (decreasing)"
WATERMARK = " (watermark)"


@dataclass(frozen=True)
class Lateness:
    """name: `relation.column`, the waterline's name. jump: rows more than this ahead of it are rejected.

    percentile: what raises the waterline instead; the amount is 0 then. decreasing: the waterline is of the
    column mirrored.
    """

    name: str
    column: int
    type: pa.DataType
    amount: Amount
    jump: Amount | None = None
    percentile: Percentile | None = None
    decreasing: bool = False

    @property
    def key(self) -> int:
        """Of what the waterline is in a map from columns to bounds."""
        return ~self.column if self.decreasing else self.column

    def measured(self, column: pa.Array) -> pa.Array:
        """What is compared with the waterline."""
        return mirrored_values(column) if self.decreasing else column

    def passes(self, column: pa.Array, waterline: pa.Scalar) -> bool:
        """Whether no value is late or jumps, which the least mostly tells."""
        if pc.less(pc.min(self.measured(column)), waterline).as_py():
            return False
        return self.jump is None or not self.jumps(column, waterline).any()

    def late(self, column: pa.Array, waterline: pa.Scalar) -> np.ndarray:
        """bool[n]: value < waterline; NULL is never late."""
        return is_true(pc.less(self.measured(column), waterline))

    def jumps(self, column: pa.Array, waterline: pa.Scalar) -> np.ndarray:
        """bool[n]: value − lateness > waterline + jump."""
        if self.jump is None:
            return np.zeros(len(column), dtype=np.bool_)
        furthest = shift(shift(waterline, self.amount), self.jump)
        return is_true(pc.greater(self.measured(column), furthest))

    def candidate(self, column: pa.Array) -> pa.Scalar | None:
        """max(values) − lateness; None where there is no value. NaN is no value."""
        if pt.is_floating(self.type):
            column = column.filter(pc.invert(pc.is_nan(column)))
        greatest = pc.max(self.measured(column))
        return shift(greatest, -self.amount) if greatest.is_valid else None


def waterline_name(relation: str, column: str, decreasing: bool = False) -> str:
    """Of the waterline of a column's LATENESS; that of one that decreases is never taken for another's."""
    return f"{relation}.{column}{_DECREASING * decreasing}"


def as_shown(waterlines: Waterlines) -> dict[str, pa.Scalar]:
    """In the columns' own values."""
    return {
        name: mirrored_values(waterline) if name.endswith(_DECREASING) else waterline
        for name, waterline in waterlines.items()
    }


def column_name(name: str) -> str:
    """`relation.column` of what a waterline is called."""
    return name.partition(" (")[0]


def watermark_name(table: str, column: str) -> str:
    """Of the waterline up to which rows of a table that wait are released."""
    return f"{table}.{column}{WATERMARK}"


def largest_name(column: str, view: str = "") -> str:
    """Of the largest value of `relation.column`, EMIT's clock; view: less what its last result is behind."""
    return f"{column} (last result of {view})" if view else f"{column} (largest)"


def is_largest(name: str, column: str) -> bool:
    """Whether it is of the column's largest value, which is no waterline for rows."""
    return name == largest_name(column) or name.startswith(f"{column} (last result of ")


# The step clock: a waterline that steps move by themselves.
CLOCK = Lateness("clock", -1, pa.timestamp("us", "UTC"), 0)


def shift(value: pa.Scalar, amount: Amount) -> pa.Scalar:
    """value + amount; the nearest value there is where that is out of range."""
    data_type = value.type
    if pt.is_floating(data_type):
        return _rounded(value.as_py() + float(amount), amount, data_type)
    if pt.is_decimal(data_type):
        nines = Decimal(10**data_type.precision - 1).scaleb(-data_type.scale, EXACT)
        return pa.scalar(max(-nines, min(nines, EXACT.add(value.as_py(), Decimal(str(amount))))), data_type)
    width = data_type.bit_width
    least, most = -(1 << (width - 1)), (1 << (width - 1)) - 1
    return pa.scalar(max(least, min(most, _number(value) + int(amount))), data_type)


def _rounded(exact: float, amount: Amount, data_type: pa.DataType) -> pa.Scalar:
    """A FLOAT away from the value that was shifted: nobody is late, or too far ahead, by rounding alone."""
    if not pt.is_float32(data_type):
        return pa.scalar(exact, data_type)
    nearest = np.float32(exact)
    beyond = float(nearest) > exact if amount < 0 else float(nearest) < exact
    return pa.scalar(
        np.nextafter(nearest, np.float32(-np.inf if amount < 0 else np.inf)) if beyond else nearest, data_type
    )


def later(a: pa.Scalar | None, b: pa.Scalar | None) -> pa.Scalar | None:
    """The greater waterline; unset is the least."""
    if a is None or b is None:
        return b if a is None else a
    return b if pc.greater(b, a).as_py() else a


def to_json(waterlines: Waterlines) -> dict[str, int | float | str]:
    """Integers for times, dates and integers; text for decimals."""
    values: dict[str, int | float | str] = {}
    for name, scalar in waterlines.items():
        if pt.is_decimal(scalar.type):
            values[name] = str(scalar.as_py())
        else:
            values[name] = scalar.as_py() if pt.is_floating(scalar.type) else _number(scalar)
    return values


def from_json(
    values: Mapping[str, int | float | str], types: Mapping[str, pa.DataType]
) -> dict[str, pa.Scalar]:
    """The inverse of `to_json`; names without a type are dropped."""
    scalars = {}
    for name, value in values.items():
        kind = types.get(name)
        if kind is not None:
            scalars[name] = pa.scalar(Decimal(value) if isinstance(value, str) else value, kind)
    return scalars


def _number(value: pa.Scalar) -> int:
    """The integer beneath a date, time or integer."""
    return int(value.as_py() if pt.is_integer(value.type) else value.value)
