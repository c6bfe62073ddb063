"""Rows in JSON: the fewest digits of a FLOAT, which read as it again; and no column that readers lose."""

from __future__ import annotations

import json
import math
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import DataError
from dbsp.rows.json_values import decode, json_value
from dbsp.rows.literals import array_of
from dbsp.views.shown import objects_of, shown

FLOAT = pa.float32()
BY_BITS = st.binary(min_size=4, max_size=4).map(lambda four: struct.unpack("<f", four)[0])


@given(st.lists(st.one_of(BY_BITS, st.sampled_from([0.1, -0.0, 1e-45, 3.4028235e38, 16777216.0]))))
def test_what_is_shown_reads_as_the_same_float(values: list[float]) -> None:
    rows = pa.record_batch({"f": pa.array(values, FLOAT)})
    read = [decode(json_value(row)["f"], FLOAT) for row in objects_of(rows)]
    again = array_of(read, FLOAT)
    kept = [struct.pack("<f", math.nan if math.isnan(one) else one) for one in rows.column(0).to_pylist()]
    assert [struct.pack("<f", math.nan if math.isnan(one) else one) for one in again.to_pylist()] == kept


def test_digits_are_the_fewest_wherever_a_float_is() -> None:
    types = {
        "f": FLOAT,
        "l": pa.list_(FLOAT),
        "s": pa.struct([("x", FLOAT), ("d", pa.float64())]),
        "m": pa.map_(FLOAT, pa.list_(FLOAT)),
        "d": pa.float64(),
    }
    values = {
        "f": [0.1, None, 1e20, math.nan],
        "l": [[0.1, None], None, [], [0.2]],
        "s": [{"x": 0.3, "d": 0.1}, None, {"x": None, "d": None}, {"x": 1.0, "d": 1e-7}],
        "m": [[(0.1, [0.7])], None, [], [(0.2, None)]],
        "d": [0.1, None, 0.10000000149011612, 1.0],
    }
    rows = pa.record_batch({name: pa.array(values[name], type_) for name, type_ in types.items()})
    told = [
        {"f": 0.1, "l": [0.1, None], "s": {"x": 0.3, "d": 0.1}, "m": [[0.1, [0.7]]], "d": 0.1},
        {"f": None, "l": None, "s": None, "m": None, "d": None},
        {"f": 1e20, "l": [], "s": {"x": None, "d": None}, "m": [], "d": 0.10000000149011612},
        {"f": "NaN", "l": [0.2], "s": {"x": 1.0, "d": 1e-7}, "m": [[0.2, None]], "d": 1.0},
    ]
    assert list(map(json.loads, objects_of(rows))) == told
    assert list(map(json.loads, objects_of(rows.slice(1, 2)))) == told[1:3]
    without = pa.record_batch({"d": pa.array([0.1])})
    assert shown(without) is without


def test_columns_of_one_name_are_no_object() -> None:
    rows = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "b", "a"])
    with pytest.raises(DataError, match=r"of which several are named 'a'.*SELECT .* AS .*; or else"):
        objects_of(rows, "; or else")
