from __future__ import annotations

import pytest

from dbsp.circuits.errors import Error, ProgramError
from dbsp.declared.asked import Asked
from dbsp.declared.opening import check_kept

pytestmark = pytest.mark.spark


def test_nothing_is_written_where_something_is_refused(project):
    project.sql("CREATE TABLE t (a INT) USING parquet")
    sql = (
        "CREATE MATERIALIZED VIEW good AS SELECT a FROM t;"
        "CREATE MATERIALIZED VIEW bad AS SELECT a, rand() AS x FROM t;"
    )
    with pytest.raises(
        ProgramError,
        match=r"rand\(\) .*--fallback full, or .* = auto, recomputes spark_catalog.*bad at every run",
    ):
        project.run(sql)
    assert not project.spark.catalog.tableExists("good")
    assert not (project.folder / "storage").exists()


def test_streaming_tables_arent_recomputed(project):
    project.sql("CREATE TABLE t (a INT) USING parquet", "CREATE TABLE u (a INT) USING parquet")
    planned = project.plan(
        "CREATE MATERIALIZED VIEW m AS SELECT a FROM t;"
        "CREATE STREAMING TABLE s AS SELECT rand() AS x FROM STREAM(u);"
    )
    with pytest.raises(ProgramError, match=r"streaming table .* can't be kept"):
        check_kept(planned, Asked(fallback=True))


def test_other_meanings_are_refused(project):
    project.spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(
            Error, match=r"spark-pipeline.yml: not supported yet: spark.sql.caseSensitive = true"
        ):
            project.plan("CREATE MATERIALIZED VIEW m AS SELECT 1 AS a")
    finally:
        project.spark.conf.unset("spark.sql.caseSensitive")
