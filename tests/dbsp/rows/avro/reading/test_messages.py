"""Bytes that nobody meant: whatever they are, a message ends where it ends, and its neighbours are read."""

from __future__ import annotations

import json
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsp.rows.avro.defaults import long
from dbsp.rows.avro.reading.decoder import Avro
from tests.dbsp.rows.avro.reading.test_decoder import encoded
from tests.dbsp.rows.avro.reading.test_resolution import PASSED, record

TREE = PASSED[-1][0]
FIELDS = [
    {"name": "a", "type": ["null", "string", {"type": "array", "items": ["long", "string"]}]},
    {"name": "m", "type": {"type": "map", "values": "double"}},
    {"name": "b", "type": "boolean"},
]
COLUMNS: list[list[tuple[str, pa.DataType]]] = [
    [("a", pa.string()), ("m", pa.map_(pa.string(), pa.float64())), ("b", pa.bool_())],
    [("b", pa.bool_())],
]


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=12), max_size=4), st.sampled_from(COLUMNS))
def test_any_bytes(broken: list[bytes], columns: list[tuple[str, pa.DataType]]) -> None:
    """What is no record to fastavro is none here."""
    schema = record(FIELDS)
    (whole,) = encoded(schema, [{"a": "x", "m": {"y": 0.5}, "b": True}])
    messages = [part for each in broken for part in (each, whole)]
    found, why = Avro(json.dumps(schema), pa.struct(columns), is_foreign=True).decode(
        pa.array(messages, pa.binary())
    )
    reader = fastavro.parse_schema(schema)
    for i, message in enumerate(messages):
        if i % 2:
            assert why[i].as_py() is None and found[i].as_py()["b"] is True
        elif why[i].as_py() is None:
            again = encoded(schema, [_read(reader, message)])
            assert found[i].as_py()["b"] in (True, False) and len(again) == 1


def _read(schema: Any, message: bytes) -> Any:
    import io  # noqa: PLC0415 — of this one

    read = io.BytesIO(message)
    value = fastavro.schemaless_reader(read, schema)
    assert not read.read()
    return value


@pytest.mark.parametrize(
    ("field", "data", "why"),
    [
        ("long", b"\xff" * 10, "a number has more than 64 bits"),
        ("long", b"\x80" * 4, "it ends too early"),
        ("int", long(2**31), "an int has more than 32 bits"),
        ("string", long(-5), "it ends too early"),
        ("string", long(2**62), "it ends too early"),
        ("bytes", long(3) + b"ab", "it ends too early"),
        ("boolean", b"\x02", "a boolean is neither 0 nor 1"),
        (["null", "int"], long(2), "a union has no such branch"),
        ({"type": "array", "items": "null"}, long(2**60), "an array has more items than bytes"),
        ({"type": "array", "items": "null"}, (long(40) + long(-40) + long(0)) * 9, "an array has more items"),
        ({"type": "array", "items": "null"}, long(-(2**63)) + long(1), "an array has more items than bytes"),
        ({"type": "array", "items": "long"}, long(-1) + long(2**60), "an array has more items than bytes"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, long(1), "an enum has no such symbol"),
        (TREE, long(1) * 200, "records are within each other more than 64 deep"),
    ],
)
@pytest.mark.parametrize("is_read", [True, False])
def test_why_it_is_none(field: Any, data: bytes, why: str, is_read: bool) -> None:
    types = {"long": pa.int64(), "int": pa.int64(), "string": pa.string(), "bytes": pa.binary()}
    wanted = types.get(field if isinstance(field, str) else "", pa.string())
    if isinstance(field, dict) and field["type"] == "array":
        wanted = pa.list_(pa.int64())
    if field == "boolean":
        wanted = pa.bool_()
    if isinstance(field, list):
        wanted = pa.int32()
    passed_only = field == TREE or why.startswith(("an int has", "a boolean", "an enum"))
    if passed_only and is_read == (field == TREE):
        return  # it isn't looked at where it isn't read, or can't be a column
    schema = record([{"name": "a", "type": field}, {"name": "b", "type": "int"}])
    columns = [("a", wanted), ("b", pa.int32())] if is_read else [("b", pa.int32())]
    decoder = Avro(json.dumps(schema), pa.struct(columns), is_foreign=True)
    _, reasons = decoder.decode(pa.array([data], pa.binary()))
    assert reasons[0].as_py().startswith(why)
