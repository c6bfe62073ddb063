"""What fastavro's writer encodes is decoded to the same rows; whatever else is bytes is refused, alone."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.circuits.errors import Error
from dbsp.rows.avro.reading.decoder import Avro

POINT = {"type": "record", "name": "Point", "fields": [{"name": "x", "type": ["null", "int"]}]}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
TIMES = st.datetimes(datetime(1901, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC))
LONGS, TEXTS = st.integers(-(2**63), 2**63 - 1), st.text(max_size=3)
# Avro's type, Arrow's, values
TYPES: list[tuple[Any, pa.DataType, st.SearchStrategy[Any]]] = [
    ("boolean", pa.bool_(), st.booleans()),
    ("int", pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    ("int", pa.int64(), st.integers(-(2**31), 2**31 - 1)),
    ("long", pa.int64(), LONGS),
    ("float", pa.float32(), st.floats(width=32, allow_nan=False)),
    ("double", pa.float64(), st.floats(allow_nan=False)),
    ("string", pa.string(), TEXTS),
    ("bytes", pa.binary(), st.binary(max_size=3)),
    ({"type": "int", "logicalType": "date"}, pa.date32(), st.dates(date(1800, 1, 1))),
    ({"type": "long", "logicalType": "time-micros"}, TIME, st.times()),
    (
        {"type": "int", "logicalType": "time-millis"},
        TIME,
        st.times().map(lambda at: at.replace(microsecond=0)),
    ),
    ({"type": "long", "logicalType": "timestamp-micros"}, pa.timestamp("us", tz="UTC"), TIMES),
    (
        {"type": "long", "logicalType": "timestamp-millis"},
        pa.timestamp("us", tz="UTC"),
        TIMES.map(lambda at: at - timedelta(microseconds=at.microsecond % 1000)),
    ),
    (DECIMAL, pa.decimal128(9, 2), st.decimals("-9999999.99", "9999999.99", places=2)),
    ({"type": "string", "logicalType": "uuid"}, pa.string(), st.uuids().map(str)),
    ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, pa.string(), st.sampled_from("AB")),
    (
        POINT,
        pa.struct([("x", pa.int32())]),
        st.fixed_dictionaries({"x": st.none() | st.integers(0, 3)}),
    ),
    (
        {"type": "array", "items": ["null", "long"]},
        pa.list_(pa.int64()),
        st.lists(st.none() | LONGS, max_size=3),
    ),
    (
        {"type": "map", "values": "long"},
        pa.map_(pa.string(), pa.int64()),
        st.dictionaries(TEXTS, LONGS, max_size=2),
    ),
]


def encoded(schema: Any, rows: list[Any]) -> list[bytes]:
    parsed, messages = fastavro.parse_schema(schema), []
    for row in rows:
        written = io.BytesIO()
        fastavro.schemaless_writer(written, parsed, row)
        messages.append(written.getvalue())
    return messages


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_was_encoded(data: st.DataObject) -> None:
    drawn = data.draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=4, unique_by=lambda t: str(t[0])))
    fields, columns, values = [], [], {}
    for i, (avro, arrow, of_type) in enumerate(drawn):
        nullable = data.draw(st.booleans())
        fields.append({"name": f"c{i}", "type": ["null", avro] if nullable else avro})
        columns.append((f"c{i}", arrow))
        values[f"c{i}"] = st.none() | of_type if nullable else of_type
    rows = data.draw(st.lists(st.fixed_dictionaries(values), max_size=5))
    schema = {"type": "record", "name": "R", "fields": fields}
    columns = data.draw(st.permutations(columns))
    decoder = Avro(json.dumps(schema), pa.struct(columns))
    found, why = decoder.decode(pa.array(encoded(schema, rows), pa.binary()))
    assert why.null_count == len(rows), why
    assert found.to_pylist(maps_as_pydicts="strict") == [
        {name: row[name] for name, _ in columns} for row in rows
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 30), st.sampled_from(["cut", "longer"]))
def test_a_message_of_another_length_is_refused_wherever_it_is(at: int, how: str) -> None:
    """Were it not, the messages behind it would be read at the wrong place."""
    schema = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}],
    }
    messages = encoded(schema, [{"a": i, "b": "x" * (i % 4)} for i in range(31)])
    messages[at] = messages[at][:-1] if how == "cut" else messages[at] + b"\0"
    decoder = Avro(json.dumps(schema), pa.struct([("a", pa.int64())]))
    found, why = decoder.decode(pa.array(messages, pa.binary()))
    assert [row and row["a"] for row in found.to_pylist()] == [None if i == at else i for i in range(31)]
    said = {"cut": "it ends too early", "longer": "it goes on behind its last field"}[how]
    assert why.to_pylist() == [said if i == at else None for i in range(31)]


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ("{", "can't be read"),
        ('{"type": "string"}', "of no record"),
        (
            '{"type": "record", "name": "R", "fields": [{"name": "b", "type": "int"}]}',
            "no field 'a'; fields: b",
        ),
        ('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "no"}]}', "can't be read"),
    ],
)
def test_a_schema_without_the_columns(schema: str, error: str) -> None:
    with pytest.raises(Error, match=error):
        Avro(schema, pa.struct([("a", pa.int32())]))


@pytest.mark.parametrize(
    "inside",
    [
        POINT,
        ["null", POINT],
        {"type": "array", "items": ["null", POINT]},
        {"type": "map", "values": POINT},
    ],
)
def test_a_field_inside_that_is_not_there_is_said(inside: Any) -> None:
    """It would be NULL in every row."""
    fields = [{"name": "p", "type": inside}, {"name": "q", "type": "Point"}]
    schema = json.dumps({"type": "record", "name": "R", "fields": fields})

    def declared(of: pa.DataType) -> pa.DataType:
        shape = inside[1] if isinstance(inside, list) else inside
        of_kind = {"array": pa.list_(of), "map": pa.map_(pa.string(), of)}
        return of_kind.get(shape["type"], of)

    right, wrong = (pa.struct([(name, pa.int32())]) for name in "xy")
    Avro(schema, pa.struct([("p", declared(right)), ("q", right)]))
    with pytest.raises(Error, match=r"no field 'p\.y'; fields: x"):
        Avro(schema, pa.struct([("p", declared(wrong))]))
    with pytest.raises(Error, match=r"no field 'q\.y'; fields: x"):
        Avro(schema, pa.struct([("q", wrong)]))
