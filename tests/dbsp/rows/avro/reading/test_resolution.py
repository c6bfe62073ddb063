"""The writer's schema against the columns: what is read is what fastavro resolves; else why it isn't."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsp.circuits.errors import Error
from dbsp.rows.avro.reading.decoder import Avro
from tests.dbsp.rows.avro.reading.test_decoder import encoded

# what a writer may have, and a reader read it as; columns of the reader's type
PROMOTED: list[tuple[str, str, pa.DataType, st.SearchStrategy[Any]]] = [
    ("int", "long", pa.int64(), st.integers(-(2**31), 2**31 - 1)),
    ("int", "double", pa.float64(), st.integers(-(2**31), 2**31 - 1)),
    ("int", "float", pa.float32(), st.integers(-(2**24), 2**24)),
    ("long", "double", pa.float64(), st.integers(-(2**53), 2**53)),
    ("float", "double", pa.float64(), st.floats(width=32, allow_nan=False)),
    ("string", "bytes", pa.binary(), st.text(max_size=3)),
    ("bytes", "string", pa.string(), st.text(max_size=3).map(str.encode)),
    ("string", "string", pa.string(), st.text(max_size=3)),
]
INNER = {"type": "record", "name": "Inner", "fields": [{"name": "deep", "type": "Row"}]}
# of any shape, to be passed; a value of each
PASSED: list[tuple[Any, Any]] = [
    ("null", None),
    ("boolean", True),
    ("double", 0.5),
    ({"type": "map", "values": ["null", "string"]}, {"a": None, "b": "x"}),
    ({"type": "array", "items": {"type": "array", "items": "long"}}, [[1, 2**40], [], [3]]),
    ({"type": "fixed", "name": "F", "size": 3}, b"abc"),
    ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B"),
    ({"type": "record", "name": "P", "fields": [{"name": "x", "type": ["int", "null"]}]}, {"x": None}),
    (
        {
            "type": "record",
            "name": "Tree",
            "fields": [{"name": "down", "type": {"type": "array", "items": "Tree"}}],
        },
        {"down": [{"down": []}, {"down": [{"down": []}]}]},
    ),
]


def record(fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "record", "name": "Row", "fields": fields}


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.data())
def test_as_fastavro_resolves(data: st.DataObject) -> None:
    """Fields are promoted, renamed, left out and added, in another order, some of them NULL."""
    drawn = data.draw(st.lists(st.sampled_from(PROMOTED), min_size=1, max_size=4))
    extra = data.draw(st.lists(st.sampled_from(PASSED), max_size=3, unique_by=lambda each: str(each[0])))
    written, read, columns, values = [], [], [], {}
    for i, (writer, reader, type_, of_type) in enumerate(drawn):
        nullable, renamed = data.draw(st.booleans()), data.draw(st.booleans())
        written.append({"name": f"c{i}", "type": ["null", writer] if nullable else writer})
        name, alias = (f"d{i}", {"aliases": [f"c{i}"]}) if renamed else (f"c{i}", {})
        read.append({"name": name, "type": ["null", reader] if nullable else reader, **alias})
        columns.append((name, type_))
        values[f"c{i}"] = st.none() | of_type if nullable else of_type
    for i, (avro, value) in enumerate(extra):
        written.append({"name": f"x{i}", "type": avro})
        values[f"x{i}"] = st.just(value)
    if data.draw(st.booleans()):
        read.append({"name": "new", "type": "long", "default": 7})
        columns.append(("new", pa.int32()))
    writer_schema, reader_schema = record(data.draw(st.permutations(written))), record(read)
    rows = data.draw(st.lists(st.fixed_dictionaries(values), max_size=4))
    messages = encoded(writer_schema, rows)
    parsed = [fastavro.parse_schema(each) for each in (writer_schema, reader_schema)]
    expected = [fastavro.schemaless_reader(io.BytesIO(each), *parsed) for each in messages]
    columns = data.draw(st.permutations(columns))
    decoder = Avro(
        json.dumps(writer_schema), pa.struct(columns), reader=json.dumps(reader_schema), is_foreign=True
    )
    found, why = decoder.decode(pa.array(messages, pa.binary()))
    assert why.null_count == len(rows), why
    assert found.to_pylist() == [{name: row[name] for name, _ in columns} for row in expected]


def test_what_a_column_is_that_the_writer_has_not() -> None:
    written = record([{"name": "a", "type": "int"}])
    columns = pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))])
    values = pa.array(encoded(written, [{"a": 1}]), pa.binary())

    def read(reader: Any) -> tuple[Any, Any]:
        given = None if reader is None else json.dumps(record(reader))
        found, why = Avro(json.dumps(written), columns, reader=given, is_foreign=True).decode(values)
        return found[0].as_py(), why[0].as_py()

    texts = {"name": "b", "type": ["null", {"type": "array", "items": "string"}]}
    assert read(None) == ({"a": 1, "b": None}, None)
    assert read([written["fields"][0], {**texts, "default": None}]) == ({"a": 1, "b": None}, None)
    listed = {"name": "b", "type": {"type": "array", "items": "string"}, "default": ["x", "é"]}
    assert read([written["fields"][0], listed]) == ({"a": 1, "b": ["x", "é"]}, None)
    none, why = read([written["fields"][0], texts])
    assert none is None and "no field 'b'; fields: a; and the reader's has no default of it" in why


def test_a_field_that_the_writer_renamed() -> None:
    """It says so itself: its alias is the name that the column has."""
    written = record([{"name": "total", "aliases": ["amount"], "type": "int"}])
    values = pa.array(encoded(written, [{"total": 1}]), pa.binary())
    found, _ = Avro(json.dumps(written), pa.struct([("amount", pa.int32())]), is_foreign=True).decode(values)
    assert found.to_pylist() == [{"amount": 1}]


def test_a_name_in_another_case() -> None:
    written = record([{"name": each, "type": "int"} for each in ("orderId", "N", "n")])
    values = pa.array(encoded(written, [{"orderId": 1, "N": 2, "n": 3}]), pa.binary())
    columns = pa.struct([(each, pa.int32()) for each in ("orderid", "n")])
    found, _ = Avro(json.dumps(written), columns, is_foreign=True).decode(values)
    assert found.to_pylist() == [{"orderid": 1, "n": 3}]


@pytest.mark.parametrize("default", [{}, "x", 2**70, None])
def test_a_default_of_another_type(default: Any) -> None:
    written = record([{"name": "a", "type": "int"}])
    reader = record([{"name": "a", "type": "int"}, {"name": "b", "type": "long", "default": default}])
    columns = pa.struct([("a", pa.int32()), ("b", pa.int64())])
    with pytest.raises(Error, match=r"a default .* is not of its field's type"):
        Avro(json.dumps(written), columns, reader=json.dumps(reader), is_foreign=True)
