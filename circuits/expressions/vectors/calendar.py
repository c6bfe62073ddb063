"""Arithmetic of CalendarInterval, part by part (`circuits/columns/forms/calendar_intervals.py`).

(m, d, µ) + (m′, d′, µ′) = (m + m′, d + d′, µ + µ′)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import child_arrays, validity
from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.vectors.modes import checked
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, Vector

OVERFLOW = "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"
_BITS = (32, 32, 64)


@dataclass(frozen=True)
class Parts:
    """int64[n] each, and bool[n]: which intervals aren't NULL."""

    months: Numbers
    days: Numbers
    microseconds: Numbers
    valid: Mask

    @property
    def each(self) -> tuple[Numbers, Numbers, Numbers]:
        return self.months, self.days, self.microseconds


def parts_of(intervals: pa.Array) -> Parts:
    months, days, microseconds = (
        child.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        for child in child_arrays(intervals)
    )
    return Parts(months, days, microseconds, validity(intervals))


def intervals(call: Call, parts: list[Numbers], valid: Mask, condition: str = OVERFLOW) -> pa.Array:
    """The intervals of the parts, any integers. Where one is out of range: an error, or NULL."""
    good = np.ones(len(valid), np.bool_)
    for part, bits in zip(parts, _BITS, strict=True):
        limit = 2 ** (bits - 1)
        good &= np.asarray((part >= -limit) & (part < limit), dtype=np.bool_)
    known = Vector(np.zeros(len(valid), np.int8), valid, False)
    there = checked(call, good, condition, lambda row: "the interval is out of range", known)
    mask = pa.array(~valid if there is None else ~(valid & there))
    columns = [
        pa.array(np.where(good, part, 0).astype(np.int64)).cast(field.type)
        for part, field in zip(parts, CALENDAR_INTERVAL, strict=True)
    ]
    return pa.StructArray.from_arrays(columns, fields=list(CALENDAR_INTERVAL), mask=mask)


def combined(
    call: Call, a: pa.Array, b: pa.Array, operate: Callable[[Numbers, Numbers], Numbers]
) -> pa.Array:
    """Part by part, exactly."""
    x, y = parts_of(a), parts_of(b)
    pairs = zip(x.each, y.each, strict=True)
    return intervals(call, [operate(p.astype(object), q.astype(object)) for p, q in pairs], x.valid & y.valid)
