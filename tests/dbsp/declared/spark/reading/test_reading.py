"""Projects are read as `spark-pipelines` reads them: the messages are Spark's own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.datasets import MATERIALIZED_VIEW, STREAMING_TABLE, TEMPORARY_VIEW

pytestmark = pytest.mark.spark


def test_datasets_come_after_what_they_read(project):
    project.sql("CREATE TABLE t (a INT) USING parquet", "CREATE TABLE s (a INT) USING parquet")
    read = project.plan(
        "CREATE MATERIALIZED VIEW last AS\n  SELECT count(*) AS n FROM v JOIN st ON v.a = st.a;\n"
        "CREATE TEMPORARY VIEW v AS SELECT * FROM first;\n"
        "CREATE MATERIALIZED VIEW first COMMENT 'AS' AS SELECT t.a FROM t;\n"
        "CREATE STREAMING TABLE st; CREATE FLOW cdc AS INSERT INTO st BY NAME SELECT a FROM STREAM s;"
    ).project
    names = [dataset.name.split("`")[-2] for dataset in read.datasets]
    assert names.index("first") < names.index("v") < names.index("last")
    assert names.index("st") < names.index("last")
    known = dict(zip(names, read.datasets, strict=True))
    assert [known[name].kind for name in ("last", "v", "st")] == [
        MATERIALIZED_VIEW,
        TEMPORARY_VIEW,
        STREAMING_TABLE,
    ]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "CREATE MATERIALIZED VIEW x AS SELECT * FROM y; CREATE MATERIALIZED VIEW y AS SELECT * FROM x;",
            "Circular dependencies are not supported in a pipeline",
        ),
        (
            "CREATE MATERIALIZED VIEW x AS SELECT 1 a; CREATE MATERIALIZED VIEW x AS SELECT 2 a;",
            r"\[PIPELINE_DUPLICATE_IDENTIFIERS.OUTPUT\]",
        ),
        (
            "CREATE MATERIALIZED VIEW x AS SELECT a FROM nowhere;",
            r"definitions.sql:1:1: spark_catalog.\w+.x: .*TABLE_OR_VIEW_NOT_FOUND.*nowhere",
        ),
        ("CREATE MATERIALIZED VIEW x AS SELECT nothing FROM t;", r"\[UNRESOLVED_COLUMN.*nothing"),
        ("CREATE TABLE x (a INT);", "^definitions/definitions.sql: .*Unsupported plan CreateTable parsed"),
        ("CREATE STREAMING TABLE x AS SELECT * FROM t;", "BATCH_RELATION_FOR_STREAMING_TABLE"),
        ("SELEC 1;", "^definitions/definitions.sql: .*PARSE_SYNTAX_ERROR"),
    ],
)
def test_what_is_wrong_is_said_in_sparks_words(project, sql, message):
    project.sql("CREATE TABLE t (a INT) USING parquet")
    with pytest.raises(ProgramError, match=f"(?s){message}"):
        project.plan(sql)


def test_a_thread_that_has_no_active_session_reads_one_dataset_by_another(project):
    """Spark analyses such a flow by the active session, which a thread of the JVM that is new hasn't got."""
    sql = "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a; CREATE MATERIALIZED VIEW n AS SELECT a FROM m;"
    with ThreadPoolExecutor(1) as threads:
        read = threads.submit(project.plan, sql).result().project
    assert [dataset.name.split("`")[-2] for dataset in read.datasets] == ["m", "n"]


def test_flows_are_analysed_by_the_session_that_is_given(project):
    project.spark.conf.set("spark.sql.groupByAliases", "false")
    with pytest.raises(ProgramError, match="UNRESOLVED_COLUMN"):
        project.plan("CREATE MATERIALIZED VIEW m AS SELECT a + 1 AS b FROM VALUES (1) AS t(a) GROUP BY b;")
