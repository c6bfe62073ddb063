"""INTERVAL YEAR TO MONTH: a number of months within, Arrow's interval of months and days to the outside.

pyarrow can't hold an array of Arrow's own month_interval, and its kernels know neither that of months, days
and nanoseconds nor extension types. So a column of months is a `duration("s")`, which no other SQL type is,
and of which one "second" is a month: an int64 that is kept, hashed, compared and sorted like any other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, fixed_values, validity
from dbsp.circuits.columns.hashing import list_ranges
from dbsp.circuits.columns.ranges import expand_ranges

MONTHS = pa.duration("s")
CALENDAR = pa.month_day_nano_interval()
LEAST, MOST = -(2**31), 2**31 - 1

_PARTS = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])


def holds_months(data_type: pa.DataType) -> bool:
    """Whether the type, or one inside of it, is MONTHS."""
    if pt.is_nested(data_type):
        return any(holds_months(data_type.field(i).type) for i in range(data_type.num_fields))
    return bool(data_type == MONTHS)


def fitting(values: np.ndarray, data_type: pa.DataType) -> np.ndarray:
    """bool[n]: whether 64-bit integers are of the type, as far as MONTHS has fewer bits."""
    return (values >= LEAST) & (values <= MOST) if data_type == MONTHS else np.ones(len(values), np.bool_)


def for_calendar(data_type: pa.DataType) -> pa.DataType:
    """The type with CALENDAR for MONTHS."""
    return _replaced(data_type, CALENDAR)


def as_integers(data_type: pa.DataType) -> pa.DataType:
    """The type with int32 for MONTHS: what Spark is given, and gives, for want of an Arrow type."""
    return _replaced(data_type, pa.int32())


def to_calendar(array: pa.Array) -> pa.Array:
    """The values for people and other programs: months as CALENDAR, also inside of nested types."""
    return _rebuilt(array, for_calendar(array.type), _calendar)


def to_integers(array: pa.Array) -> pa.Array:
    """The same with months as int32."""
    return _rebuilt(array, as_integers(array.type), lambda months: months.cast(pa.int64()).cast(pa.int32()))


def from_outside(array: pa.Array, target: pa.DataType) -> pa.Array:
    """What `to_calendar` and `to_integers` give, as `target`. Raises ValueError for what are no months."""
    return _rebuilt(array, target, _months)


def batch_to_calendar(rows: pa.RecordBatch) -> pa.RecordBatch:
    """`to_calendar` of each column."""
    if not any(map(holds_months, rows.schema.types)):
        return rows
    fields = [field.with_type(for_calendar(field.type)) for field in rows.schema]
    return pa.RecordBatch.from_arrays([to_calendar(c) for c in rows.columns], schema=pa.schema(fields))


def _replaced(data_type: pa.DataType, instead: pa.DataType) -> pa.DataType:
    if not holds_months(data_type):
        return data_type
    if pt.is_struct(data_type):
        return pa.struct([field.with_type(_replaced(field.type, instead)) for field in data_type])
    if pt.is_map(data_type):
        return pa.map_(_replaced(data_type.key_type, instead), _replaced(data_type.item_type, instead))
    return pa.list_(_replaced(data_type.value_type, instead)) if pt.is_list(data_type) else instead


def _calendar(months: pa.Array) -> pa.Array:
    parts = np.zeros(len(months), _PARTS)
    parts["months"] = fixed_values(months)
    valid = pa.array(validity(months)).buffers()[1]
    return pa.Array.from_buffers(CALENDAR, len(months), [valid, pa.py_buffer(parts)])


def _months(given: pa.Array) -> pa.Array:
    if given.type == CALENDAR:
        parts = np.frombuffer(given.buffers()[1] or b"", _PARTS, len(given), given.offset * _PARTS.itemsize)
        there = validity(given)
        if ((parts["days"] != 0) | (parts["nanoseconds"] != 0))[there].any():
            raise ValueError("it has days or a time; an INTERVAL YEAR TO MONTH has years and months only")
        return pa.array(parts["months"].astype(np.int64), mask=~there).view(MONTHS)
    if not pt.is_integer(given.type):
        raise ValueError(f"{given.type} is no number of months")
    return given.cast(pa.int32()).cast(pa.int64()).view(MONTHS)


def _rebuilt(array: pa.Array, target: pa.DataType, leaf: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """The array as `target`, where the two differ in leaves of months only."""
    data_type = array.type
    if pt.is_null(data_type):
        return pa.nulls(len(array), target)
    if not pt.is_nested(data_type):
        return leaf(array) if MONTHS in (data_type, target) else array
    if not holds_months(data_type) and not holds_months(target):
        return array
    null = pc.is_null(array) if array.null_count else None
    if pt.is_struct(data_type):
        pairs = zip(child_arrays(array), target, strict=True)
        fields = [_rebuilt(child, field.type, leaf) for child, field in pairs]
        return pa.StructArray.from_arrays(fields, fields=list(target), mask=null)
    starts, lengths, elements = list_ranges(array)
    lengths = np.where(validity(array), lengths, 0)
    _, positions = expand_ranges(starts, starts + lengths)
    compact = elements.take(pa.array(positions))
    offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))).astype(np.int32))
    if pt.is_map(data_type):
        key, item = child_arrays(compact)
        made = (_rebuilt(key, target.key_type, leaf), _rebuilt(item, target.item_type, leaf))
        return pa.MapArray.from_arrays(offsets, *made, type=target, mask=null)
    return pa.ListArray.from_arrays(
        offsets, _rebuilt(compact, target.value_type, leaf), type=target, mask=null
    )
