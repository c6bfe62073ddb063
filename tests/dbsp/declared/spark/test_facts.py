"""Of which tables a directory says all."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbsp.declared.project.datasets import Table
from dbsp.declared.spark.facts import is_usual, metastore_of, place_of
from dbsp.sql.text.tokens import quoted

pytestmark = pytest.mark.spark

UNKNOWN = {
    "as_csv": "CREATE TABLE as_csv (a INT) USING csv",
    "by_day": "CREATE TABLE by_day (a INT, day DATE) USING parquet PARTITIONED BY (day)",
    "of_chars": "CREATE TABLE of_chars (a CHAR(5)) USING parquet",
    "options": "CREATE TABLE options (a INT) USING parquet OPTIONS (mergeSchema 'true')",
    "empty": "CREATE TABLE empty (a INT) USING parquet",
    "a_view": "CREATE VIEW a_view AS SELECT 1 AS a",
}
ROWS = {"by_day": "(1, DATE'2024-01-01')", "of_chars": "('x')"}


def named(parts):
    return Table(quoted(parts), "", False)


def test_a_directory_of_parquet_files_is_known(project, tmp_path):
    project.sql("CREATE TABLE t (a INT) USING parquet", "INSERT INTO t VALUES (1)")
    found = place_of(project.spark, named(["spark_catalog", project.database, "t"]))
    assert (found.root, found.catalogued, len(found.files)) == (tmp_path / "warehouse" / "t", True, 1)
    by_path = place_of(project.spark, named(["parquet", str(found.root)]))
    assert (by_path.root, by_path.catalogued) == (found.root, False)
    assert by_path.files == found.files
    assert place_of(project.spark, named(["parquet", str(found.root.parent / "[st]")])) is None


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_only_spark_can_say(project, name):
    project.sql(UNKNOWN[name])
    if name not in ("empty", "a_view"):
        project.sql(f"INSERT INTO {name} VALUES {ROWS.get(name, '(1)')}")
    assert place_of(project.spark, named(["spark_catalog", project.database, name])) is None


def test_settings_by_which_files_mean_something_else(project):
    assert is_usual(project.spark)
    for name in ("ice", "ice.type", "other"):
        project.spark.conf.set(f"spark.sql.catalog.{name}", "org.apache.iceberg.spark.SparkCatalog")
    assert is_usual(project.spark)  # tables of such a catalogue are read by their logs
    project.spark.conf.set("spark.sql.catalog.other", "another.Catalog")
    assert not is_usual(project.spark)
    project.spark.conf.unset("spark.sql.catalog.other")
    project.spark.conf.set("spark.sql.parquet.mergeSchema", "true")
    assert not is_usual(project.spark)


def test_a_catalogue_in_memory_has_no_directory(project):
    found = metastore_of(project.spark)
    assert found is None or isinstance(found, Path)
