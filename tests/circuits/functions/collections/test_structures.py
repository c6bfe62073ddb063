"""Structs, arrays and maps against Spark."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.functions.evaluate import evaluate
from tests.generators.columns.interesting import interesting_rows
from tests.oracles.against_spark import AgainstSpark


def _rows() -> pa.RecordBatch:
    structs = [{"x": 1, "y": "a"}, {"x": None, "y": "b"}, None, {"x": 3, "y": None}]
    lists = [[1, 2, 3], [], None, [None, 1], [2]]
    maps = [[("a", 1), ("b", 2)], [], None, [("b", None)]]
    rows = [(s, array, m, i) for s in structs for array in lists for m in maps for i in (1, 2, -1, None)]
    kinds = [
        pa.struct([("x", pa.int32()), ("y", pa.string())]),
        pa.list_(pa.int32()),
        pa.map_(pa.string(), pa.int32()),
        pa.int32(),
    ]
    arrays = [
        pa.array(column, data_type) for column, data_type in zip(zip(*rows, strict=True), kinds, strict=True)
    ]
    # a slice, so that offsets count
    return pa.RecordBatch.from_arrays(arrays, names=["o", "a", "m", "i"]).slice(3)


@pytest.mark.spark
def test_structures(spark: Any) -> None:
    AgainstSpark(spark, _rows()).check(
        [
            "o.x", "o.y", "struct(i, o.y)", "named_struct('p', i, 'q', a)", "array(i, o.x, 5)",
            "array(array(i), a)", "size(a)", "cardinality(m)", "array_size(a)", "get(a, 0)", "get(a, i)",
            "try_element_at(a, i)", "element_at(m, 'b')", "m['a']", "m[o.y]", "try_element_at(m, o.y)",
            "array_contains(a, 1)", "array_contains(a, i)", "CASE WHEN size(a) > 2 THEN a[1] END",
            "CASE WHEN size(a) > 1 THEN element_at(a, -2) END", "struct(i, a).a", "array(o.x, i)[1]",
            "CAST(a AS ARRAY<STRING>)", "CAST(o AS STRUCT<p: BIGINT, q: STRING>)",
            "CAST(a AS ARRAY<BIGINT>)", "named_struct('k', 1).k", "array(1, 2)[0]",
            "CAST(array(o.y, 'z') AS ARRAY<STRING>)",
        ]
    )  # fmt: skip


@pytest.mark.spark
def test_failures(spark: Any) -> None:
    AgainstSpark(spark, _rows()).check_fails(
        ["a[i]", "a[5]", "element_at(a, i)", "element_at(a, i - i)", "a[-1]"]
    )


@pytest.mark.spark
def test_arrays_of_doubles(spark: Any) -> None:
    AgainstSpark(spark, interesting_rows("d")).check(
        [
            "array_contains(array(d, 1.0D), d2)",
            "array(d) = array(d2)",
            "struct(d) < struct(d2)",
            "array_contains(array(d), d)",
        ]
    )


def test_keys_are_normalised_inside() -> None:
    data_type = pa.list_(pa.struct([("x", pa.float64())]))
    column = pa.array([[{"x": 1.0}], [{"x": -0.0}, None], None, []], data_type).slice(1)
    value = evaluate(
        Call("normalize_na_n_and_zero", (Column(0, data_type),), data_type), pa.record_batch({"k": column})
    )
    assert str(value.to_pylist()) == "[[{'x': 0.0}, None], None, []]"
