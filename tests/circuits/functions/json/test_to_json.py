"""TO_JSON: Python's reader reads the values again; NULL fields are left out, of a list they stay."""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.functions.library import find
from tests.circuits.functions.calling import call, called

NOON = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
NAME = "static_invoke.StructsToJsonEvaluator.evaluate"
INNER = pa.struct([("x", pa.int32()), ("y", pa.map_(pa.string(), pa.float64()))])
RECORD = pa.struct([("a", pa.int64()), ("b", pa.string()), ("c", pa.list_(INNER)), ("t", pa.bool_())])
CHARACTERS = 'ab /"\\\n\x01\x7f\u2028é日😀'
text = st.one_of(st.none(), st.text(st.sampled_from(CHARACTERS), max_size=4))
number = st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1))
double = st.one_of(st.none(), st.floats())
maps = st.one_of(st.none(), st.dictionaries(st.sampled_from(["p", 'q"']), double, max_size=2))
inner = st.one_of(st.none(), st.fixed_dictionaries({"x": number, "y": maps}))
records = st.one_of(
    st.none(),
    st.fixed_dictionaries({
        "a": number, "b": text, "c": st.one_of(st.none(), st.lists(inner, max_size=3)),
        "t": st.one_of(st.none(), st.booleans()),
    }),
)  # fmt: skip


def to_json(values: list[Any], data_type: pa.DataType, **options: str) -> list[Any]:
    return called(
        NAME, pa.string(), pa.array(values, data_type), timeZoneId="UTC", options=tuple(options.items())
    )


def expected(value: Any, with_nulls: bool) -> Any:
    if isinstance(value, dict) and set(value) <= {"p", 'q"'}:
        return {name: expected(item, with_nulls) for name, item in value.items()}
    if isinstance(value, dict):
        return {
            name: expected(item, with_nulls) for name, item in value.items() if with_nulls or item is not None
        }
    if isinstance(value, list):
        return [expected(item, with_nulls) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


@given(st.lists(records, max_size=4), st.booleans())
def test_records(listed: list[Any], with_nulls: bool) -> None:
    stored = [_stored(record) for record in listed]
    found = to_json(stored, RECORD, ignoreNullFields=str(not with_nulls).lower())
    assert [None if one is None else json.loads(one) for one in found] == [
        expected(r, with_nulls) for r in listed
    ]
    assert all(one is None or "\n" not in one for one in found)


def _stored(record: Any) -> Any:
    """With maps as lists of pairs."""
    if record is None or record["c"] is None:
        return record
    elements = [
        one and {**one, "y": None if one["y"] is None else list(one["y"].items())} for one in record["c"]
    ]
    return {**record, "c": elements}


@pytest.mark.parametrize(
    ("value", "data_type", "shown"),
    [
        (Decimal("1.50"), pa.decimal128(5, 2), "1.50"),
        (1e7, pa.float64(), "1.0E7"),
        (0.1, pa.float32(), "0.1"),
        (dt.date(2024, 2, 29), pa.date32(), '"2024-02-29"'),
        (NOON, pa.timestamp("us", "UTC"), '"2024-02-29T12:00:00.000Z"'),
        (dt.datetime(2024, 2, 29, 10, 0, 0, 123456), pa.timestamp("us"), '"2024-02-29T10:00:00.123"'),
        (b"\x00\xff", pa.binary(), f'"{base64.b64encode(bytes([0, 255])).decode()}"'),
        ("\u2028\x01", pa.string(), '"\u2028\\u0001"'),
    ],
)  # fmt: skip
def test_spelling(value: Any, data_type: pa.DataType, shown: str) -> None:
    assert to_json([{"v": value}], pa.struct([("v", data_type)])) == [f'{{"v":{shown}}}']


def test_nothing_and_empty_ones() -> None:
    one = pa.struct([("v", pa.int32())])
    assert to_json([{"v": None}, None], one) == ["{}", None]
    assert to_json([[], [None], None], pa.list_(one)) == ["[]", "[null]", None]
    assert to_json([[], [("a", None)]], pa.map_(pa.string(), pa.int32())) == ["{}", '{"a":null}']


@pytest.mark.parametrize(
    ("data_type", "options", "said"),
    [
        (INNER, (("pretty", "true"),), "the option pretty => true"),
        (INNER, (("ignoreNullFields", "no"),), "the option ignoreNullFields => no"),
        (pa.map_(pa.float64(), pa.int32()), (), "keys of type DOUBLE"),
        (pa.struct([("m", MONTHS)]), (), "values of type INTERVAL YEAR TO MONTH"),
        (INNER, (("IGNORENULLFIELDS", "False"),), None),
    ],
)
def test_what_is_refused(
    data_type: pa.DataType, options: tuple[tuple[str, str], ...], said: str | None
) -> None:
    function = find(NAME)
    assert function is not None
    assert function.refuse(call(NAME, pa.string(), pa.array([], data_type), options=options)) == said
