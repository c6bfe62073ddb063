"""TIME: nanoseconds since midnight, as Spark has them and gives them to Arrow.

A column's are of microseconds, TIME(6), or of fewer digits. As texts they are what Spark's casts tell:
`12:00:00`, `12:00:00.5`.
"""

from __future__ import annotations

from datetime import time

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

TIME = pa.time64("ns")


def spelled(times: pa.Array) -> pa.Array:
    """string[n], without zeros at the end of a fraction."""
    return pc.utf8_rtrim(pc.utf8_rtrim(times.cast(pa.string()), "0"), ".")


def read(texts: pa.Array) -> pa.Array:
    """TIME of '10:00' and '10:00:00.5'. Raises ArrowInvalid, as for what is finer than a microsecond."""
    days = pc.binary_join_element_wise("1970-01-01", texts, " ")
    return days.cast(pa.timestamp("ns")).cast(pa.time64("us")).cast(TIME)


def read_time(text: object) -> time:
    """The same of one. Raises ValueError."""
    try:
        found: time = read(pa.array([text], pa.string()))[0].as_py()
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise ValueError("expected a time of day such as '10:00:00' or '10:00:00.123456'") from None
    return found


def in_microseconds(times: pa.Array) -> pa.Array:
    """Of any type, with Arrow's times of microseconds for TIME, which many know and none of nanoseconds."""
    return times.cast(of_microseconds(times.type)) if holds_time(times.type) else times


def rows_in_microseconds(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The same of each column."""
    return pa.RecordBatch.from_arrays([*map(in_microseconds, rows.columns)], names=rows.schema.names)


def of_microseconds(data_type: pa.DataType) -> pa.DataType:
    """The same of a type."""
    if pt.is_struct(data_type):
        return pa.struct([field.with_type(of_microseconds(field.type)) for field in data_type])
    if pt.is_list(data_type):
        return pa.list_(data_type.value_field.with_type(of_microseconds(data_type.value_type)))
    if pt.is_map(data_type):
        key, item = data_type.key_field, data_type.item_field
        return pa.map_(key.with_type(of_microseconds(key.type)), item.with_type(of_microseconds(item.type)))
    return pa.time64("us") if pt.is_time(data_type) else data_type


def holds_time(data_type: pa.DataType) -> bool:
    """Whether the type, or one inside of it, is TIME."""
    if pt.is_nested(data_type):
        return any(holds_time(data_type.field(i).type) for i in range(data_type.num_fields))
    return bool(pt.is_time(data_type))
