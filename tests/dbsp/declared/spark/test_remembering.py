"""What a later run can know without Spark, and what it can't."""

from __future__ import annotations

import pytest

from dbsp.declared.spark.remembering import remembered

pytestmark = pytest.mark.spark


def of(project, sql, **asked):
    project.run(sql, **asked)
    planned = project.plan(sql)
    return remembered(project.spark, planned.project, planned.compiled)


def test_a_project_over_files(project, tmp_path):
    project.spark.range(3).write.parquet(str(tmp_path / "files"))
    found = of(project, f"CREATE MATERIALIZED VIEW m AS SELECT id FROM parquet.`{tmp_path}/files`")
    (source,) = found.sources.values()
    assert source.inferred is not None
    assert list(found.places.values()) == [tmp_path / "warehouse" / "m"]
    assert dict(found.project.definitions) == {}


def test_a_catalogue_that_ends_with_its_process_isnt_remembered(project):
    project.sql("CREATE TABLE t (a INT) USING parquet", "INSERT INTO t VALUES (1)")
    assert of(project, "CREATE MATERIALIZED VIEW m AS SELECT a FROM t") is None


def test_what_is_recomputed_isnt(project, tmp_path):
    project.spark.range(3).write.parquet(str(tmp_path / "files"))
    sql = f"CREATE MATERIALIZED VIEW m AS SELECT id FROM parquet.`{tmp_path}/files`;"
    random = "CREATE MATERIALIZED VIEW r AS SELECT rand() AS x FROM m;"
    assert of(project, sql + random, fallback=True) is None


def test_a_table_that_no_run_has_made_isnt_made_for_it(project, tmp_path):
    project.spark.range(3).write.parquet(str(tmp_path / "files"))
    sql = f"CREATE MATERIALIZED VIEW m AS SELECT id FROM parquet.`{tmp_path}/files`;"
    assert of(project, sql + sql.replace("VIEW m", "VIEW n"), refresh=["m"]) is None
    assert not project.spark.catalog.tableExists("n")
