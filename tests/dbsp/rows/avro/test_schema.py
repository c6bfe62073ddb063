"""What a schema's JSON says: names in namespaces, types within themselves, logical types that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.rows.avro.schema import Array, Enum, Named, Record, Simple, Union, parsed


def record(*types: Any, **more: Any) -> str:
    fields = [{"name": f"f{i}", "type": type_} for i, type_ in enumerate(types)]
    return json.dumps({"type": "record", "name": "R", "fields": fields, **more})


def types(text: str, *before: str) -> list[Any]:
    return [part.type for part in parsed(text, before).record().fields]


def test_names_and_where_they_are() -> None:
    inner = {"type": "enum", "name": "E", "symbols": ["A"], "default": "A"}
    other = {"type": "fixed", "name": "x.F", "size": 3}
    found = types(record(inner, "E", "a.b.E", other, "x.F", ["null", "R"], namespace="a.b"))
    enum = Enum(("A",), "A")
    assert found[0] == enum and found[3] == Simple("fixed", size=3)
    assert found[1:3] == [Named("a.b.E")] * 2
    assert found[4:] == [Named("x.F"), Union((Simple("null"), Named("a.b.R")))]
    schema = parsed(record("int", name="c.R"))
    assert isinstance(schema.of(Named("c.R")), Record)


def test_types_of_other_schemas() -> None:
    point = json.dumps({"type": "record", "name": "geo.Point", "fields": []})
    assert types(record("geo.Point", {"type": "array", "items": "geo.Point"}), point) == [
        Named("geo.Point"),
        Array(Named("geo.Point")),
    ]


@pytest.mark.parametrize(
    ("type_", "node"),
    [
        ({"type": "long", "logicalType": "timestamp-micros"}, Simple("long", "timestamp-micros")),
        ({"type": "string", "logicalType": "timestamp-micros"}, Simple("string")),
        ({"type": "int", "logicalType": "no such"}, Simple("int")),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1},
            Simple("bytes", "decimal", 0, 1, 4),
        ),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 5}, Simple("bytes")),
        ({"type": "bytes", "logicalType": "decimal", "precision": 39}, Simple("bytes")),
        ({"type": "bytes", "logicalType": "decimal"}, Simple("bytes")),
        ({"type": "fixed", "name": "F", "size": 16, "logicalType": "uuid"}, Simple("fixed", "uuid", 16)),
        ({"type": "fixed", "name": "F", "size": 15, "logicalType": "uuid"}, Simple("fixed", size=15)),
        ({"type": {"type": {"type": "int", "logicalType": "date"}}}, Simple("int", "date")),
    ],
)
def test_logical_types(type_: Any, node: Any) -> None:
    """One that isn't known, or isn't of its type, is none: so the specification."""
    assert types(record(type_)) == [node]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{", "can't be read: "),
        ("[]", "of no record"),
        ('"string"', "of no record"),
        ("5", "5 is no type"),
        (record("no"), "there is no type 'no'; types declared before: R"),
        (record({"type": "array"}), "has no 'items'"),
        (record({"type": "fixed", "name": "F", "size": -1}), "-1 is no size"),
        ('{"type": "record", "name": "R", "fields": [5]}', "5 is no field"),
        ('{"type": "record", "fields": []}', "has no 'name'"),
    ],
)
def test_what_is_none(text: str, error: str) -> None:
    with pytest.raises(Error, match=error):
        parsed(text).record()
