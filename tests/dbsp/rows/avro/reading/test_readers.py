"""Items come in blocks, some of which say how long they are; rows of any number of them are read together."""

from __future__ import annotations

import json

import pyarrow as pa

from dbsp.rows.avro.defaults import long
from dbsp.rows.avro.reading.decoder import Avro
from tests.dbsp.rows.avro.reading.test_decoder import encoded
from tests.dbsp.rows.avro.reading.test_resolution import record


def test_blocks_that_say_how_long_they_are() -> None:
    """Some writers do, so that a reader can pass them."""
    schema = record([{"name": "a", "type": {"type": "array", "items": "long"}}, {"name": "b", "type": "int"}])
    block = long(-2) + long(2) + long(7) + long(8)
    messages = pa.array([block + long(1) + long(9) + b"\0" + long(4), b"\0" + long(5)], pa.binary())
    whole = Avro(json.dumps(schema), pa.struct([("a", pa.list_(pa.int64())), ("b", pa.int32())]))
    assert whole.decode(messages)[0].to_pylist() == [{"a": [7, 8, 9], "b": 4}, {"a": [], "b": 5}]
    passed = Avro(json.dumps(schema), pa.struct([("b", pa.int32())]))
    assert passed.decode(messages)[0].to_pylist() == [{"b": 4}, {"b": 5}]


def test_maps_have_each_key_once() -> None:
    schema = record([{"name": "m", "type": {"type": "map", "values": ["null", "int"]}}])
    messages = encoded(schema, [{"m": {"b": 1, "a": None}}, {"m": {}}])
    columns = pa.struct([("m", pa.map_(pa.string(), pa.int64()))])
    twice = long(2) + (long(1) + b"b" + long(0)) * 2 + long(0)
    broken = long(1) + long(1) + b"\xff" + long(0) + long(0)
    found, why = Avro(json.dumps(schema), columns).decode(pa.array([*messages, twice, broken], pa.binary()))
    assert found.to_pylist() == [{"m": [("b", 1), ("a", None)]}, {"m": []}, None, None]
    assert why.to_pylist() == [None, None, "a map has a key twice", "field 'm': a text is not UTF-8"]


def test_unions_of_several_records() -> None:
    """Each is the column's struct, by the names that it has."""
    one, two = (
        {"type": "record", "name": name, "fields": [{"name": field, "type": type_}]}
        for name, field, type_ in (("A", "x", "int"), ("B", "y", "string"))
    )
    schema = record([{"name": "u", "type": ["null", one, two]}])
    messages = encoded(schema, [{"u": ("A", {"x": 1})}, {"u": None}, {"u": ("B", {"y": "z"})}])
    columns = pa.struct([("u", pa.struct([("x", pa.int32()), ("y", pa.string())]))])
    found, _ = Avro(json.dumps(schema), columns, is_foreign=True).decode(pa.array(messages, pa.binary()))
    inside = [row["u"] for row in found.to_pylist()]
    assert inside == [{"x": 1, "y": None}, None, {"x": None, "y": "z"}]
