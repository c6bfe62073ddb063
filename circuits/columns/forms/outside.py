"""Columns as people and other programs have them, where these know no type of ours.

MONTHS              Arrow's interval of months, days and nanoseconds; to Spark a number of months
CALENDAR_INTERVAL   the same interval; to Spark its text
VARIANT             the struct that Spark makes of it
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, validity
from dbsp.circuits.columns.forms.calendar_intervals import (
    CALENDAR_INTERVAL,
    from_arrow,
    from_texts,
    holds_calendar,
    in_arrow,
    texts,
)
from dbsp.circuits.columns.forms.months import CALENDAR, MONTHS, calendar_of, holds_months, months_of
from dbsp.circuits.columns.hashing import list_ranges
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.columns.variants.binary import VERSION
from dbsp.circuits.columns.variants.type import OUTSIDE, VARIANT, holds_variant


def has_outside(data_type: pa.DataType) -> bool:
    """Whether the type, or one inside of it, is another one there."""
    return holds_months(data_type) or holds_variant(data_type) or holds_calendar(data_type)


def outside_type(
    data_type: pa.DataType, months: pa.DataType = CALENDAR, variant: pa.DataType = OUTSIDE
) -> pa.DataType:
    """With `months` for MONTHS, `variant` for VARIANT, and beside integers of months text for
    CALENDAR_INTERVAL.
    """
    return _replaced(data_type, months, variant)


def without_months(data_type: pa.DataType) -> pa.DataType:
    """As `to_spark` has it, but VARIANT: what Spark is told of a column, for want of an Arrow type."""
    return _replaced(data_type, pa.int32(), VARIANT)


def to_outside(array: pa.Array) -> pa.Array:
    """The values as `outside_type` has them, also inside of nested types."""
    return _rebuilt(array, outside_type(array.type), calendar_of)


def to_spark(array: pa.Array) -> pa.Array:
    """The same with int32 for MONTHS, and text for CALENDAR_INTERVAL."""
    return _rebuilt(
        array, outside_type(array.type, pa.int32()), lambda months: months.cast(pa.int64()).cast(pa.int32())
    )


def from_outside(array: pa.Array, target: pa.DataType) -> pa.Array:
    """What `to_outside` and `to_spark` give, as `target`. Raises ValueError for what is none of it."""
    return _rebuilt(array, target, months_of)


def batch_to_outside(rows: pa.RecordBatch) -> pa.RecordBatch:
    """`to_outside` of each column."""
    if not any(map(has_outside, rows.schema.types)):
        return rows
    fields = [field.with_type(outside_type(field.type)) for field in rows.schema]
    return pa.RecordBatch.from_arrays([to_outside(c) for c in rows.columns], schema=pa.schema(fields))


def _replaced(data_type: pa.DataType, months: pa.DataType, variant: pa.DataType) -> pa.DataType:
    if data_type == VARIANT:
        return variant
    if data_type == CALENDAR_INTERVAL:
        return CALENDAR if months == CALENDAR else pa.string()
    if not has_outside(data_type):
        return data_type
    if pt.is_struct(data_type):
        return pa.struct([field.with_type(_replaced(field.type, months, variant)) for field in data_type])
    if pt.is_map(data_type):
        return pa.map_(
            _replaced(data_type.key_type, months, variant), _replaced(data_type.item_type, months, variant)
        )
    return pa.list_(_replaced(data_type.value_type, months, variant)) if pt.is_list(data_type) else months


def _rebuilt(array: pa.Array, target: pa.DataType, months: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """The array as `target`, where the two differ in leaves of intervals and in variants only."""
    data_type = array.type
    if pt.is_null(data_type):
        return pa.nulls(len(array), target)
    if VARIANT in (data_type, target):
        return _variants(array, target)
    if data_type == CALENDAR_INTERVAL != target:
        return in_arrow(array) if target == CALENDAR else texts(array)
    if target == CALENDAR_INTERVAL != data_type:
        return from_arrow(array) if data_type == CALENDAR else from_texts(array)
    if not pt.is_nested(data_type):
        return months(array) if MONTHS in (data_type, target) else array
    if not has_outside(data_type) and not has_outside(target):
        return array
    null = pc.is_null(array) if array.null_count else None
    if pt.is_struct(data_type):
        pairs = zip(array.flatten(), target, strict=True)  # NULL where the struct is
        fields = [_rebuilt(child, field.type, months) for child, field in pairs]
        return pa.StructArray.from_arrays(fields, fields=list(target), mask=null)
    starts, lengths, elements = list_ranges(array)
    lengths = np.where(validity(array), lengths, 0)
    _, positions = expand_ranges(starts, starts + lengths)
    compact = elements.take(pa.array(positions))
    offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))).astype(np.int32))
    if pt.is_map(data_type):
        key, item = child_arrays(compact)
        made = (_rebuilt(key, target.key_type, months), _rebuilt(item, target.item_type, months))
        return pa.MapArray.from_arrays(offsets, *made, type=target, mask=null)
    return pa.ListArray.from_arrays(
        offsets, _rebuilt(compact, target.value_type, months), type=target, mask=null
    )


def _variants(array: pa.Array, target: pa.DataType) -> pa.Array:
    """The two binaries under the target's names, and NULL where there is no variant."""
    if array.type == target:
        return array
    given = {field.name: i for i, field in enumerate(array.type)} if pt.is_struct(array.type) else {}
    names = [("value", "metadata"), tuple(field.name for field in VARIANT)]
    named = next((pair for pair in names if sorted(pair) == sorted(given)), None)
    if named is None:
        raise ValueError(f"{array.type} is no VARIANT, which is a struct of value and metadata")
    # where there is no variant, there may be any bytes
    children = array.flatten()
    parts = [children[given[name]].cast(pa.binary()) for name in named]
    there = pc.and_(pc.is_valid(parts[0]), pc.is_valid(parts[1]))
    if target == VARIANT:
        whole = pc.and_(pc.greater(pc.binary_length(parts[0]), 0), _is_metadata(parts[1]))
        if not pc.all(pc.fill_null(whole, True), min_count=0).as_py():
            raise ValueError("these bytes are no variant's")
    return pa.StructArray.from_arrays(parts, fields=list(target), mask=pc.invert(there))


def _is_metadata(column: pa.Array) -> pa.Array:
    """Whether the first byte says version 1, as of every one that there is."""
    firsts = [bytes([VERSION | more << 4]) for more in range(16)]
    return pc.is_in(pc.binary_slice(column, 0, 1), pa.array(firsts, pa.binary()))
