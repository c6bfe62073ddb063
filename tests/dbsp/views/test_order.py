"""A view is shown in the order of its ORDER BY, as Spark has it, and then of its rows, whatever shows it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import ProgramError
from dbsp.commands.shown.text_table import text_table, view_tables
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program
from tests.effort import examples

pytestmark = pytest.mark.spark

COLUMNS = "a BIGINT, b STRING, x DOUBLE, d DECIMAL(9, 2), s STRUCT<p: INT, q: STRING>, l ARRAY<INT>"
# (query, ORDER BY, all columns): columns, expressions of them, names, what Catalyst hides in a Project
ORDERED = [
    ("SELECT * FROM t", "a, b DESC", "a, b, x, d, s, l"),
    ("SELECT * FROM t", "x DESC NULLS FIRST, d NULLS LAST", "a, b, x, d, s, l"),
    ("SELECT * FROM t", "s DESC, l", "a, b, x, d, s, l"),
    ("SELECT * FROM t", "l DESC NULLS LAST, s.q", "a, b, x, d, s, l"),
    ("SELECT x, b FROM t", "ALL DESC", ""),
    ("SELECT a AS k, a * 2 AS twice, b FROM t", "a * 2 DESC, upper(b)", "k, twice, b"),
    ("SELECT b, a FROM t", "CASE b WHEN 'b' THEN 0 ELSE 1 END, 2 DESC", "b, a"),
    ("SELECT b, count(*) AS n, max(a) AS m FROM t GROUP BY b", "count(*) DESC, max(a)", "b, n, m"),
    ("SELECT DISTINCT a, b FROM t", "b DESC, a DESC NULLS LAST", "a, b"),
    ("SELECT a, b FROM t UNION ALL SELECT 1, b FROM t", "b, a DESC", "a, b"),
]
ROW = st.tuples(
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([None, "", "a", "b", "é"]),
    st.sampled_from([None, 0.0, -1.5, float("nan"), float("inf")]),
    st.sampled_from([None, Decimal("1.50"), Decimal("-2.00")]),
    st.sampled_from([None, {"p": 1, "q": None}, {"p": None, "q": "z"}, {"p": 1, "q": "a"}]),
    st.sampled_from([None, [], [1], [None, 2], [1, 0]]),
)


@pytest.fixture(scope="module")
def program(spark: Any) -> Program:
    views = "".join(f"CREATE VIEW v{i} AS {q} ORDER BY {by};" for i, (q, by, _) in enumerate(ORDERED))
    tables = f"CREATE TABLE t ({COLUMNS}); CREATE VIEW t_now AS SELECT * FROM t;"
    return compile_program(tables + views, session=spark)


@examples(3)
@given(rows=st.lists(ROW, min_size=1, max_size=25))
def test_all_that_shows_a_view_has_its_order_and_spark_the_same(
    spark: Any, program: Program, rows: list[Any]
) -> None:
    with Pipeline(program, runner="inline", spark=spark) as pipeline:
        for part in (rows[::2], rows[1::2]):
            pipeline.insert("t", [dict(zip("abxdsl", row, strict=True)) for row in part])
            changes = pipeline.step()
        pipeline["t_now"].to_spark().createOrReplaceTempView("t")
        printed = "\n".join(view_tables(pipeline, changes))
        for i, (query, by, columns) in enumerate(ORDERED):
            contents = pipeline[f"v{i}"]
            expected = spark.sql(f"{query} ORDER BY {by}{', ' * bool(columns)}{columns}")
            assert repr(contents.to_spark().collect()) == repr(expected.collect()), f"{query} ORDER BY {by}"
            assert repr(contents.to_arrow().to_pylist()) == repr(contents.rows())
            if f": v{i}" in printed:
                first = contents.to_arrow().slice(0, 20).combine_chunks().to_batches()[0]
                assert "\n".join(text_table(first)) in printed


def test_a_query_over_the_state_finds_the_views_order(spark: Any, tmp_path: Any) -> None:
    text = "CREATE TABLE t (a INT, b STRING); CREATE VIEW v AS SELECT * FROM t ORDER BY b DESC, a;"
    program = compile_program(text, session=spark)
    with Pipeline(program, state=tmp_path / "state", runner="inline", spark=spark) as pipeline:
        pipeline.insert("t", [{"a": i % 7, "b": "xyz"[i % 3]} for i in range(40)])
        pipeline.step()
        expected = [tuple(row.values()) for row in pipeline["v"].rows()]
        assert expected == sorted(expected, key=lambda row: (-ord(row[1]), row[0]))
        pipeline["v"].to_spark().createOrReplaceTempView("v")
        assert [tuple(row) for row in spark.sql("SELECT * FROM v").collect()] == expected
        assert [tuple(row.values()) for row in pipeline["v"].to_pandas().to_dict("records")] == expected


def test_changes_are_sets_and_stay_in_the_order_of_rows(spark: Any) -> None:
    program = compile_program(
        "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t ORDER BY a DESC;", session=spark
    )
    with Pipeline(program, runner="inline") as pipeline:
        pipeline.insert("t", [{"a": a} for a in (2, 3, 1)])
        assert [row["a"] for row, _ in pipeline.step()["v"].rows()] == [1, 2, 3]
        assert [row["a"] for row in pipeline["v"].rows()] == [3, 2, 1]


REFUSED = [
    ("CREATE VIEW v AS SELECT a FROM t ORDER BY a, b;", "2:46: ORDER BY what the query doesn't select"),
    ("CREATE VIEW v AS SELECT a FROM t ORDER BY (SELECT max(b) FROM t), a;", "2:43: ORDER BY what"),
    ("INSERT INTO o SELECT a FROM t ORDER BY a;", "2:40: an INSERT writes rows when they change"),
]


@pytest.mark.parametrize(("statement", "message"), REFUSED)
def test_what_cannot_be_honoured_is_said(spark: Any, statement: str, message: str) -> None:
    sink = "CREATE TABLE o (a INT) USING json OPTIONS (path 'x');" if "INSERT" in statement else ""
    with pytest.raises(ProgramError) as error:
        compile_program(f"CREATE TABLE t (a INT, b INT);{sink}\n{statement}", session=spark)
    assert message in str(error.value)


def test_beside_limit_an_order_says_which_rows_there_are(spark: Any) -> None:
    text = "CREATE TABLE t (a INT, b INT); CREATE VIEW v AS SELECT a FROM t ORDER BY a % 2 DESC, b LIMIT 2;"
    with Pipeline(compile_program(text, session=spark), runner="inline") as pipeline:
        pipeline.insert("t", [{"a": a, "b": -a} for a in range(6)])
        pipeline.step()
        assert [row["a"] for row in pipeline["v"].rows()] == [3, 5]
