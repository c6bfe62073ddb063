"""What is written is read back as it was, here and by fastavro; what a schema can't hold is refused."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.rows.avro.derived import schema_of
from dbsp.rows.avro.reading.decoder import Avro
from dbsp.rows.avro.writing.encoder import Written
from tests.dbsp.rows.avro.reading.test_decoder import LONGS, TEXTS, TIMES

LEAVES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-128, 127)),
    (pa.int64(), LONGS),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.string(), TEXTS),
    (pa.binary(), st.binary(max_size=3)),
    (pa.date32(), st.dates()),
    (TIME, st.times()),
    (pa.timestamp("us", tz="UTC"), TIMES),
    (pa.timestamp("us"), TIMES.map(lambda at: at.replace(tzinfo=None))),
    (pa.decimal128(9, 2), st.decimals("-9999999.99", "9999999.99", places=2)),
    (pa.decimal128(38, 0), st.integers(1 - 10**38, 10**38 - 1).map(Decimal)),
]


@st.composite
def types(draw: st.DrawFn, depth: int = 2) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    """A column's type, and its values, of which some within are NULL."""
    kind = draw(st.sampled_from(("leaf", "leaf", "list", "struct", "map"))) if depth else "leaf"
    if kind == "leaf":
        return draw(st.sampled_from(LEAVES))
    inside, values = draw(types(depth=depth - 1))
    if kind == "list":
        return pa.list_(inside), st.lists(st.none() | values, max_size=3)
    if kind == "map":
        return pa.map_(pa.string(), inside), st.dictionaries(TEXTS, st.none() | values, max_size=2)
    row = {"a": st.none() | values, "b": st.none() | LONGS}
    return pa.struct([("a", inside), ("b", pa.int64())]), st.fixed_dictionaries(row)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.data())
def test_what_was_written(data: st.DataObject) -> None:
    columns, values = [], {}
    for i, (type_, of_type) in enumerate(data.draw(st.lists(types(), min_size=1, max_size=3))):
        nullable = data.draw(st.booleans())
        columns.append(pa.field(f"c{i}", type_, nullable))
        values[f"c{i}"] = st.none() | of_type if nullable else of_type
    given = data.draw(st.lists(st.none() | st.fixed_dictionaries(values), max_size=4))
    cut = data.draw(st.integers(0, len(given)))
    rows = pa.array(given, pa.struct(columns))[cut:]  # of which the first aren't its own
    schema = schema_of(pa.struct(columns), "a.topic-1", "Value")
    messages = Written(schema, pa.struct(columns)).encode(rows)
    assert messages.is_null().to_pylist() == rows.is_null().to_pylist()
    there = messages.drop_null()
    found, why = Avro(schema, pa.struct(columns)).decode(there)
    assert why.null_count == len(there)
    assert found.to_pylist() == rows.drop_null().to_pylist()
    parsed = fastavro.parse_schema(json.loads(schema))
    for message, row in zip(there, rows.drop_null().to_pylist(maps_as_pydicts="strict"), strict=True):
        read = io.BytesIO(message.as_py())
        assert fastavro.schemaless_reader(read, parsed) == row
        assert not read.read()
