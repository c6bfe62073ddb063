"""A project that is remembered is refreshed without Spark, and its tables are what Spark computes."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbsp.declared.asked import Asked
from dbsp.declared.opening import plan_project
from dbsp.declared.refresh import FULL, INCREMENTAL, UNCHANGED
from dbsp.declared.reopening import pipeline_of, reopened
from dbsp.declared.spark.asking import Asking
from dbsp.declared.spark.remembering import remembered
from tests.dbsp.declared.build import by_name

pytestmark = pytest.mark.spark

PROJECT = """
CREATE MATERIALIZED VIEW bronze AS SELECT * FROM parquet.`{0}/sale`;
CREATE MATERIALIZED VIEW by_shop PARTITIONED BY (country) AS
SELECT shop, count(*) AS n, sum(amount) AS total, country
FROM bronze LEFT JOIN parquet.`{0}/shops` USING (shop) GROUP BY shop, country;
CREATE MATERIALIZED VIEW best AS SELECT shop FROM by_shop WHERE total = (SELECT max(total) FROM by_shop);
"""
QUERIES = {
    "bronze": "SELECT * FROM read",
    "by_shop": "SELECT shop, count(*) AS n, sum(amount) AS total, country "
    "FROM read LEFT JOIN parquet.`{0}/shops` USING (shop) GROUP BY shop, country",
    "best": "SELECT shop FROM by_shop WHERE total = (SELECT max(total) FROM by_shop)",
}


def write(folder, name, rows):
    folder.mkdir(exist_ok=True)
    kinds = {"shop": pa.string(), "amount": pa.int64(), "country": pa.string()}
    schema = pa.schema([(key, kinds[key]) for key in rows[0]])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / f"{name}.parquet")


def no_spark():
    raise AssertionError("Spark is asked")


def refreshed(project, spec, known, session=no_spark):
    with reopened(spec.storage, Asked(), known, session, lambda line: None) as refresh:
        return None if refresh is None else by_name(refresh.run(Asked()))


def test_tables_are_what_spark_computes(project, tmp_path):
    random_ = random.Random(5)
    sale, shops = tmp_path / "sale", tmp_path / "shops"
    write(sale, "part-000", [{"shop": "a", "amount": 1}])
    write(shops, "part-0", [{"shop": "a", "country": "UK"}])
    sql = PROJECT.format(tmp_path)
    spec = project.write(sql)
    project.run(sql)
    planned = plan_project(project.spark, spec)
    known = remembered(project.spark, planned.project, planned.compiled)
    rows = [{"shop": "a", "amount": 1}]
    for number in range(1, 7):
        added = [
            {"shop": random_.choice(["a", "b", None]), "amount": random_.choice([None, 1, 5, -9])}
            for _ in range(random_.randrange(1, 4))
        ]
        rows += added
        write(sale, f"part-{number:03}", added)
        kind = random_.choice(["none", "edited", "added", "gone"])
        if kind in ("edited", "added"):
            # the first file is the one that Spark finds the columns in: it stays
            name = "part-1" if kind == "edited" else f"part-{number + 1}"
            write(shops, name, [{"shop": random_.choice("ab"), "country": random_.choice(["UK", "FR"])}])
        elif kind == "gone":
            (shops / "part-1.parquet").unlink(missing_ok=True)
        done = refreshed(project, spec, known, lambda: Asking(project.spark))
        assert done["bronze"].written.inserted == len(added)
        read = [(row["shop"], row["amount"]) for row in rows]
        project.spark.createDataFrame(read, "shop STRING, amount BIGINT").createOrReplaceTempView("read")
        for table, query in QUERIES.items():
            project.spark.catalog.refreshTable(table)
            expected = sorted(
                (tuple(row) for row in project.spark.sql(query.format(tmp_path)).collect()), key=repr
            )
            assert project.rows(table) == expected, (table, kind)
    assert {one.how for one in refreshed(project, spec, known).values()} == {UNCHANGED}


def test_what_only_spark_knows_is_left_to_it(project, tmp_path):
    write(tmp_path / "sale", "part-1", [{"shop": "a", "amount": 1}])
    sql = "CREATE MATERIALIZED VIEW m AS SELECT shop, sum(amount) AS s FROM parquet.`{0}/sale` GROUP BY shop"
    spec = project.write(sql.format(tmp_path))
    planned = plan_project(project.spark, spec)
    assert remembered(project.spark, planned.project, planned.compiled) is None  # nothing has run yet
    project.run(sql.format(tmp_path))
    known = remembered(project.spark, planned.project, planned.compiled)
    write(tmp_path / "sale", "part-2", [{"amount": 5, "shop": "b"}])
    assert refreshed(project, spec, known)["m"].how == INCREMENTAL
    other = pa.table({"shop": ["c"], "amount": pa.array([7], pa.int32())})
    pq.write_table(other, tmp_path / "sale" / "part-3.parquet")
    assert refreshed(project, spec, known) is None
    (tmp_path / "sale" / "part-3.parquet").unlink()
    write(tmp_path / "sale", "part-0", [{"shop": "d", "amount": 1}])
    assert refreshed(project, spec, known) is None
    assert project.run(sql.format(tmp_path))["m"].written.inserted == 1


def test_a_run_from_scratch_and_one_without_a_state_are_sparks(project, tmp_path):
    write(tmp_path / "sale", "part-1", [{"shop": "a", "amount": 1}])
    sql = f"CREATE MATERIALIZED VIEW m AS SELECT shop FROM parquet.`{tmp_path}/sale`"
    project.run(sql)
    spec, planned = project.write(sql), project.plan(sql)
    known = remembered(project.spark, planned.project, planned.compiled)
    for asked, is_known in ((Asked(), True), (Asked(full_refresh_all=True), False)):
        with reopened(spec.storage, asked, known, no_spark, print) as refresh:
            assert (refresh is not None) == is_known
    shutil.rmtree(Path(tmp_path, "storage", "dbsp", "state"))
    with reopened(spec.storage, Asked(), known, no_spark, print) as refresh:
        assert refresh is None


def test_one_table_is_written_anew_without_spark(project, tmp_path):
    write(tmp_path / "sale", "part-1", [{"shop": "a", "amount": 1}])
    sql = f"CREATE MATERIALIZED VIEW m AS SELECT shop FROM parquet.`{tmp_path}/sale`"
    project.run(sql)
    spec = project.write(sql)
    planned = plan_project(project.spark, spec)
    known = remembered(project.spark, planned.project, planned.compiled)
    anew = Asked(full_refresh=["m"])
    with reopened(spec.storage, anew, known, no_spark, print) as refresh:
        assert by_name(refresh.run(anew))["m"].how == FULL
    assert project.rows("m") == [("a",)]


def test_the_state_goes_on_in_this_process(project, tmp_path):
    write(tmp_path / "sale", "part-1", [{"shop": "a", "amount": 1}])
    sql = f"CREATE MATERIALIZED VIEW m AS SELECT shop FROM parquet.`{tmp_path}/sale`"
    project.run(sql)
    compiled = project.plan(sql).compiled
    state = tmp_path / "storage" / "dbsp" / "state"
    with pipeline_of(compiled, state, lambda line: None) as pipeline:
        assert (pipeline.spark, pipeline.last_step) == (None, 1)
        (view,) = compiled.program.views
        assert pipeline[view].rows() == [{"shop": "a"}]


HIVE = ("--conf", "spark.sql.catalogImplementation=hive")
CATALOGUE = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false") \\
    .config("spark.sql.catalogImplementation", "hive").getOrCreate()
for statement in sys.argv[1:]:
    spark.sql(statement)
"""


