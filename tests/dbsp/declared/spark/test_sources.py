from __future__ import annotations

import pytest

from dbsp.circuits.errors import Error
from dbsp.declared.project.datasets import Table
from dbsp.declared.spark.sources import look

pytestmark = pytest.mark.spark


def rows(arrived):
    return sorted(map(tuple, arrived.rows().collect()), key=repr)


def test_new_files_are_read_alone(project):
    project.sql("CREATE TABLE t (a INT, d DATE) USING parquet PARTITIONED BY (d)")
    name = f"`spark_catalog`.`{project.database}`.`t`"
    empty = look(project.spark, Table(name, "", False), {})
    assert (empty.how, empty.rows) == ("unchanged", None)
    project.sql("INSERT INTO t VALUES (1, DATE'2024-01-01'), (2, NULL)")
    first = look(project.spark, Table(name, "", False), empty.files)
    assert (first.how, len(rows(first))) == ("appended", 2)
    project.sql("INSERT INTO t VALUES (3, DATE'2024-01-01')")
    second = look(project.spark, Table(name, "", False), first.files)
    assert second.how == "appended"
    assert [row[0] for row in rows(second)] == [3]
    assert look(project.spark, Table(name, "", False), second.files).how == "unchanged"
    project.sql("INSERT OVERWRITE t VALUES (4, NULL)")
    third = look(project.spark, Table(name, "", False), second.files)
    assert (third.how, rows(third)) == ("compared", [(4, None)])
    streamed = look(project.spark, Table(name, "", True), second.files)
    assert (streamed.how, rows(streamed)) == ("appended", [(4, None)])
    assert set(streamed.files) > set(second.files)


def test_files_of_other_formats_and_by_path(project):
    path = project.folder / "csv"
    project.sql(f"CREATE TABLE c (a INT, b STRING) USING csv OPTIONS (header 'true') LOCATION '{path}'")
    project.sql("INSERT INTO c VALUES (1, 'x y')")
    name = f"`spark_catalog`.`{project.database}`.`c`"
    first = look(project.spark, Table(name, "", False), {})
    assert rows(first) == [(1, "x y")]
    project.sql("INSERT INTO c VALUES (2, NULL)")
    assert rows(look(project.spark, Table(name, "", False), first.files)) == [(2, None)]
    by_path = look(project.spark, Table(f"`csv`.`{path}`", "", False), {})
    assert (by_path.how, len(rows(by_path))) == ("appended", 4)  # with the heads


def test_what_isnt_of_files_is_compared(project):
    project.sql("CREATE VIEW v AS SELECT 1 AS a")
    name = f"`spark_catalog`.`{project.database}`.`v`"
    arrived = look(project.spark, Table(name, "", False), {})
    assert (arrived.how, arrived.files, rows(arrived)) == ("compared", None, [(1,)])
    with pytest.raises(Error, match=r"STREAM of spark_catalog\.\w+\.v, which isn't a table of files"):
        look(project.spark, Table(name, "", True), {})


def test_a_view_over_files_is_its_rows(project):
    project.sql(
        "CREATE TABLE t (a INT) USING parquet",
        "INSERT INTO t VALUES (1), (2), (3)",
        "CREATE VIEW v AS SELECT a + 1 AS a FROM t WHERE a > 1",
    )
    arrived = look(project.spark, Table(f"`spark_catalog`.`{project.database}`.`v`", "", False), {})
    assert (arrived.how, arrived.files, rows(arrived)) == ("compared", None, [(3,), (4,)])


def test_rows_that_were_of_no_files_are_compared_with_files(project):
    project.sql("CREATE TABLE t (a INT) USING parquet", "INSERT INTO t VALUES (1)")
    arrived = look(project.spark, Table(f"`spark_catalog`.`{project.database}`.`t`", "", False), None)
    assert (arrived.how, rows(arrived)) == ("compared", [(1,)])
    assert arrived.files
    with pytest.raises(Error, match=r"whose rows so far are of no files; --full-refresh-all"):
        look(project.spark, Table(f"`spark_catalog`.`{project.database}`.`t`", "", True), None)
