"""A value is its column's unchanged, or its message is refused, with why."""

from __future__ import annotations

import json
from datetime import time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.rows.avro.reading.decoder import Avro
from tests.dbsp.rows.avro.reading.test_decoder import encoded
from tests.dbsp.rows.avro.reading.test_resolution import record


def decoded(type_: Any, value: Any, column: pa.DataType) -> tuple[Any, str | None]:
    """What a column is of one value, and why it isn't."""
    schema = record([{"name": "a", "type": type_}])
    decoder = Avro(json.dumps(schema), pa.struct([("a", column)]), is_foreign=True)
    found, why = decoder.decode(pa.array(encoded(schema, [{"a": value}]), pa.binary()))
    return (found[0].as_py() or {}).get("a"), why[0].as_py()


MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
NANOS = {"type": "long", "logicalType": "timestamp-nanos"}
CLOCK = {"type": "long", "logicalType": "time-micros"}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 3}
UUID = "12345678-1234-5678-9abc-def012345678"


@pytest.mark.parametrize(
    ("type_", "value", "column", "found", "why"),
    [
        ("int", 127, pa.int8(), 127, None),
        ("int", 128, pa.int8(), None, "field 'a': it is beyond -128 to 127"),
        ("long", 2**53 + 1, pa.float64(), None, "field 'a'"),
        ("long", 12, pa.decimal128(4, 1), Decimal("12.0"), None),
        ("double", 1.5, pa.int32(), None, "field 'a' is a double, which is no INT"),
        ("string", "x", pa.int32(), None, "field 'a' is a string, which is no INT"),
        (["null", "string"], None, pa.int32(), None, None),
        (["int", "string"], 3, pa.int32(), 3, None),
        (["int", "string"], "x", pa.int32(), None, "field 'a' is a string, which is no INT"),
        ("bytes", b"\xff", pa.string(), None, "field 'a': a text is not UTF-8"),
        (DECIMAL, Decimal("1.250"), pa.decimal128(9, 2), Decimal("1.25"), None),
        (DECIMAL, Decimal("1.255"), pa.decimal128(9, 2), None, "more than 2 digits after the point"),
        (DECIMAL, Decimal("-12345678.9"), pa.decimal128(9, 2), None, "more than 7 digits before the point"),
        ({"type": "fixed", "size": 16, "name": "U", "logicalType": "uuid"}, UUID, pa.string(), UUID, None),
        (MILLIS, 5, pa.int64(), 5, None),
        (MILLIS, 2**62, pa.timestamp("us"), None, "beyond those of a TIMESTAMP"),
        (CLOCK, 5_400_000_001, TIME, time(1, 30, 0, 1), None),
        ({"type": "int", "logicalType": "time-millis"}, 86_399_999, TIME, time(23, 59, 59, 999_000), None),
        (CLOCK, 86_400_000_000, TIME, None, "a time is none of a day"),
        (CLOCK, -1, TIME, None, "a time is none of a day"),
        (CLOCK, 2**63 - 1, TIME, None, "a time is none of a day"),
        (CLOCK, 7, pa.int64(), 7, None),
        ("long", 7, TIME, None, "field 'a' is a long, which is no TIME"),
        (NANOS, 1500, pa.timestamp("us"), None, "finer than a microsecond"),
        (
            {"type": "array", "items": "string"},
            ["x"],
            pa.list_(pa.int32()),
            None,
            "a string, which is no INT",
        ),
    ],
)
def test_a_value_is_the_columns_or_is_refused(
    type_: Any, value: Any, column: pa.DataType, found: Any, why: str | None
) -> None:
    if isinstance(type_, dict) and type_.get("logicalType") == "uuid":
        schema = record([{"name": "a", "type": type_}])
        message = bytes.fromhex(UUID.replace("-", ""))
        rows, said = Avro(json.dumps(schema), pa.struct([("a", column)])).decode(pa.array([message]))
        assert rows.to_pylist() == [{"a": found}] and said.null_count
        return
    given, reason = decoded(type_, value, column)
    assert given == found
    assert reason is None if why is None else why in str(reason)
