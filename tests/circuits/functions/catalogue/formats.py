"""Avro's functions, which Spark has in a jar of its own."""

# ruff: noqa: E501  a function a line
from __future__ import annotations

import json
import random
from decimal import Decimal

import pyarrow as pa

RECORD = json.dumps(
    {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "i", "type": ["int", "null"]},
            {"name": "s", "type": ["string", "null"]},
            {"name": "a", "type": {"type": "array", "items": ["long", "null"]}},
        ],
    }
)
NARROW = json.dumps({"type": "record", "name": "r", "fields": [{"name": "s", "type": ["string", "null"]}]})
# what Spark makes of columns that may be NULL
OPTIONAL = json.dumps(["int", "null"])
_ROWS = 60


def _rows() -> pa.RecordBatch:
    choose = random.Random(5)

    def column(values: list[object], data_type: pa.DataType) -> pa.Array:
        return pa.array(choose.choices([None, *values], k=_ROWS), data_type)

    return pa.RecordBatch.from_pydict(
        {
            "i": column([0, 1, -1, 2**31 - 1, -(2**31)], pa.int32()),
            "l": column([0, -1, 2**63 - 1, -(2**63)], pa.int64()),
            "s": column(["", "x", "é😀"], pa.string()),
            "d": column([0.0, -0.0, 1.5, float("nan"), float("inf")], pa.float64()),
            "m": column([Decimal("0.01"), Decimal("-999.99")], pa.decimal128(5, 2)),
            "t": column([0, -1, 1_700_000_000_123_456], pa.timestamp("us", "UTC")),
            "n": column([0, -1, 1_700_000_000_123_456], pa.timestamp("us")),
            "dt": column([0, -719_162, 19_800], pa.date32()),
            "a": column([[], [1, None], [-5]], pa.list_(pa.int64())),
            # whole, cut, and something else
            "b": column([b"\x00\x02", b"\x02", b"", b"\x00", b"\x07\x07\x07"], pa.binary()),
        }
    )


ROWS = _rows()
_R = "named_struct('i', i, 's', s, 'a', coalesce(a, array()))"
FUNCTIONS: dict[str, list[str]] = {
    "to_avro": [f"to_avro({name})" for name in ("i", "l", "s", "d", "m", "t", "n", "dt", "a", "b")]
    + [f"to_avro({_R})", f"to_avro({_R}, '{RECORD}')", f"to_avro(i, '{OPTIONAL}')", "to_avro(map(coalesce(s, ''), i))", "to_avro(NULL::int)"],
    "from_avro": [f"from_avro(to_avro({_R}, '{RECORD}'), '{RECORD}')", f"get(from_avro(to_avro({_R}, '{RECORD}'), '{RECORD}').a, 0)",
                  f"from_avro(b, '{OPTIONAL}', map('mode', 'PERMISSIVE'))", f"from_avro(to_avro(i), '{OPTIONAL}')", f"from_avro(x'0002', '{OPTIONAL}')",
                  f"from_avro(to_avro({_R}, '{RECORD}'), '{RECORD}', map('avroSchema', '{NARROW}'))",
                  f"from_avro(if(i > 0, to_avro(s), NULL), '{json.dumps(['string', 'null'])}')",
                  f"transform(a, e -> from_avro(to_avro(e), '{json.dumps(['long', 'null'])}'))"],
    "schema_of_avro": [f"schema_of_avro('{RECORD}')", f"schema_of_avro('{OPTIONAL}', map())"],
}  # fmt: skip
_NEVER_NULL = json.dumps({"type": "record", "name": "r", "fields": [{"name": "s", "type": "string"}]})
FAILS = [f"from_avro(b, '{OPTIONAL}')", f"to_avro(named_struct('s', s), '{_NEVER_NULL}')"]
