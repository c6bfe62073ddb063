"""Messages of several schemas in one batch: each is read by the one that it names."""

from __future__ import annotations

import json
import struct
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError, Error
from dbsp.rows import registry
from dbsp.rows.avro.reading.framed import Framed, framed
from dbsp.rows.registry import Registry, Stored
from tests.dbsp.rows.avro.reading.test_decoder import encoded

ROW = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
WIDER = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "b", "type": ["null", "string"]}, {"name": "a", "type": "long"}],
}
OTHER = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]}
USING = {"type": "record", "name": "S", "fields": [{"name": "a", "type": "int"}, {"name": "r", "type": "R"}]}
SCHEMAS = {
    1: Stored(json.dumps(ROW)),
    2: Stored(json.dumps(WIDER)),
    3: Stored(json.dumps(OTHER)),
    4: Stored(json.dumps(USING), (json.dumps(ROW),)),
    5: Stored("{"),
}
COLUMNS = pa.struct([("a", pa.int64()), ("b", pa.string())])


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Registry:
    def stored(_: Registry, number: int) -> Stored:
        if number not in SCHEMAS:
            raise DataError(f"there is no schema {number}")
        if number == 5 and not SCHEMAS[5].text:
            raise Error("gone")
        return SCHEMAS[number]

    monkeypatch.setattr(registry, "_stored", stored)
    return Registry("http://host")


def message(number: int, schema: Any, row: Any) -> bytes:
    return framed(number) + encoded(schema, [row])[0]


def test_of_several_schemas(known: Registry) -> None:
    values = [
        message(1, ROW, {"a": 1}),
        message(2, WIDER, {"a": 2, "b": "x"}),
        b"",
        message(3, OTHER, {"a": "y"}),
        message(1, ROW, {"a": 3}) + b"z",
        struct.pack(">bI", 1, 1) + b"\x02",
        message(
            4, {**USING, "fields": [USING["fields"][0], {"name": "r", "type": ROW}]}, {"a": 4, "r": {"a": 9}}
        ),
        message(9, ROW, {"a": 1}),
        message(5, ROW, {"a": 1}),
        message(1, ROW, {"a": 5}),
    ]
    found, why = Framed(known, COLUMNS).decode(pa.array(values, pa.binary()))
    good = [(1, None), (2, "x"), None, None, None, None, (4, None), None, None, (5, None)]
    assert [row and (row["a"], row["b"]) for row in found.to_pylist()] == good
    framing = "it has no schema's number: a byte 0, then four of it"
    said = {2: framing, 3: "field 'a' is a string, which is no BIGINT", 5: framing, 7: "there is no schema 9"}
    said |= {
        4: "it goes on behind its last field",
        8: "schema 5 of the registry: the Avro schema can't be read",
    }
    for i, reason in enumerate(why.to_pylist()):
        assert reason.startswith(said[i]) if i in said else reason is None


def test_one_schema_of_a_slice(known: Registry) -> None:
    """The messages' bytes begin somewhere in a buffer."""
    values = pa.array([message(1, ROW, {"a": i}) for i in range(5)], pa.binary())[2:4]
    assert [row["a"] for row in Framed(known, COLUMNS).decode(values)[0].to_pylist()] == [2, 3]
    assert len(Framed(known, COLUMNS).decode(values[:0])[0]) == 0


def test_the_readers_own_schema(known: Registry) -> None:
    fields = [{"name": "a", "type": "long"}, {"name": "b", "type": "string", "default": "none"}]
    reader = json.dumps({"type": "record", "name": "R", "fields": fields})
    values = pa.array([message(1, ROW, {"a": 1}), message(2, WIDER, {"a": 2, "b": "x"})], pa.binary())
    found, _ = Framed(known, COLUMNS, reader).decode(values)
    assert found.to_pylist() == [{"a": 1, "b": "none"}, {"a": 2, "b": "x"}]
    with pytest.raises(Error, match="no field 'c'; fields: a, b"):
        Framed(known, pa.struct([("c", pa.int32())]), reader)


def test_a_registry_that_is_gone_is_no_bad_message(known: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> Stored:
        raise Error("the schema registry http://host doesn't answer")

    monkeypatch.setattr(registry, "_stored", gone)
    columns = pa.struct([("a", pa.int16())])  # that nobody has resolved yet
    with pytest.raises(Error, match="doesn't answer"):
        Framed(known, columns).decode(pa.array([message(1, ROW, {"a": 1})], pa.binary()))
