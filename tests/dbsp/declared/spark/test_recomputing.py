from __future__ import annotations

import pytest

from dbsp.circuits.errors import Error
from dbsp.declared.spark.recomputing import recompute, rows_of

pytestmark = pytest.mark.spark


def test_a_query_reads_temporary_views_and_the_catalogue(project):
    project.sql(
        "CREATE TABLE t (a INT, p INT) USING parquet PARTITIONED BY (p)",
        "INSERT INTO t VALUES (1, 7), (2, 8)",
    )
    sql = (
        "CREATE TEMPORARY VIEW v AS SELECT a + 1 AS b, p FROM t;"
        "CREATE MATERIALIZED VIEW m PARTITIONED BY (p) AS SELECT p, b FROM v WHERE b < 3;"
    )
    read = project.plan(sql).project
    view, table = read.datasets
    assert sorted(map(tuple, rows_of(project.spark, read, view).collect())) == [(2, 7), (3, 8)]
    project.sql(
        "CREATE TABLE m (b INT, p INT) USING parquet PARTITIONED BY (p)", "INSERT INTO m VALUES (0, 0)"
    )
    assert recompute(project.spark, read, table) == 1
    assert project.rows("m") == [(2, 7)]


def test_what_fails_is_said_of_its_place(project):
    project.sql("CREATE TABLE t (a INT) USING parquet", "INSERT INTO t VALUES (0)")
    read = project.plan("CREATE MATERIALIZED VIEW m AS SELECT 1 / a AS x FROM t;").project
    project.sql("CREATE TABLE m (x DOUBLE) USING parquet")
    with pytest.raises(Error, match=r"definitions.sql:1:1: spark_catalog\.\w+\.m: .*DIVIDE_BY_ZERO"):
        recompute(project.spark, read, read.datasets[0])
