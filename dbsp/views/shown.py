"""Rows as they are shown to people and told in JSON over HTTP: JSON objects that every reader has whole.

FLOAT   the fewest digits that are this FLOAT, as Spark and PostgreSQL spell it: 0.1, not 0.10000000149011612
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.json_text import objects
from dbsp.circuits.errors import DataError


def shown(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows with a DOUBLE for each FLOAT, whose digits are the FLOAT's fewest."""
    if not any(map(_holds_float, rows.schema.types)):
        return rows
    return pa.RecordBatch.from_arrays([_shown(column) for column in rows.columns], names=rows.schema.names)


def objects_of(rows: pa.RecordBatch, otherwise: str = "") -> list[str]:
    """A JSON object for each row. otherwise: another way to get columns of one name, for the message.

    Raises DataError for columns of one name: an object has one value a name, and readers lose the others.
    """
    twice = [name for name, count in Counter(rows.schema.names).items() if count > 1]
    if twice:
        raise DataError(
            f"{len(rows.schema.names)} columns, of which several are named '{twice[0]}': a JSON object has "
            f"one value a name; name each, as SELECT ... AS another_name{otherwise}"
        )
    return objects(shown(rows))


def _holds_float(type_: pa.DataType) -> bool:
    if not pt.is_nested(type_):
        return bool(pt.is_float32(type_))
    return any(_holds_float(type_.field(i).type) for i in range(type_.num_fields))


def _shown(array: pa.Array) -> pa.Array:
    type_ = array.type
    if pt.is_float32(type_):
        return array.cast(pa.string()).cast(pa.float64())
    if not _holds_float(type_):
        return array
    whole = array.take(pa.array(np.arange(len(array)))) if array.offset else array
    null = whole.is_null() if whole.null_count else None
    if pt.is_struct(type_):
        return pa.StructArray.from_arrays(
            [_shown(one) for one in whole.flatten()], names=[field.name for field in type_], mask=null
        )
    if pt.is_map(type_):
        return pa.MapArray.from_arrays(whole.offsets, _shown(whole.keys), _shown(whole.items), mask=null)
    return pa.ListArray.from_arrays(whole.offsets, _shown(whole.values), mask=null)
