"""Datasets as Spark has validated them, sinks, and the tables of others."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError

pytestmark = pytest.mark.spark


def test_a_table_of_others_is_read_as_its_flows_do(project):
    project.sql("CREATE TABLE t (a INT) USING parquet", "CREATE TABLE s (a INT) USING parquet")
    read = project.plan(
        "CREATE STREAMING TABLE st AS SELECT a FROM STREAM s; CREATE MATERIALIZED VIEW m AS SELECT * FROM t;"
    ).project
    assert {t.name.split("`")[-2]: (t.streamed, t.ddl) for t in read.tables} == {
        "s": (True, "a INT"),
        "t": (False, "a INT"),
    }


def test_what_a_dataset_is_declared_with(project):
    (dataset,) = project.plan(
        "CREATE MATERIALIZED VIEW m PARTITIONED BY (a) COMMENT 'all' "
        "TBLPROPERTIES ('k' = 'v') AS SELECT 1 AS A, 2 AS b;"
    ).project.datasets
    assert ([*dataset.partitioned_by], dataset.comment) == (["A"], "all")
    assert dataset.properties == {"k": "v"}


def test_a_view_that_is_not_temporary_is_refused_with_what_to_write(project):
    with pytest.raises(ProgramError, match="not supported yet: CREATE VIEW; write CREATE TEMPORARY VIEW"):
        project.plan("CREATE MATERIALIZED VIEW m AS SELECT 1 AS a; CREATE VIEW v AS SELECT * FROM m;")


def test_flows_of_other_columns_into_a_sink_are_refused(project):
    project.sql("CREATE TABLE src (a INT, b INT) USING parquet")
    text = f"""from pyspark import pipelines as dp
dp.create_sink("out", "json", {{"path": "{project.folder}/o"}})
@dp.append_flow(target="out")
def one():
    return spark.readStream.table("src")
@dp.append_flow(target="out")
def two():
    return spark.readStream.table("src").select("a")
"""
    project.write(text, "definitions.py")
    with pytest.raises(ProgramError, match="flows into sink out with other columns"):
        project.plan("")
