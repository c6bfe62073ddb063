"""A default as JSON is the bytes that fastavro writes of it."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.rows.avro.defaults import long, spelled_default
from dbsp.rows.avro.schema import parsed
from tests.dbsp.rows.avro.reading.test_decoder import encoded
from tests.dbsp.rows.avro.writing.test_simple import record

POINT = {"type": "record", "name": "P", "fields": [{"name": "x", "type": "int", "default": 7}]}


@pytest.mark.parametrize(
    ("type_", "default", "value"),
    [
        ("null", None, None),
        ("boolean", True, True),
        ("int", -(2**31), -(2**31)),
        ("long", 2**63 - 1, 2**63 - 1),
        ("float", 0.5, 0.5),
        ("double", 1, 1.0),
        ("string", "é", "é"),
        ("bytes", "\u00ff", b"\xff"),
        ({"type": "fixed", "name": "F", "size": 2}, "\u0000\u0001", b"\0\1"),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B", "B"),
        ({"type": "array", "items": "int"}, [1, 2], [1, 2]),
        ({"type": "array", "items": "int"}, [], []),
        ({"type": "map", "values": "int"}, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        (["null", "string"], "x", "x"),
        (POINT, {}, {"x": 7}),
    ],
)
def test_as_it_is_written(type_: Any, default: Any, value: Any) -> None:
    schema = parsed(record(type_))
    (message,) = encoded(
        {"type": "record", "name": "R", "fields": [{"name": "a", "type": type_}]}, [{"a": value}]
    )
    assert spelled_default(schema, schema.record().fields[0].type, default) == message


@pytest.mark.parametrize(
    ("type_", "default"),
    [
        ("null", 0),
        ("int", 2**31),
        ("int", True),
        ("boolean", 1.5),
        ("string", 5),
        ("bytes", "\u0100"),
        (POINT, 5),
    ],
)
def test_what_is_none_of_the_type(type_: Any, default: Any) -> None:
    schema = parsed(record(type_))
    with pytest.raises(Error, match="is not of its field's type"):
        spelled_default(schema, schema.record().fields[0].type, default)


def test_numbers() -> None:
    assert [long(n) for n in (0, -1, 1, 63, 64, -65)] == [
        b"\0",
        b"\1",
        b"\2",
        b"\x7e",
        b"\x80\x01",
        b"\x81\x01",
    ]
