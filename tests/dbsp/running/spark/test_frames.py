"""Rows as DataFrames and back, of the types that Arrow or Spark's own way have no values for."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.variants.parsed import parsed
from dbsp.circuits.columns.variants.type import VARIANT
from dbsp.running.spark.frames import of_rows, to_arrow, to_frame

pytestmark = pytest.mark.spark


def inside(text: str) -> dict[str, bytes]:
    return dict(zip((field.name for field in VARIANT), parsed(text), strict=True))


def test_there_and_back(spark: Any) -> None:
    variants = [inside('{"a": [1, null]}'), None, inside("null")]
    both = pa.struct([("v", VARIANT), ("m", MONTHS)])
    rows = pa.record_batch(
        {
            "v": pa.array(variants, VARIANT),
            "l": pa.array([variants, None, []], pa.list_(VARIANT)),
            "s": pa.array([{"v": one, "m": 14} for one in variants], both),
            "m": pa.array([3, None, 4], MONTHS),
            "i": pa.array([1, 2, 3], pa.int64()),
        }
    )
    frame = to_frame(spark, rows)
    assert [kind for _, kind in frame.dtypes][:2] == ["variant", "array<variant>"]
    texts = frame.selectExpr(
        "to_json(v)", "v IS NULL", "to_json(get(l, 0))", "to_json(s.v)", "CAST(m AS INT)"
    ).collect()
    assert list(map(tuple, texts)) == [
        ('{"a":[1,null]}', False, '{"a":[1,null]}', '{"a":[1,null]}', 3),
        (None, True, None, None, None),
        ("null", False, None, "null", 4),
    ]
    back = to_arrow(frame)
    assert back.schema.names == rows.schema.names
    assert back.column("v").type == VARIANT
    assert back.select(["v", "l", "i"]).to_pylist() == pa.table(rows).select(["v", "l", "i"]).to_pylist()
    assert back.column("s").to_pylist() == [{"v": one, "m": 14} for one in variants]


def test_a_time_without_a_zone_stays_one(spark: Any) -> None:
    local, moment = pa.timestamp("us"), datetime(2024, 3, 31, 2, 30)
    rows = pa.record_batch(
        {"l": pa.array([moment, None], local), "s": pa.array([[moment], []], pa.list_(local))}
    )
    frame = to_frame(spark, rows)
    assert frame.dtypes == [("l", "timestamp_ntz"), ("s", "array<timestamp_ntz>")]
    assert to_arrow(frame).to_pylist() == rows.to_pylist()


def test_a_plan_of_rows_says_nothing_of_what_makes_them(spark: Any) -> None:
    rows = pa.record_batch({"v": pa.array([inside("[1]"), None], VARIANT)})
    frame = to_frame(spark, rows)
    alone = of_rows(frame)
    assert "MapInArrow" in frame._jdf.queryExecution().analyzed().toString()
    assert "MapInArrow" not in alone._jdf.queryExecution().analyzed().toString()
    assert alone.schema == frame.schema and to_arrow(alone) == to_arrow(frame)


def test_columns_of_one_name(spark: Any) -> None:
    found = to_arrow(spark.sql("SELECT parse_json('1') AS a, 2 AS a"))
    assert found.schema.names == ["a", "a"]
    assert found.column(0).to_pylist() == [inside("1")]


def test_others_are_as_spark_has_them(spark: Any) -> None:
    rows = pa.record_batch({"a": pa.array([1, None]), "m": pa.array([5, 7], MONTHS)})
    assert to_arrow(to_frame(spark, rows)).to_pylist() == [{"a": 1, "m": 5}, {"a": None, "m": 7}]


def test_a_struct_that_is_null_has_fields_that_never_are(spark: Any) -> None:
    """As of a join without a partner; in lists and maps, too, beside a VARIANT and columns of one name."""
    query = (
        "SELECT t.k, q.s, q.l AS s, map('a', q.s) AS m FROM VALUES (1), (2) AS t(k) "
        "LEFT JOIN (SELECT 1 AS k, struct(1 AS x, struct('b' AS z) AS y) AS s, "
        "array(struct(2 AS x), NULL) AS l) q "
        "ON t.k = q.k ORDER BY t.k"
    )
    there, nothing = {"x": 1, "y": {"z": "b"}}, None
    table = to_arrow(spark.sql(query))
    assert table.column_names == ["k", "s", "s", "m"]
    assert [column.to_pylist() for column in table.columns] == [
        [1, 2],
        [there, nothing],
        [[{"x": 2}, None], None],
        [[("a", there)], [("a", nothing)]],
    ]
    with_variant = to_arrow(
        spark.sql(f"SELECT *, parse_json('1') AS v FROM ({query.replace('AS s, map', 'AS l, map')})")
    )
    assert with_variant.column("s").to_pylist() == [there, nothing]