@pytest.mark.slow
def test_a_catalogue_that_somebody_else_has_changed_is_asked_again(tmp_path, monkeypatch):
    """With processes of their own, and a metastore on disk."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")  # each ends after seconds
    write(tmp_path / "sale", "part-1", [{"shop": "a", "amount": 1}])
    (tmp_path / "spark-pipeline.yml").write_text(
        f"name: known\nstorage: file://{tmp_path}/storage\nlibraries:\n  - glob:\n      include: d/**\n"
    )
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "m.sql").write_text(
        "CREATE MATERIALIZED VIEW m AS SELECT * FROM sale;"
        "CREATE STREAMING TABLE s AS SELECT * FROM STREAM fed;"
    )

    def ask(*statements):
        command = [sys.executable, "-c", CATALOGUE, *statements]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    def run():
        command = [str(Path(sys.executable).with_name("dbsp")), "pipeline", "run", *HIVE]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr + ran.stdout
        return "Creating Spark session" in ran.stdout, rows_of("m"), rows_of("s")

    def rows_of(table):
        files = (tmp_path / "spark-warehouse" / table).glob("*.parquet")
        return sorted(tuple(row.values()) for file in files for row in pq.read_table(file).to_pylist())

    listed = "shop STRING, amount BIGINT"
    write(tmp_path / "fed", "part-1", [{"shop": "a", "amount": 3}])
    table = "CREATE TABLE {0} ({1}) USING parquet LOCATION '{2}/{0}'"
    ask(*(table.format(name, listed, tmp_path) for name in ("sale", "fed")))
    assert run() == (True, [("a", 1)], [("a", 3)])
    write(tmp_path / "sale", "part-2", [{"shop": "b", "amount": 2}])
    (tmp_path / "fed" / "part-1.parquet").unlink()
    write(tmp_path / "fed", "part-2", [{"shop": "b", "amount": 4}])
    assert run() == (False, [("a", 1), ("b", 2)], [("a", 3), ("b", 4)])
    write(tmp_path / "other", "part-1", [{"shop": "z", "amount": 9}])
    ask(f"ALTER TABLE sale SET LOCATION '{tmp_path}/other'")
    assert run() == (True, [("z", 9)], [("a", 3), ("b", 4)])
    assert run()[0] is False
