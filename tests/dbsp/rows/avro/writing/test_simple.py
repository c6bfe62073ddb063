"""Values as the types that a schema may have, as fastavro reads them; what these can't hold is refused."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.circuits.errors import DataError, Error
from dbsp.rows.avro.reading.decoder import Avro
from dbsp.rows.avro.writing.encoder import Written


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
        ({"type": "int", "logicalType": "time-millis"}, TIME, time(23, 59, 59, 999_000)),
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
            {"type": "int", "logicalType": "time-millis"},
            TIME,
            time(0, 0, 0, 1),
            "finer than the Avro schema's",
        ),
        ("long", TIME, time(0), "column 'a' is time64.ns., and its field in the Avro schema long"),
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
