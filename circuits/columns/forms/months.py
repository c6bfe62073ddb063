"""INTERVAL YEAR TO MONTH: a number of months within, Arrow's interval of months and days to the outside.

pyarrow can't hold an array of Arrow's own month_interval, and its kernels know neither that of months, days
and nanoseconds nor extension types. So a column of months is a `duration("s")`, which no other SQL type is,
and of which one "second" is a month: an int64 that is kept, hashed, compared and sorted like any other.
What others are given instead is in `outside.py`.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import fixed_values, validity

MONTHS = pa.duration("s")
CALENDAR = pa.month_day_nano_interval()
LEAST, MOST = -(2**31), 2**31 - 1

PARTS = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])


def holds_months(data_type: pa.DataType) -> bool:
    """Whether the type, or one inside of it, is MONTHS."""
    if pt.is_nested(data_type):
        return any(holds_months(data_type.field(i).type) for i in range(data_type.num_fields))
    return bool(data_type == MONTHS)


def fitting(values: np.ndarray, data_type: pa.DataType) -> np.ndarray:
    """bool[n]: whether 64-bit integers are of the type, as far as MONTHS has fewer bits."""
    return (values >= LEAST) & (values <= MOST) if data_type == MONTHS else np.ones(len(values), np.bool_)


def calendar_of(months: pa.Array) -> pa.Array:
    """MONTHS as CALENDAR."""
    parts = np.zeros(len(months), PARTS)
    parts["months"] = fixed_values(months)
    valid = pa.array(validity(months)).buffers()[1]
    return pa.Array.from_buffers(CALENDAR, len(months), [valid, pa.py_buffer(parts)])


def months_of(given: pa.Array) -> pa.Array:
    """CALENDAR or integers as MONTHS. Raises ValueError for what are no months."""
    if given.type == CALENDAR:
        parts = np.frombuffer(given.buffers()[1] or b"", PARTS, len(given), given.offset * PARTS.itemsize)
        there = validity(given)
        if ((parts["days"] != 0) | (parts["nanoseconds"] != 0))[there].any():
            raise ValueError("it has days or a time; an INTERVAL YEAR TO MONTH has years and months only")
        return pa.array(parts["months"].astype(np.int64), mask=~there).view(MONTHS)
    if not pt.is_integer(given.type):
        raise ValueError(f"{given.type} is no number of months")
    return given.cast(pa.int32()).cast(pa.int64()).view(MONTHS)
