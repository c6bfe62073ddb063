"""The demo's check must be able to fail: multiplicities, NULLs, NaN and rounding are told apart."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from benchmarks.recompute import differences, views

pytestmark = pytest.mark.spark

EXACT = pa.schema({"k": pa.int64(), "s": pa.string()})
ROUNDED = pa.schema({"k": pa.int64(), "x": pa.float64()})


def relation(spark, rows, schema):
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return spark.createDataFrame(pa.table(columns, schema=schema))


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ([(1, "a"), (1, "a"), (None, None)], [(None, None), (1, "a"), (1, "a")], 0),
        ([(1, "a"), (1, "a")], [(1, "a")], 1),
        ([(1, "a")], [(1, None)], 2),
        ([], [(1, "a")], 1),
    ],
)
def test_exact_columns(spark, one, other, count):
    assert differences(relation(spark, one, EXACT), relation(spark, other, EXACT)) == count


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ([(1, 0.1 + 0.2), (None, None)], [(1, 0.3), (None, None)], True),
        ([(1, math.nan), (1, math.inf), (2, 0.0)], [(1, math.inf), (1, math.nan), (2, -0.0)], True),
        ([(1, 0.3)], [(1, 0.3001)], False),
        ([(1, 0.3)], [(1, None)], False),
        ([(1, 0.3), (1, 0.3)], [(1, 0.3)], False),
        ([(1, 0.3)], [(2, 0.3)], False),
        ([(1, math.inf)], [(1, -math.inf)], False),
        ([(1, math.nan)], [(1, 1.0)], False),
    ],
)
def test_rounded_columns(spark, one, other, equal):
    found = differences(relation(spark, one, ROUNDED), relation(spark, other, ROUNDED))
    assert (found == 0) == equal


def test_views_of_views_and_renamed_columns(spark):
    text = """
    CREATE TABLE t (k BIGINT);
    CREATE LOCAL VIEW big AS SELECT k FROM t WHERE k > ${LEAST};
    CREATE VIEW twice (double_k) AS SELECT 2 * k FROM big;
    """
    outputs = views(spark, text, {"t": spark.sql("VALUES (1L), (5L) AS t(k)")}, {"LEAST": "3"})
    assert {name: rows.collect() for name, rows in outputs.items()} == {"twice": [(10,)]}
