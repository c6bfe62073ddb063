"""Columns keep their values, whatever they lie in."""

from __future__ import annotations

from datetime import time

import pyarrow as pa

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.targets.iceberg.types import schema_of, widened


def test_times_of_day_are_of_microseconds() -> None:
    rows = [{"t": time(10, 30, 0, 5), "l": [time(0), None]}, {"t": None, "l": None}]
    table = widened(pa.Table.from_pylist(rows, schema=pa.schema([("t", TIME), ("l", pa.list_(TIME))])))
    assert table.schema.types == [pa.time64("us"), pa.list_(pa.time64("us"))]
    assert table.to_pylist() == rows


def test_small_integers_are_integers() -> None:
    inner = pa.struct([("b", pa.int8()), pa.field("c", pa.string(), nullable=False)])
    kinds = [pa.int16(), pa.list_(inner), pa.map_(pa.int8(), pa.list_(pa.int16())), pa.decimal128(9, 2)]
    schema = pa.schema([(str(number), kind) for number, kind in enumerate(kinds)])
    wide = pa.struct([("b", pa.int32()), pa.field("c", pa.string(), nullable=False)])
    assert schema_of(schema).types == [
        pa.int32(),
        pa.list_(wide),
        pa.map_(pa.int32(), pa.list_(pa.int32())),
        pa.decimal128(9, 2),
    ]
    rows = [{"0": -7, "1": [{"b": -128, "c": "x"}, None], "2": [(1, [2, None])], "3": None}]
    table = widened(pa.Table.from_pylist(rows, schema=schema))
    assert (table.schema, table.to_pylist()) == (schema_of(schema), rows)
