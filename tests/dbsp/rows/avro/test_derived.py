"""The schema of columns: fastavro takes it, and it says what they are."""

from __future__ import annotations

import json

import fastavro
import pyarrow as pa
import pytest

from dbsp.rows.avro.derived import Unspelled, envelope_schema, schema_of

INSIDE = pa.struct([("x", pa.list_(pa.struct([("y", pa.int8())])))])
COLUMNS = pa.struct(
    [pa.field("id", pa.int64(), False), ("at", pa.timestamp("us", tz="UTC")), ("a", INSIDE), ("b", INSIDE)]
)


def test_what_is_derived() -> None:
    found = json.loads(schema_of(COLUMNS, "my-shop.sale.2", "Value"))
    fastavro.parse_schema(found)
    assert found["name"] == "my_shop.sale._2.Value"
    assert found["fields"][:2] == [
        {"name": "id", "type": "long"},
        {
            "name": "at",
            "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}],
            "default": None,
        },
    ]


def test_envelopes() -> None:
    found = json.loads(envelope_schema(COLUMNS, "..."))
    fastavro.parse_schema(found)
    assert [field["name"] for field in found["fields"]] == ["before", "after", "op"]
    assert found["fields"][1]["type"] == ["null", "_.Value"]


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (pa.field("a b", pa.int32()), "column 'a b': a name in Avro has letters"),
        (pa.field("a", pa.list_(pa.duration("us"))), "column 'a': avro is given no such values"),
        (pa.field("a", pa.map_(pa.int32(), pa.int32())), "column 'a': the keys of a map in Avro are text"),
        (pa.field("a", pa.struct([("é", pa.int32())])), "column 'a': a name in Avro has letters"),
    ],
)
def test_what_has_no_schema(column: pa.Field, why: str) -> None:
    with pytest.raises(Unspelled, match=why):
        schema_of(pa.struct([column]), "t", "Value")
