"""IF, CASE and COALESCE: Spark's values, and errors only from branches that are taken."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.columns.interesting import interesting_rows
from tests.oracles.against_spark import AgainstSpark


@pytest.mark.spark
def test_conditionals(spark: Any) -> None:
    AgainstSpark(spark, interesting_rows("b", "i32", "i64", "s", "d", "m", "ts", "i8")).check(
        [
            "if(b, i32, i322)", "if(b, NULL, s)", "CASE WHEN b THEN s WHEN b2 THEN s2 END",
            "CASE WHEN i32 > 0 THEN 'p' WHEN i32 < 0 THEN 'n' ELSE 'z' END",
            "CASE i32 WHEN 1 THEN 'one' WHEN NULL THEN 'null' ELSE s END",
            "CASE WHEN i32 <> 0 THEN 100 DIV i32 ELSE -1 END", "if(i32 = 0, NULL, 100 % i32)",
            "CASE WHEN i32 = 0 THEN 0 WHEN 10 DIV i32 > 1 THEN 1 ELSE 2 END",
            "CASE WHEN b THEN 1 DIV CAST(b AS INT) ELSE 7 END",
            "CASE WHEN i32 > 2000000000 OR i32 < -2000000000 THEN NULL ELSE i32 * 10L END",
            "coalesce(i32, i322, 0)", "coalesce(s, s2)",
            "coalesce(nullif(i32, i32), 10 DIV nullif(i32, 0), 5)",
            "coalesce(i32, CAST(CASE WHEN i32 IS NULL THEN '7' ELSE 'x' END AS INT))",
            "nanvl(d, 10 / nullif(d2, 0))", "ifnull(m, m2)", "nvl(ts, ts2)", "nvl2(i32, s, s2)",
            "nullif(s, s2)", "CASE WHEN b IS NULL THEN array(i32) ELSE array(1, 2) END",
            "if(b, named_struct('p', i32, 'q', s), named_struct('p', 1, 'q', 'x'))",
            "coalesce(if(b, array(i32), NULL), array())", "if(b, m, 1)", "CASE WHEN b THEN d ELSE m END",
            "if(b2, try_divide(i32, i322), CAST(i64 AS DOUBLE))", "b OR CAST(if(b, 'x', '1') AS INT) = 1",
        ]
    )  # fmt: skip


@pytest.mark.spark
def test_failures_of_taken_branches(spark: Any) -> None:
    AgainstSpark(spark, interesting_rows("b", "i32")).check_fails(
        [
            "if(b, i32 DIV 0, 1)",
            "CASE WHEN b THEN 1 ELSE i32 % 0 END",
            "coalesce(nullif(i32, i32), 1 DIV (i32 - i32))",
        ]
    )
