"""Months are integers on their way through Python, wherever they stand, and intervals again after it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.running.spark.intervals import columns_ddl, with_integers, with_intervals
from dbsp.sql.plans.schemas import Field


@pytest.mark.spark
def test_there_and_back(spark: Any) -> None:
    years = "INTERVAL '1-2' YEAR TO MONTH"
    given = spark.sql(
        f"SELECT {years} AS i, array({years}, NULL) AS l, struct(1 AS n, {years} AS m) AS s, "
        f"map('k', {years}) AS p, 'x' AS t"
    )
    integers = with_integers(given)
    (row,) = integers.collect()
    assert row.asDict(recursive=True) == {
        "i": 14,
        "l": [14, None],
        "s": {"n": 1, "m": 14},
        "p": {"k": 14},
        "t": "x",
    }
    struct = pa.struct([("n", pa.int32()), ("m", MONTHS)])
    types = [MONTHS, pa.list_(MONTHS), struct, pa.map_(pa.string(), MONTHS), pa.string()]
    back = with_intervals(integers, types)
    texts = [f"CAST({name} AS STRING)" for name in given.columns]
    assert back.selectExpr(*texts).collect() == given.selectExpr(*texts).collect()


def test_columns_as_spark_s_schema_strings() -> None:
    columns = [Field("a`b", pa.int64()), Field("c", pa.list_(pa.decimal128(9, 2)))]
    assert columns_ddl(columns) == "`a``b` bigint, `c` array<decimal(9,2)>"
