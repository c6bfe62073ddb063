"""Spark SQL over given tables, without a trace of it in the session."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.rows.incoming import arrow_schema
from dbsp.testing.programs import load
from dbsp.testing.spark.recomputed import Recomputed, SparkError

pytestmark = pytest.mark.spark

PROGRAM = """
CREATE TABLE edge (a BIGINT, b BIGINT, m INTERVAL YEAR TO MONTH);
CREATE LOCAL VIEW both (x) AS SELECT a FROM edge UNION SELECT b FROM edge;
CREATE VIEW nodes AS SELECT count(*) AS n, max(m) AS m FROM both, edge;
CREATE RECURSIVE VIEW reach (a BIGINT, b BIGINT) AS
SELECT a, b FROM edge UNION SELECT r.a, e.b FROM reach r JOIN edge e ON r.b = e.a;
CREATE VIEW ratio AS SELECT a DIV b AS r FROM edge;
"""


@pytest.fixture(scope="module")
def program(spark):
    return load(PROGRAM)


def rows(program, *edges: tuple[int, int]) -> dict[str, pa.RecordBatch]:
    columns = [pa.array([edge[i] for edge in edges], pa.int64()) for i in range(2)]
    schema = arrow_schema(program.tables["edge"])
    months = pa.array([14] * len(edges), pa.int64()).cast(schema.field("m").type)
    return {"edge": pa.RecordBatch.from_arrays([*columns, months], schema=schema)}


def test_every_view_is_computed(program, spark):
    oracle = Recomputed(program, spark)
    assert oracle.views == ["nodes", "reach", "ratio"]
    found = oracle.rows(rows(program, (1, 2), (2, 3)), oracle.views)
    assert found["nodes"].to_pylist() == [{"n": 6, "m": 14}]
    reached = [tuple(row.values()) for row in found["reach"].to_pylist()]
    assert sorted(reached) == [(1, 2), (1, 3), (2, 3)]
    empty = oracle.rows(rows(program), ["reach", "nodes"])
    assert (len(empty["reach"]), empty["nodes"].to_pylist()) == (0, [{"n": 0, "m": None}])


def test_a_view_whose_expressions_fail_has_no_rows(program, spark):
    oracle = Recomputed(program, spark)
    found = oracle.rows(rows(program, (1, 0)), ["nodes", "ratio"])
    assert found["nodes"].to_pylist() == [{"n": 2, "m": 14}]
    assert isinstance(found["ratio"], SparkError)
    assert "DIVIDE_BY_ZERO" in str(found["ratio"])


def test_the_session_stays_as_it_was(program, spark):
    before = spark.conf.get("spark.sql.adaptive.enabled"), spark.sql("SHOW TABLES").count()
    oracle = Recomputed(program, spark)
    oracle.rows(rows(program, (1, 2)), ["nodes"])
    assert (spark.conf.get("spark.sql.adaptive.enabled"), spark.sql("SHOW TABLES").count()) == before
