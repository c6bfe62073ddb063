"""Types of columns as Iceberg has them: integers of 32 and 64 bits, times of microseconds."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt


def type_of(kind: pa.DataType) -> pa.DataType:
    """The least that Iceberg has which holds it."""
    if pt.is_int8(kind) or pt.is_int16(kind):
        return pa.int32()
    if pt.is_time(kind):
        return pa.time64("us")
    if pt.is_struct(kind):
        return pa.struct([_field(kind.field(place)) for place in range(kind.num_fields)])
    if pt.is_map(kind):
        return pa.map_(type_of(kind.key_type), _field(kind.item_field))
    if pt.is_list(kind):
        return pa.list_(_field(kind.value_field))
    return kind


def schema_of(schema: pa.Schema) -> pa.Schema:
    """Of a table that has these columns."""
    return pa.schema([(field.name, type_of(field.type)) for field in schema])


def widened(rows: pa.Table) -> pa.Table:
    """As the table has them."""
    return rows.cast(schema_of(rows.schema))


def _field(field: pa.Field) -> pa.Field:
    return field.with_type(type_of(field.type))
