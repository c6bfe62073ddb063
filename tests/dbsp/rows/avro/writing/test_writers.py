"""Columns and fields that the other has not, or that can't be NULL: said before anything is written."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError, Error
from dbsp.rows.avro.reading.decoder import Avro
from dbsp.rows.avro.writing.encoder import Written
from tests.dbsp.rows.avro.writing.test_simple import record


def test_fields_and_columns_that_the_other_has_not() -> None:
    schema = record("long", default=5)
    columns = pa.struct([pa.field("b", pa.int64(), False)])
    with pytest.raises(Error, match="the Avro schema has no field 'b'; fields: a"):
        Written(schema, columns)
    with pytest.raises(Error, match="field 'a' has no default, and is no column; declare it"):
        Written(record("long"), pa.struct([]))
    with pytest.raises(
        Error, match="column 'a' can be NULL, and its field in the Avro schema can't; declare it"
    ):
        Written(schema, pa.struct([("a", pa.int64())]))
    rows = pa.array([{}, {}], pa.struct([]))
    assert Written(schema, pa.struct([])).encode(rows).to_pylist() == [b"\x0a", b"\x0a"]


def test_the_first_type_of_a_union_that_fits() -> None:
    schema = record(["string", "long", "null", "int"])
    columns = pa.struct([("a", pa.int32())])
    rows = pa.array([{"a": 1}, {"a": None}], columns)
    assert Written(schema, columns).encode(rows).to_pylist() == [b"\x02\x02", b"\x04"]
    with pytest.raises(Error, match="and its field in the Avro schema string"):
        Written(schema, pa.struct([("a", pa.bool_())]))
    never = Written(record(["long", "string"]), pa.struct([pa.field("a", pa.int64(), False)]))
    with pytest.raises(DataError, match="column 'a' is NULL"):
        never.encode(pa.array([{"a": None}], columns))


def test_rows_that_are_a_slice() -> None:
    """Of nested values only those of its rows are written."""
    inside = {"type": "map", "values": {"type": "array", "items": "long"}}
    schema, columns = (
        record(inside),
        pa.struct([pa.field("a", pa.map_(pa.string(), pa.list_(pa.int64())), False)]),
    )
    rows = pa.array([{"a": [(f"x{j}", [i, j]) for j in range(i % 3)]} for i in range(7)], columns)[2:6]
    messages = Written(schema, columns).encode(rows)
    assert Avro(schema, columns).decode(messages)[0].to_pylist() == rows.to_pylist()
    assert json.loads(schema)["name"] == "Row"
