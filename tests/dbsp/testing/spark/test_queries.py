"""Queries in Spark's spelling, and why a view has none."""

from __future__ import annotations

import pytest

from dbsp.testing.programs import load
from dbsp.testing.spark.queries import SparkQuery, queries_of

pytestmark = pytest.mark.spark

TABLE = "CREATE TABLE t (k BIGINT, s STRING, at TIMESTAMP); "


def test_a_query_is_the_user_s_in_sparks_spelling(spark):
    queries = queries_of(
        load(
            TABLE + "CREATE FUNCTION twice(x BIGINT) RETURNS BIGINT RETURN 2 * x;"
            "CREATE VIEW v (a) AS SELECT twice(k) FROM t;"
            "CREATE VIEW w AS SELECT k::TEXT AS s, TUMBLE_START(at, INTERVAL '1' HOUR) AS h FROM t;"
            "CREATE RECURSIVE VIEW r (k BIGINT) AS SELECT k FROM t UNION SELECT k FROM r;"
            "CREATE VIEW e (CONSTRAINT c EXPECT (k > 1) ON VIOLATION DROP ROW) AS SELECT k FROM t;"
        ),
        spark,
    )
    twice = "CREATE TEMPORARY FUNCTION `twice`(x BIGINT) RETURNS BIGINT RETURN 2 * x"
    assert queries.functions == ((0, twice),)
    v, w, r, e = queries.views
    assert v == SparkQuery("v", "SELECT twice(k) FROM t", ("a",))
    assert "k::STRING" in w.text and "window(at" in w.text
    assert r.schema == "`k` BIGINT"
    assert e.text.startswith("SELECT * FROM (SELECT k FROM t")
    assert queries.left_out == {}


@pytest.mark.parametrize(
    ("program", "view", "reason"),
    [
        ("CREATE VIEW v AS SELECT k FROM t TRIGGER COUNTING 2;", "v", "its changes wait"),
        ("CREATE VIEW v AS SELECT k, last(s) AS l FROM t GROUP BY k;", "v", "its first or last row"),
        (
            "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$ return x $$;"
            "CREATE VIEW v AS SELECT f(k) AS k FROM t; CREATE VIEW w AS SELECT k FROM v;",
            "w",
            "it reads v, which isn't compared",
        ),
        (
            "CREATE STREAM s (k BIGINT, n BIGINT);"
            "CREATE VIEW v AS SELECT STREAM s.n, t.s FROM s JOIN t ON s.k = t.k;",
            "v",
            "its rows are joined with a table as it is when they arrive",
        ),
        (
            "CREATE TABLE w (k BIGINT, at TIMESTAMP WATERMARK INTERVAL '1' HOUR);"
            "CREATE VIEW v AS SELECT t.k FROM t JOIN w USING (k);",
            "v",
            "rows of its tables wait",
        ),
        ("CREATE TABLE a.b (k BIGINT); CREATE VIEW v AS TABLE a.b;", "v", "its program names schemas"),
        (
            "CREATE TABLE l (k BIGINT LATENESS 1); CREATE VIEW v AS SELECT relation FROM late_rows;",
            "v",
            "it reads late_rows",
        ),
    ],
)  # fmt: skip
def test_why_a_view_is_left_out(program, view, reason, spark):
    queries = queries_of(load(TABLE + program), spark)
    assert queries.left_out[view].startswith(reason)
    assert view not in [query.name for query in queries.views]
