"""Values as JSON: Python's reader reads what was written, in the one spelling of each type."""

from __future__ import annotations

import base64
import json
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.json_text import described, encode, objects, plain
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.variants.parsed import parsed
from dbsp.circuits.columns.variants.text import texts as variant_texts
from dbsp.circuits.columns.variants.type import VARIANT
from tests.effort import examples
from tests.generators.columns.zsets import TYPES, array_of, values_of


def expected(value: Any, data_type: pa.DataType) -> Any:
    """What the JSON of a value of these types reads as."""
    if value is None:
        return None
    if data_type == VARIANT:  # its spelling has a law of its own, against Spark
        return json.loads(variant_texts(pa.array([value], VARIANT))[0])
    if pa.types.is_struct(data_type):
        return {field.name: expected(value[field.name], field.type) for field in data_type}
    if pa.types.is_map(data_type):
        return [[expected(k, data_type.key_type), expected(v, data_type.item_type)] for k, v in value]
    if pa.types.is_list(data_type):
        return [expected(item, data_type.value_type) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Decimal):
        return f"{value.quantize(Decimal(1).scaleb(-data_type.scale), context=Context(prec=38)):f}"
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if data_type == MONTHS:
        return value // timedelta(seconds=1) if isinstance(value, timedelta) else value
    return value // timedelta(microseconds=1) if isinstance(value, timedelta) else value


@examples(60)
@given(st.sampled_from(TYPES), st.data())
def test_it_is_read_again(data_type: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(values_of(data_type), max_size=6))
    for ragged in range(3):
        texts = encode(array_of(values, data_type, ragged))
        assert [json.loads(text) for text in texts] == [expected(value, data_type) for value in values]
        rows = pa.record_batch(
            {'a "name"': array_of(values, data_type, ragged), "b": pa.array(range(len(values)))}
        )
        read = [json.loads(text) for text in objects(rows)]
        assert read == [{'a "name"': expected(value, data_type), "b": i} for i, value in enumerate(values)]


@pytest.mark.parametrize(
    ("value", "data_type", "text"),
    [
        (1.0, pa.float64(), "1.0"),
        (-0.0, pa.float64(), "-0.0"),
        (1e22, pa.float64(), "1e+22"),
        (Decimal("0.00"), pa.decimal128(9, 2), '"0.00"'),
        (Decimal("0.000001"), pa.decimal128(9, 6), '"0.000001"'),
        (Decimal("0.0000001"), pa.decimal128(9, 7), '"0.0000001"'),
        (Decimal("1E+5"), pa.decimal128(38, 0), '"100000"'),
        (datetime(2024, 2, 29, 10, 0, 0, 5, UTC), pa.timestamp("us", "UTC"), '"2024-02-29T10:00:00.000005Z"'),
        (datetime(1, 1, 1), pa.timestamp("us"), '"0001-01-01T00:00:00"'),
        ('a"\\\n\u2028é', pa.string(), '"a\\"\\\\\\n\u2028é"'),
        ([], pa.list_(pa.int8()), "[]"),
        ([None], pa.list_(pa.int8()), "[null]"),
        ({}, pa.struct([]), "{}"),
        ([("a", None)], pa.map_(pa.string(), pa.int8()), '[["a", null]]'),
        (None, pa.null(), "null"),
    ],
)  # fmt: skip
def test_one_spelling(value: Any, data_type: pa.DataType, text: str) -> None:
    assert encode(pa.array([value], data_type)) == [text]


def test_many_rows_are_spelled_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.record_batch({"n": pa.array(range(1000)), "t": [f"text {i}" for i in range(1000)]})
    whole = objects(rows)
    monkeypatch.setattr("dbsp.circuits.columns.forms.json_text._AT_ONCE", 1000)
    assert objects(rows) == whole
    assert objects(rows.select([])) == ["{}"] * 1000


def test_text_that_is_no_utf8_is_shown() -> None:
    assert encode(pa.array([b"a\xff"], pa.binary()).view(pa.string())) == ['"a\ufffd"']


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("null", "NULL"),
        ('"ab"', "ab"),
        ('"2024-02-29T10:00:00Z"', "2024-02-29T10:00:00Z"),
        ("12", "12"),
        ('""', '""'),
        ('"a b"', '"a b"'),
        ('"a=b"', '"a=b"'),
        ('"a,b"', '"a,b"'),
        ('"[1]"', '"[1]"'),
        ('"true"', '"true"'),
        ('"NULL"', '"NULL"'),
        ('"a\\"b"', '"a\\"b"'),
        ("true", "true"),
    ],
)
def test_no_quotes_where_nothing_can_be_mistaken(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_a_row_in_a_message() -> None:
    rows = pa.record_batch({"a": [1, None], "b": ["x", "y z"], "c": [[1], None]})
    assert described(rows, 0) == "a=1, b=x, c=[1]"
    assert described(rows, 1) == 'a=NULL, b="y z", c=NULL'
    assert described(rows, 1, (1,)) == 'b="y z"'
    assert described(rows.slice(1), 0, ()) == ""


def test_in_a_struct_that_is_null_stands_no_variant() -> None:
    data_type = pa.struct([("v", VARIANT), ("n", pa.list_(pa.struct([("v", VARIANT)])))])
    variant = dict(zip((field.name for field in VARIANT), parsed("[1]"), strict=True))
    values = [{"v": variant, "n": [{"v": variant}, None]}, None, {"v": None, "n": None}]
    told = ['{"v": [1], "n": [{"v": [1]}, null]}', "null", '{"v": null, "n": null}']
    array = pa.array(values, data_type)
    assert encode(array) == told
    assert encode(array.slice(1)) == told[1:]
