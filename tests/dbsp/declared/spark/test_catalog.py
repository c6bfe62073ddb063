from __future__ import annotations

import shutil

import pytest

from dbsp.circuits.errors import ProgramError

pytestmark = pytest.mark.spark


def test_a_table_has_what_its_definition_says(project):
    project.sql("CREATE TABLE t (a INT, b STRING) USING parquet", "INSERT INTO t VALUES (1, 'x')")
    sql = (
        "CREATE MATERIALIZED VIEW m PARTITIONED BY (a) COMMENT 'it''s' TBLPROPERTIES ('q' = 'gold') AS "
        "SELECT a, b FROM t; CREATE MATERIALIZED VIEW c CLUSTER BY (b) AS SELECT b FROM t;"
    )
    project.run(sql)
    made = project.spark.sql("SHOW CREATE TABLE m").collect()[0][0]
    assert "PARTITIONED BY (a)" in made
    assert "COMMENT 'it\\'s'" in made
    assert "'q' = 'gold'" in made
    clustered = project.spark.sql("SHOW TBLPROPERTIES c").collect()
    assert ("clusteringColumns", '[["b"]]') in [tuple(row) for row in clustered]
    assert [tuple(row) for row in project.spark.sql("SHOW PARTITIONS m").collect()] == [("a=1",)]


def test_a_catalogue_that_has_forgotten_a_table_gets_it_back(project):
    project.sql("CREATE TABLE t (a INT) USING parquet", "INSERT INTO t VALUES (1)")
    sql = "CREATE MATERIALIZED VIEW m AS SELECT a FROM t;"
    project.run(sql)
    place = project.folder / "warehouse" / "m"
    shutil.copytree(place, project.folder / "kept")
    project.sql("DROP TABLE m")
    shutil.copytree(project.folder / "kept", place)
    project.sql("INSERT INTO t VALUES (2)")
    (done,) = project.run(sql).values()
    assert (done.how, done.written.inserted) == ("incremental", 1)
    assert project.rows("m") == [(1,), (2,)]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "CREATE MATERIALIZED VIEW m USING orc AS SELECT 1 AS a",
            "m in the format 'orc'; what is written is parquet",
        ),
        (
            "CREATE MATERIALIZED VIEW m PARTITIONED BY (a) AS SELECT 1.5D AS a, 1 AS b",
            "m is PARTITIONED BY a, a DOUBLE",
        ),
    ],
)
def test_what_isnt_written_is_refused(project, sql, message):
    with pytest.raises(ProgramError, match=message):
        project.run(sql)
