"""What is written is read back as it was, here and by fastavro; what a schema can't hold is refused."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsp.circuits.errors import DataError, Error
from dbsp.rows.avro.derived import schema_of
from dbsp.rows.avro.reading.decoder import Avro
from dbsp.rows.avro.writing.encoder import Written
from tests.dbsp.rows.avro.reading.test_decoder import LONGS, TEXTS, TIMES

LEAVES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-128, 127)),
    (pa.int64(), LONGS),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.string(), TEXTS),
    (pa.binary(), st.binary(max_size=3)),
    (pa.date32(), st.dates()),
    (pa.timestamp("us", tz="UTC"), TIMES),
    (pa.timestamp("us"), TIMES.map(lambda at: at.replace(tzinfo=None))),
    (pa.decimal128(9, 2), st.decimals("-9999999.99", "9999999.99", places=2)),
    (pa.decimal128(38, 0), st.integers(1 - 10**38, 10**38 - 1).map(Decimal)),
]


@st.composite
def types(draw: st.DrawFn, depth: int = 2) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    """A column's type, and its values, of which some within are NULL."""
    kind = draw(st.sampled_from(("leaf", "leaf", "list", "struct", "map"))) if depth else "leaf"
    if kind == "leaf":
        return draw(st.sampled_from(LEAVES))
    inside, values = draw(types(depth=depth - 1))
    if kind == "list":
        return pa.list_(inside), st.lists(st.none() | values, max_size=3)
    if kind == "map":
        return pa.map_(pa.string(), inside), st.dictionaries(TEXTS, st.none() | values, max_size=2)
    row = {"a": st.none() | values, "b": st.none() | LONGS}
    return pa.struct([("a", inside), ("b", pa.int64())]), st.fixed_dictionaries(row)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_what_was_written(data: st.DataObject) -> None:
    columns, values = [], {}
    for i, (type_, of_type) in enumerate(data.draw(st.lists(types(), min_size=1, max_size=3))):
        nullable = data.draw(st.booleans())
        columns.append(pa.field(f"c{i}", type_, nullable))
        values[f"c{i}"] = st.none() | of_type if nullable else of_type
    given = data.draw(st.lists(st.none() | st.fixed_dictionaries(values), max_size=4))
    cut = data.draw(st.integers(0, len(given)))
    rows = pa.array(given, pa.struct(columns))[cut:]  # of which the first aren't its own
    schema = schema_of(pa.struct(columns), "a.topic-1", "Value")
    messages = Written(schema, pa.struct(columns)).encode(rows)
    assert messages.is_null().to_pylist() == rows.is_null().to_pylist()
    there = messages.drop_null()
    found, why = Avro(schema, pa.struct(columns)).decode(there)
    assert why.null_count == len(there)
    assert found.to_pylist() == rows.drop_null().to_pylist()
    parsed = fastavro.parse_schema(json.loads(schema))
    for message, row in zip(there, rows.drop_null().to_pylist(maps_as_pydicts="strict"), strict=True):
        read = io.BytesIO(message.as_py())
        assert fastavro.schemaless_reader(read, parsed) == row
        assert not read.read()


def record(type_: Any, **more: Any) -> str:
    fields = [{"name": "a", "type": type_, **more}]
    return json.dumps({"type": "record", "name": "Row", "fields": fields})


DECIMAL = {"type": "fixed", "name": "D", "size": 2, "logicalType": "decimal", "precision": 5, "scale": 1}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
NANOS = {"type": "long", "logicalType": "timestamp-nanos"}
AT = datetime(2024, 1, 2, 3, 4, 5, 6000, UTC)


@pytest.mark.parametrize(
    ("type_", "column", "value"),
    [
        (ENUM, pa.string(), "B"),
        (MILLIS, pa.timestamp("us", tz="UTC"), AT),
        (NANOS, pa.timestamp("us", tz="UTC"), AT),
        ({**DECIMAL, "precision": 4}, pa.decimal128(4, 1), Decimal("-999.9")),
        ({**DECIMAL, "size": 20}, pa.decimal128(5, 1), Decimal("-3276.8")),
        ({"type": "fixed", "name": "F", "size": 2}, pa.binary(), b"ab"),
        (["string", "null", "long"], pa.int64(), 5),
        ("int", pa.int64(), -5),
        ("double", pa.float32(), 0.5),
    ],
)
def test_types_that_a_schema_may_have(type_: Any, column: pa.DataType, value: Any) -> None:
    schema, columns = record(type_), pa.struct([pa.field("a", column, False)])
    message = Written(schema, columns).encode(pa.array([{"a": value}], columns))
    parsed = fastavro.parse_schema(json.loads(schema))
    known = value if type_ is not NANOS else int(AT.timestamp() * 10**6) * 1000  # fastavro has no such times
    assert fastavro.schemaless_reader(io.BytesIO(message[0].as_py()), parsed) == {"a": known}
    assert Avro(schema, columns).decode(message)[0].to_pylist() == [{"a": value}]


@pytest.mark.parametrize(
    ("type_", "column", "value", "error"),
    [
        (ENUM, pa.string(), "C", "column 'a' has 'C', no symbol of"),
        (
            MILLIS,
            pa.timestamp("us"),
            None,
            "column 'a' is timestamp.us., and its field in the Avro schema tim",
        ),
        (MILLIS, pa.timestamp("us", tz="UTC"), AT.replace(microsecond=1), "finer than the Avro schema's"),
        (
            NANOS,
            pa.timestamp("us", tz="UTC"),
            datetime(9999, 1, 1),
            "beyond the Avro schema's timestamp-nanos",
        ),
        (DECIMAL, pa.decimal128(5, 1), Decimal("3276.8"), "longer than the Avro schema's 2 bytes"),
        ({**DECIMAL, "precision": 2}, pa.decimal128(5, 1), Decimal("100.0"), "doesn't fit the Avro schema"),
        ({"type": "fixed", "name": "F", "size": 2}, pa.binary(), b"abc", "not of the 2 bytes"),
        ("int", pa.int64(), 2**31, "beyond the Avro schema's int"),
        ("float", pa.float64(), 0.5, "is double, and its field in the Avro schema float"),
        ({"type": "array", "items": "long"}, pa.list_(pa.int64()), [None], "column 'a' is NULL"),
        ("long", pa.list_(pa.int64()), [1], "is list<item: int64>, and its field in the Avro schema long"),
        (["null"], pa.int64(), 1, "only null"),
    ],
)
def test_what_a_schema_can_t_hold(type_: Any, column: pa.DataType, value: Any, error: str) -> None:
    columns = pa.struct([pa.field("a", column, False)])
    with pytest.raises((DataError, Error), match=error):
        Written(record(type_), columns).encode(pa.array([{"a": value}], columns))


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
