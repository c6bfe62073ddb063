"""What a query gives, of views as they are stored; tests/laws/test_query_laws.py asks at random."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException

from dbsp.circuits.errors import DataError, EvaluationError, ProgramError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.queries.answer import answer, columns_of
from dbsp.queries.plans import Plans
from dbsp.views.search import Indexes
from dbsp.views.view import Contents
from tests.dbsp.build import votes_program
from tests.generators.columns.zsets import zset_of

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([pa.field("k", pa.int64(), nullable=False), ("s", pa.string())])
V = Contents(
    "v",
    SCHEMA,
    [zset_of(SCHEMA, [((1, "a"), 2), ((2, None), 1)]), zset_of(SCHEMA, [((1, "a"), -1), ((3, "c"), 1)])],
)


def asked(spark: Any, select: str, views: Mapping[str, Contents] | None = None) -> Contents:
    return answer(Plans(lambda: spark, "UTC"), select, {"v": V} if views is None else views)


def test_rows_come_in_the_order_that_is_asked_for(spark: Any) -> None:
    found = asked(spark, "SELECT k, coalesce(s, '-') AS s FROM v ORDER BY k DESC")
    assert found.to_arrow().to_pylist() == [{"k": 3, "s": "c"}, {"k": 2, "s": "-"}, {"k": 1, "s": "a"}]
    assert len(found) == 3


def test_rows_are_there_as_often_as_they_are(spark: Any) -> None:
    assert asked(spark, "SELECT 1 AS one FROM v").rows() == [{"one": 1}] * 3


def test_an_answer_can_be_asked_in_turn(spark: Any) -> None:
    few = asked(spark, "SELECT k FROM v WHERE k < 3")
    assert asked(spark, "SELECT sum(k) AS n FROM few", {"few": few}).rows() == [{"n": 3}]
    # also when its rows are consolidated already
    assert len(few) == 2
    assert asked(spark, "SELECT sum(k) AS n FROM few", {"few": few}).rows() == [{"n": 3}]


def test_a_query_of_nothing(spark: Any) -> None:
    assert asked(spark, "SELECT 1 + 1 AS two", {}).rows() == [{"two": 2}]
    assert asked(spark, "VALUES (1, 'a'), (1, 'a')", {}).to_arrow().num_rows == 2
    empty = Contents("v", SCHEMA, [])
    assert asked(spark, "SELECT count(*) AS n, max(s) AS s FROM v", {"v": empty}).rows() == [
        {"n": 0, "s": None}
    ]


def test_now_is_now(spark: Any) -> None:
    for _ in range(2):  # the second time the plan is known
        (row,) = asked(spark, "SELECT now() AS t", {}).rows()
        assert timedelta() <= datetime.now(UTC) - row["t"] < timedelta(minutes=1)


def test_a_row_without_a_value_is_named(spark: Any) -> None:
    with pytest.raises(EvaluationError, match=r"view 'query': .*k=3: \[DIVIDE_BY_ZERO\]"):
        asked(spark, "SELECT 1 / (k - 3) FROM v")


def test_rows_that_are_there_less_than_never_are_said(spark: Any) -> None:
    odd = Contents("v", SCHEMA, [zset_of(SCHEMA, [((1, "a"), -1)])])
    with pytest.raises(DataError, match="-1 times"):
        asked(spark, "SELECT k FROM v", {"v": odd}).rows()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s, k FROM v ORDER BY k DESC LIMIT 3 OFFSET 2",
        "SELECT s FROM v ORDER BY s NULLS LAST, k LIMIT 4",
        "SELECT count(*) AS n, max(k) AS t FROM (SELECT k FROM v ORDER BY k LIMIT 5)",
        "SELECT k FROM v WHERE k > 3 ORDER BY k LIMIT 2",
        "SELECT a.k FROM (SELECT k FROM v ORDER BY k LIMIT 2) a JOIN v b ON a.k < b.k",
    ],
)
def test_the_first_rows_are_those_of_all_rows(spark: Any, query: str) -> None:
    rows = [((i * 7 % 20, "abc"[i % 3]), 1 + i % 2) for i in range(20)] + [((21, None), 1)]
    part = zset_of(SCHEMA, rows)
    held = Contents("v", SCHEMA, [part], chunks=[Chunk("0", 0, 0, 21)], indexes=Indexes(votes_program()))
    expected = duckdb.from_arrow(held.to_arrow()).query("v", query).to_arrow_table()
    found = asked(spark, query, {"v": held}).to_arrow()
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected.to_pylist()))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s FROM v WHERE k % 7 <> 0 ORDER BY k",
        "SELECT s FROM v ORDER BY k DESC LIMIT 3",
        "SELECT upper(s) AS u FROM v ORDER BY k % 5, k LIMIT 7 OFFSET 2",
        "SELECT s, s AS t, count(*) AS n FROM v GROUP BY s ORDER BY sum(k) DESC, s",
        "SELECT s FROM v GROUP BY s ORDER BY max(k) - min(k), min(k) LIMIT 2",
        "SELECT 1 AS one, k + 1 AS k FROM v ORDER BY v.k DESC",
        "SELECT DISTINCT s FROM v ORDER BY s DESC",
        "SELECT k FROM v WHERE s = 'a' UNION ALL SELECT 100 + k FROM v ORDER BY k DESC",
        "SELECT a.s FROM v a JOIN v b ON a.k = b.k + 1 ORDER BY b.k DESC, a.s",
        "SELECT s FROM (SELECT * FROM v ORDER BY k LIMIT 9) ORDER BY k DESC LIMIT 4",
        "WITH w AS (SELECT s, k FROM v) SELECT s FROM w ORDER BY k NULLS LAST",
    ],
)
def test_rows_come_in_the_order_of_what_isn_t_selected_too(spark: Any, query: str) -> None:
    part = zset_of(
        SCHEMA, [((i * 7 % 20, "abc"[i % 3]), 1 + (i == 4)) for i in range(20)] + [((21, None), 1)]
    )
    held = Contents("v", SCHEMA, [part], chunks=[Chunk("0", 0, 0, 21)], indexes=Indexes(votes_program()))
    database = duckdb.connect(config={"default_null_order": "nulls_first_on_asc_last_on_desc"})
    expected = database.from_arrow(held.to_arrow()).query("v", query).to_arrow_table()
    found = asked(spark, query, {"v": held})
    assert found.schema.names == expected.schema.names
    assert found.to_arrow().to_pylist() == found.rows() == expected.to_pylist()
    assert found.page(1, 2)[0].to_pylist() == expected.to_pylist()[1:3]


def test_what_isn_t_shown_is_no_column(spark: Any) -> None:
    found = asked(spark, "SELECT s FROM v ORDER BY k DESC")
    assert asked(spark, "SELECT * FROM w", {"w": found}).schema.names == ["s"]
    plans = Plans(lambda: spark, "UTC")
    assert columns_of(plans, "SELECT s FROM v ORDER BY k DESC", {"v": V.columns}).names == ["s"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k + {} AS a, k - {} AS b FROM v WHERE k <> {}",
        "SELECT k + {} AS a, count(*) AS n FROM v GROUP BY k + {}, k + {}",
        "SELECT k + {0} AS a, count(*) AS n FROM v GROUP BY ROLLUP (k + {0}, k + {1})",
        "SELECT k + {0} AS a, max(s) AS s FROM v GROUP BY k + {0}, k + {1} HAVING max(k + {2}) > {0}",
        "SELECT count(DISTINCT k + {}, k + {}) AS n, sum(k) FILTER (WHERE k > {}) AS t FROM v",
        "SELECT CASE WHEN k = {} THEN 'x' WHEN k = {} THEN 'y' WHEN k > {} THEN 'z' END AS c FROM v",
        "SELECT k FROM v WHERE k IN ({}, {}, {}) OR k + {} = {}",
        "SELECT k, lead(k, {}, {}) OVER (ORDER BY k, s) AS l FROM v ORDER BY k LIMIT {}",
    ],
)
def test_literals_that_happen_to_be_equal_mean_what_they_do_for_spark(spark: Any, query: str) -> None:
    """A plan of the same query with others may serve: never where it would mean something else."""
    frame = spark.createDataFrame(V.to_arrow())
    frame.createOrReplaceTempView("v_of_literals")
    plans = Plans(lambda: spark, "UTC")
    for values in ((1, 2, 3, 4, 5), (2, 2, 2, 2, 2), (1, 2, 1, 1, 3), (3, 1, 1, 2, 2)):
        select = query.format(*values)
        try:
            expected = spark.sql(select.replace("FROM v", "FROM v_of_literals")).toArrow().to_pylist()
        except AnalysisException:
            with pytest.raises(ProgramError):
                asked_of(plans, select)
            continue
        assert sorted(map(str, asked_of(plans, select))) == sorted(map(str, expected)), select


def asked_of(plans: Plans, select: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = answer(plans, select, {"v": V}).to_arrow().to_pylist()
    return rows
